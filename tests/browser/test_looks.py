"""The page in the dark, on a phone, from right to left, at rest, and to a checker of access."""

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow

LIGHT, DARK = "rgba(251, 250, 247, 1)", "rgba(20, 22, 26, 1)"
ARABIC = "قالت الشرطة في مدينة القاهرة يوم الاثنين إن 12 شخصا عبروا الجسر القديم بعد العاصفة."


def turns(reader, colour: str) -> bool:
    """Wait until the paper has a colour."""
    return reader.waits_for(lambda: reader.style("body", "background-color") == colour)


def test_the_page_follows_the_system_into_the_dark(reader):
    assert turns(reader, LIGHT)
    reader.prefers(color_scheme="dark")
    assert turns(reader, DARK)


def test_a_chosen_theme_is_remembered(reader):
    reader.one("#theme").click()
    assert turns(reader, DARK)
    assert reader.one("#theme").get_attribute("aria-pressed") == "true"
    reader.reloads()
    assert turns(reader, DARK)
    assert reader.one("#theme").get_attribute("aria-pressed") == "true"
    reader.prefers(color_scheme="dark")
    reader.one("#theme").click()
    assert turns(reader, LIGHT)


def test_a_theme_that_is_the_systems_again_follows_the_system(reader):
    reader.one("#theme").click()
    reader.one("#theme").click()
    assert turns(reader, LIGHT)
    reader.prefers(color_scheme="dark")
    assert turns(reader, DARK)


@pytest.mark.parametrize("width", [320, 360])
def test_a_phone_scrolls_down_only(reader, ferry, width):
    reader.has_a_screen(width, 740)
    assert not reader.must_scroll_sideways()
    reader.reads(f"{ferry} {'Long' * 100} http://an.example/{'path/' * 40}")
    reader.script("document.querySelector('details').open = true")
    reader.waits_for(lambda: reader.all("td"))
    assert not reader.must_scroll_sideways()


def test_on_a_phone_the_headline_comes_before_the_settings(reader, ferry):
    reader.has_a_screen(360, 740)
    reader.reads(ferry)
    assert reader.one("#result").location["y"] < reader.one("#settings").location["y"]


def test_text_from_right_to_left_is_shown_so(reader):
    reader.reads(ARABIC)
    for place in ("#text", "#headline", "#reading", "#alternatives li span"):
        assert reader.style(place, "direction") == "rtl", place
    assert reader.style("h1", "direction") == "ltr"
    words = reader.all("#headline button")
    assert words[0].location["x"] > words[1].location["x"]
    reader.script("arguments[0].focus()", words[0])
    reader.presses(Keys.ARROW_LEFT)
    assert reader.browser.switch_to.active_element == words[1]


def test_nothing_moves_for_those_who_want_it_still(reader):
    assert reader.style(".progress", "animation-name") == "pass"
    reader.prefers(reduced_motion="reduce")
    assert reader.waits_for(lambda: reader.style(".progress", "animation-name") == "none")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_checker_of_access_finds_nothing_serious(reader, ferry, theme):
    reader.prefers(color_scheme=theme)
    assert reader.violations() == []
    reader.reads(ferry)
    reader.one("summary").click()
    reader.waits_for(lambda: reader.all("td"))
    assert reader.violations() == []
    reader.one("#headline .copied").click()
    assert reader.violations() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_checker_of_access_finds_nothing_serious_in_trouble(reader, ferry, theme):
    reader.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    reader.prefers(color_scheme=theme)
    reader.reads(ferry)
    reader.loses_the_server()
    reader.types("More.")
    reader.waits_for(lambda: reader.sees("#trouble"))
    assert reader.violations() == []


def test_a_checker_of_access_finds_nothing_serious_on_a_phone(reader, ferry):
    reader.has_a_screen(360, 740)
    reader.reads(ferry)
    assert reader.violations() == []


def test_every_control_has_a_name(reader, ferry):
    reader.reads(ferry)
    controls = reader.all(
        ":is(button, select, textarea, input, summary, a):not([hidden] *, [hidden])"
    )
    assert [each.get_attribute("outerHTML") for each in controls if not each.accessible_name] == []


def test_a_new_headline_is_said_aloud(reader, ferry):
    headline = reader.reads(ferry)
    news = reader.one("#news")
    assert news.get_attribute("role") == "status"
    assert news.get_property("textContent").startswith(f"Headline: {headline}.")
