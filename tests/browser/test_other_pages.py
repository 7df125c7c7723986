"""The pages beside the page: the API described, and an explanation written to a file."""

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("theme", ["light", "dark"])]


def assert_usable(person) -> None:
    assert person.violations() == []
    person.has_a_screen(360, 740)
    assert not person.must_scroll_sideways()


def test_the_api_is_described_for_everybody(person, server, theme):
    person.prefers(color_scheme=theme)
    person.opens(server)
    person.one("nav a").click()
    person.waits_for(lambda: person.all("h1") and "API" in person.text("h1"))
    assert_usable(person)


def test_an_explanation_is_for_everybody(person, explanation, theme):
    person.prefers(color_scheme=theme)
    person.reads_page(explanation)
    assert person.all("h1 button")
    assert_usable(person)
