"""Accessibility of explanation pages."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("theme", ["light", "dark"])]


def assert_usable(page) -> None:
    assert page.accessibility_violations() == []
    page.set_screen(360, 740)
    assert not page.overflows_horizontally()


def test_explanation_is_accessible(page, explanation, theme):
    page.set_preferences(color_scheme=theme)
    page.open_url(explanation)
    assert page.find_all("#headline button")
    assert_usable(page)
