"""Explanations in a terminal, with and without colors."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from readagain.explain.terminal import print_explanation


def render(view, *, color_system=None):
    file = StringIO()
    console = Console(
        file=file, width=100, color_system=color_system, force_terminal=color_system is not None
    )
    print_explanation(view, console)
    return file.getvalue()


def test_plain_terminal_shows_everything_as_text(view):
    plain = render(view)
    assert "\x1b" not in plain
    lines = [line.rstrip() for line in plain.splitlines()]
    assert lines[0] == "Ghent buys 12"
    assert lines[2] == "Ghent bought 12"
    assert "Most attended: Ghent, bought, 12" in lines
    assert "The model read 30% of the text." in lines
    assert "Confidence: 85%" in lines
    assert "Warning: only 30% of the text was read" in lines
    rows = [" ".join(line.split()) for line in lines]
    assert "12 digits restored 12 80%, bought 20%, Ghent 0%" in rows
    assert any(line.startswith("(#-# left out)") for line in lines)


def test_words_are_shaded_by_attention(view):
    source = (
        replace(view.source[0], shade=0.0),
        replace(view.source[1], shade=1.0),
        view.source[2],
    )
    colored = render(replace(view, source=source), color_system="truecolor")
    assert "48;2;255;246;230mGhent" in colored
    assert "48;2;255;159;28mbought" in colored


def test_few_colors_show_attended_words_bold(view):
    line = render(view, color_system="standard").splitlines()[2]
    assert line == "\x1b[1mGhent\x1b[0m \x1b[1mbought\x1b[0m 12"


def test_view_without_confidence_shows_none(view):
    assert "Confidence" not in render(replace(view, confidence=None, warnings=()))


@pytest.mark.parametrize("control", ["\x1b[2J", "\x07", "\x9b31m", "\udc80", "\u202e"])
def test_control_characters_are_replaced(view, control):
    words = (replace(view.words[0], surface=f"a{control}"), *view.words[1:])
    source = (replace(view.source[0], surface=f"b{control}"), *view.source[1:])
    plain = render(replace(view, words=words, source=source))
    assert control[0] not in plain
    assert "a\N{REPLACEMENT CHARACTER}" in plain


def test_markup_is_shown_literally(view):
    words = (replace(view.words[0], surface="[bold]x[/]"), *view.words[1:])
    assert "[bold]x[/] buys" in render(replace(view, words=words))
