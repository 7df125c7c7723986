"""A person sees where the words of a headline come from: by pointing, by keys, in a table."""

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow


def framed(reader) -> list[str]:
    """List the words of the text that are framed as the origin of a word."""
    return [each.text for each in reader.all("#reading .taken")]


def focused(reader) -> str:
    return reader.browser.switch_to.active_element.text


def test_pointing_at_a_copied_word_frames_where_it_was_taken_from(reader, ferry):
    reader.reads(ferry)
    assert framed(reader) == []
    for word in reader.all("#headline .copied"):
        reader.points_at(word)
        assert [each.lower() for each in framed(reader)] == [word.text.lower()]
        assert "copied from the text; looked most at" in reader.text("#said")
    reader.points_at(reader.one("h1"))
    assert framed(reader) == []
    assert reader.text("#said").startswith("Point at a word")


def test_pointing_at_a_word_of_the_text_marks_what_was_made_of_it(reader, ferry):
    reader.reads(ferry)
    used = reader.one("#reading .used")
    reader.points_at(used)
    assert [each.text.lower() for each in reader.all("#headline .chosen")] == [used.text.lower()]


def test_the_arrow_keys_walk_through_the_headline(reader, ferry):
    reader.reads(ferry)
    words = [each.text for each in reader.all("#headline button")]
    assert len(words) > 2
    reader.script("document.querySelector('#headline button').focus()")
    assert focused(reader) == words[0]
    reader.presses(Keys.ARROW_RIGHT)
    assert focused(reader) == words[1]
    assert words[1] in reader.text("#said")
    reader.presses(Keys.END)
    assert focused(reader) == words[-1]
    reader.presses(Keys.ARROW_RIGHT)
    assert focused(reader) == words[-1]
    reader.presses(Keys.HOME)
    assert focused(reader) == words[0]


def test_a_focused_copied_word_frames_where_it_was_taken_from(reader, ferry):
    reader.reads(ferry)
    copied = reader.one("#headline .copied")
    reader.script("arguments[0].focus()", copied)
    assert [each.lower() for each in framed(reader)] == [copied.text.lower()]
    reader.presses(Keys.TAB)
    assert framed(reader) == []


def test_the_headline_is_one_stop_of_the_tab_key(reader, ferry):
    reader.reads(ferry)
    reader.script("document.querySelector('#headline button').focus()")
    reader.presses(Keys.TAB)
    assert focused(reader) == "Copy headline"


def test_a_pressed_word_stays_shown_until_escape(reader, ferry):
    reader.reads(ferry)
    copied = reader.one("#headline .copied")
    copied.click()
    reader.points_at(reader.one("h1"))
    assert [each.lower() for each in framed(reader)] == [copied.text.lower()]
    assert copied.get_attribute("aria-pressed") == "true"
    reader.presses(Keys.ESCAPE)
    assert framed(reader) == []
    assert copied.get_attribute("aria-pressed") == "false"


def test_the_text_is_shaded_by_importance(reader, ferry, server):
    reader.reads(ferry)
    source = server.summarize(ferry, explain=True)["explanation"]["source"]
    shades = reader.script(
        "return [...document.querySelectorAll('#reading .word')]"
        ".map((word) => Number(word.style.getPropertyValue('--shade-share')))"
    )
    assert shades == [word["shade"] for word in source]
    darkest = reader.all("#reading .word")[shades.index(max(shades))]
    lightest = reader.all("#reading .word")[shades.index(min(shades))]
    assert darkest.value_of_css_property("background-color") != lightest.value_of_css_property(
        "background-color"
    )
    assert "how far the second reading moves" in reader.text("#shaded-by")


def test_the_table_has_a_row_for_each_word_read_and_a_column_for_each_word_written(
    reader, ferry, server
):
    reader.reads(ferry)
    reader.one("summary").click()
    reader.waits_for(lambda: reader.all("td"))
    story = server.summarize(ferry, explain=True)["explanation"]
    columns = [each.text.split("\n")[0] for each in reader.all("thead th[scope=col]")]
    assert columns == ["text", "importance", *(word["surface"] for word in story["words"])]
    rows = [each.text for each in reader.all("tbody th[scope=row]")]
    assert rows == [word["surface"] for word in story["source"]]
    first = [each.text for each in reader.all("tbody tr:first-child td")]
    assert first[0] == f"{story['source'][0]['importance']:.2f}"
    shares = [word["attention"][0] for word in story["words"]]
    shown = [cell.removeprefix("× ").replace("·", "0") for cell in first[1:]]
    assert [int(each) for each in shown] == [
        pytest.approx(100 * share, abs=0.51) for share in shares
    ]


def test_characters_of_two_halves_shift_nothing(reader):
    reader.reads(
        "🚲🚲 Cyclists 🎉 in the city of Öland 🚲 crossed the old bridge on Monday, officials said."
    )
    copied = reader.all("#headline .copied")
    assert copied
    for word in copied:
        reader.points_at(word)
        assert [each.lower() for each in framed(reader)] == [word.text.lower()]


def test_half_a_character_is_no_trouble(reader, ferry):
    reader.script("document.getElementById('text').value = '\\ud83d ' + arguments[0]", ferry)
    reader.types(".")
    reader.waits_until_done()
    assert reader.headline() != ""
    assert not reader.sees("#trouble")


def test_the_end_of_a_long_text_is_shown_as_unread(reader, ferry):
    reader.reads(f"{ferry} " * 8)
    assert reader.sees("#unread")
    assert ferry[-20:] in reader.text("#reading .unread")
