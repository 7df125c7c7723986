"""Explanation of a headline: hover, keys and the attention table."""

import re

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow


def framed(home_page) -> list[str]:
    """Return the source words that are marked as copied."""
    return [each.text for each in home_page.find_all("#reading .taken")]


def focused(home_page) -> str:
    return home_page.browser.switch_to.active_element.text


def test_hover_over_copied_word_marks_source(home_page, ferry):
    home_page.summarize(ferry)
    assert framed(home_page) == []
    for word in home_page.find_all("#headline .copied"):
        home_page.hover(word)
        assert [each.lower() for each in framed(home_page)] == [word.text.lower()]
        assert "copied from the text; most attention to" in home_page.text("#description")
    home_page.hover(home_page.find("h1"))
    assert framed(home_page) == []
    assert home_page.text("#description").startswith("Point at a word")


def test_hover_over_source_word_marks_copies(home_page, ferry):
    home_page.summarize(ferry)
    used = home_page.find("#reading .used")
    home_page.hover(used)
    assert [each.text.lower() for each in home_page.find_all("#headline .chosen")] == [
        used.text.lower()
    ]


def test_arrow_keys_move_through_headline(home_page, ferry):
    home_page.summarize(ferry)
    words = [each.text for each in home_page.find_all("#headline button")]
    assert len(words) > 2
    home_page.script("document.querySelector('#headline button').focus()")
    assert focused(home_page) == words[0]
    home_page.press(Keys.ARROW_RIGHT)
    assert focused(home_page) == words[1]
    assert words[1] in home_page.text("#description")
    home_page.press(Keys.END)
    assert focused(home_page) == words[-1]
    home_page.press(Keys.ARROW_RIGHT)
    assert focused(home_page) == words[-1]
    home_page.press(Keys.HOME)
    assert focused(home_page) == words[0]


def test_focused_copied_word_marks_source(home_page, ferry):
    home_page.summarize(ferry)
    copied = home_page.find("#headline .copied")
    home_page.script("arguments[0].focus()", copied)
    assert [each.lower() for each in framed(home_page)] == [copied.text.lower()]
    home_page.press(Keys.TAB)
    assert framed(home_page) == []


def test_headline_is_one_tab_stop(home_page, ferry):
    home_page.summarize(ferry)
    home_page.script("document.querySelector('#headline button').focus()")
    home_page.press(Keys.TAB)
    assert focused(home_page) == "Copy headline"


def test_clicked_word_stays_selected_until_escape(home_page, ferry):
    home_page.summarize(ferry)
    copied = home_page.find("#headline .copied")
    copied.click()
    home_page.hover(home_page.find("h1"))
    assert [each.lower() for each in framed(home_page)] == [copied.text.lower()]
    assert copied.get_attribute("aria-pressed") == "true"
    home_page.press(Keys.ESCAPE)
    assert framed(home_page) == []
    assert copied.get_attribute("aria-pressed") == "false"


def test_text_is_shaded_by_attention(home_page, ferry, server):
    home_page.summarize(ferry)
    source = server.summarize(ferry, explain=True)["explanation"]["source"]
    shades = home_page.script(
        "return [...document.querySelectorAll('#reading .word')]"
        ".map((word) => Number(word.style.getPropertyValue('--shade-share')))"
    )
    assert shades == [word["shade"] for word in source]
    darkest = home_page.find_all("#reading .word")[shades.index(max(shades))]
    lightest = home_page.find_all("#reading .word")[shades.index(min(shades))]
    assert darkest.value_of_css_property("background-color") != lightest.value_of_css_property(
        "background-color"
    )
    assert "attention of the whole headline" in home_page.text("#shaded-by")


def test_attention_table_has_all_words(home_page, ferry, server):
    home_page.summarize(ferry)
    home_page.find("summary").click()
    home_page.wait_for(lambda: home_page.find_all("td"))
    story = server.summarize(ferry, explain=True)["explanation"]
    columns = [each.text.split("\n")[0] for each in home_page.find_all("thead th[scope=col]")]
    assert columns == ["text", "importance", *(word["surface"] for word in story["words"])]
    rows = [each.text for each in home_page.find_all("tbody th[scope=row]")]
    assert rows == [word["surface"] for word in story["source"]]
    first = [each.text for each in home_page.find_all("tbody tr:first-child td")]
    assert first[0] == f"{story['source'][0]['importance']:.2f}"
    shares = [word["attention"][0] for word in story["words"]]
    shown = [cell.removeprefix("× ").replace("·", "0") for cell in first[1:]]
    assert [int(each) for each in shown] == [
        pytest.approx(100 * share, abs=0.51) for share in shares
    ]


def test_surrogate_pairs_keep_offsets(home_page):
    home_page.summarize(
        "🚲🚲 Cyclists 🎉 in the city of Öland 🚲 crossed the old bridge on Monday, officials said."
    )
    copied = home_page.find_all("#headline .copied")
    assert copied
    for word in copied:
        home_page.hover(word)
        assert [each.lower() for each in framed(home_page)] == [word.text.lower()]


def test_lone_surrogate_is_handled(home_page, ferry):
    home_page.script("document.getElementById('text').value = '\\ud83d ' + arguments[0]", ferry)
    home_page.type_text(".")
    home_page.wait_until_done()
    assert home_page.headline() != ""
    assert not home_page.is_visible("#error")


def test_unread_end_of_text_is_marked(home_page, ferry):
    home_page.summarize(f"{ferry} " * 8)
    note = r"The model read \d+% of the text, without the grey words\."
    assert re.fullmatch(note, home_page.text("#read"))
    assert home_page.text("#warnings").startswith("Only ")
    assert ferry[-20:] in home_page.text("#reading .unread")


def test_skipped_byline_is_marked(home_page, ferry):
    home_page.summarize(f"By Anna Berg\n\n{ferry}")
    assert home_page.text("#read") == "The model read the whole text, without the grey words."
    assert home_page.text("#reading .unread").strip() == "By Anna Berg"


def test_read_part_of_the_text_is_marked(home_page):
    home_page.summarize("Police in Ghent closed the old bridge.")
    assert home_page.text("#read") == "The model read the whole text."


def test_list_items_are_explained_by_position(home_page):
    home_page.summarize("Police closed the bridge\nThe ferry was late")
    positions = home_page.script(
        "return [...document.querySelectorAll('#reading .word')]"
        ".map((word) => word.dataset.position)"
    )
    assert positions == sorted(positions, key=int)
