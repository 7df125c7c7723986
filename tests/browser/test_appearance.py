"""Themes, phone layout, text direction, motion and accessibility."""

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow

LIGHT, DARK = "rgba(251, 250, 247, 1)", "rgba(20, 22, 26, 1)"
ARABIC = "قالت الشرطة في مدينة القاهرة يوم الاثنين إن 12 شخصا عبروا الجسر القديم بعد العاصفة."


def turns(home_page, colour: str) -> bool:
    """Wait until the background has a colour."""
    return home_page.wait_for(lambda: home_page.style("body", "background-color") == colour)


def test_theme_follows_system(home_page):
    assert turns(home_page, LIGHT)
    home_page.set_preferences(color_scheme="dark")
    assert turns(home_page, DARK)


def test_selected_theme_is_remembered(home_page):
    home_page.find("#theme").click()
    assert turns(home_page, DARK)
    assert home_page.find("#theme").get_attribute("aria-pressed") == "true"
    home_page.reload()
    assert turns(home_page, DARK)
    assert home_page.find("#theme").get_attribute("aria-pressed") == "true"
    home_page.set_preferences(color_scheme="dark")
    home_page.find("#theme").click()
    assert turns(home_page, LIGHT)


def test_theme_equal_to_system_follows_it_again(home_page):
    home_page.find("#theme").click()
    home_page.find("#theme").click()
    assert turns(home_page, LIGHT)
    home_page.set_preferences(color_scheme="dark")
    assert turns(home_page, DARK)


@pytest.mark.parametrize("width", [320, 360])
def test_phone_layout_has_no_horizontal_scroll(home_page, ferry, width):
    home_page.set_screen(width, 740)
    assert not home_page.overflows_horizontally()
    home_page.summarize(f"{ferry} {'Long' * 100} http://an.example/{'path/' * 40}")
    home_page.script("document.querySelector('details').open = true")
    home_page.wait_for(lambda: home_page.find_all("td"))
    assert not home_page.overflows_horizontally()


def test_phone_layout_shows_headline_first(home_page, ferry):
    home_page.set_screen(360, 740)
    home_page.summarize(ferry)
    assert home_page.find("#result").location["y"] < home_page.find("#settings").location["y"]


def test_right_to_left_text_is_shown_so(home_page):
    home_page.summarize(ARABIC)
    for place in ("#text", "#headline", "#reading", "#alternatives li span"):
        assert home_page.style(place, "direction") == "rtl", place
    assert home_page.style("h1", "direction") == "ltr"
    words = home_page.find_all("#headline button")
    assert words[0].location["x"] > words[1].location["x"]
    home_page.script("arguments[0].focus()", words[0])
    home_page.press(Keys.ARROW_LEFT)
    assert home_page.browser.switch_to.active_element == words[1]


def test_reduced_motion_disables_animation(home_page):
    assert home_page.style(".progress", "animation-name") == "pass"
    home_page.set_preferences(reduced_motion="reduce")
    assert home_page.wait_for(lambda: home_page.style(".progress", "animation-name") == "none")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_is_accessible(home_page, ferry, theme):
    home_page.set_preferences(color_scheme=theme)
    assert home_page.accessibility_violations() == []
    home_page.summarize(ferry)
    home_page.find("summary").click()
    home_page.wait_for(lambda: home_page.find_all("td"))
    assert home_page.accessibility_violations() == []
    home_page.find("#headline .copied").click()
    assert home_page.accessibility_violations() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_error_state_is_accessible(home_page, ferry, theme):
    home_page.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    home_page.set_preferences(color_scheme=theme)
    home_page.summarize(ferry)
    home_page.block_server()
    home_page.type_text("More.")
    home_page.wait_for(lambda: home_page.is_visible("#error"))
    assert home_page.accessibility_violations() == []


def test_phone_layout_is_accessible(home_page, ferry):
    home_page.set_screen(360, 740)
    home_page.summarize(ferry)
    assert home_page.accessibility_violations() == []


def test_controls_have_names(home_page, ferry):
    home_page.summarize(ferry)
    controls = home_page.find_all(
        ":is(button, select, textarea, input, summary, a):not([hidden] *, [hidden])"
    )
    assert [each.get_attribute("outerHTML") for each in controls if not each.accessible_name] == []


def test_new_headline_is_announced(home_page, ferry):
    headline = home_page.summarize(ferry)
    news = home_page.find("#status")
    assert news.get_attribute("role") == "status"
    assert news.get_property("textContent").startswith(f"Headline: {headline}.")
