"""What a terminal shows, with colours and without."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from readagain.explain.terminal import print_explanation
from readagain.explain.view import explanation_view


def shown(story, *, color_system=None):
    file = StringIO()
    console = Console(
        file=file, width=100, color_system=color_system, force_terminal=color_system is not None
    )
    print_explanation(story, console)
    return file.getvalue()


def test_without_colours_everything_is_said_in_words(story):
    plain = shown(story)
    assert "\x1b" not in plain
    lines = [line.rstrip() for line in plain.splitlines()]
    assert lines[0] == "Ghent buys 12"
    assert lines[2] == "Ghent bought 12"
    assert "Most important (mean weight α of the second reading): 12, Ghent, bought" in lines
    assert "The model did not read the end of the text." in lines
    told = [" ".join(line.split()) for line in lines]
    assert "12 digits restored 12 80 %, bought 20 %, Ghent 0 %" in told
    assert any(line.startswith("(#-# left out)") for line in lines)


def test_words_stand_on_the_shade_of_their_importance(story):
    colourful = shown(story, color_system="truecolor")
    assert "48;2;255;246;230mbought" in colourful
    assert "48;2;255;159;28m12" in colourful


def test_a_terminal_of_few_colours_shows_the_most_important_words_bold(story):
    line = shown(story, color_system="standard").splitlines()[2]
    assert line == "Ghent bought \x1b[1m12\x1b[0m"


def test_a_model_that_reads_once_shades_nothing(summary):
    once = replace(summary.explanation, importance=None, importance_kind=None)
    told = explanation_view("Ghent bought 12", replace(summary, explanation=once), model="toy")
    lines = shown(told, color_system="truecolor").splitlines()
    assert lines[2] == "Ghent bought 12"
    assert "Most important" not in "".join(lines)


@pytest.mark.parametrize("dangerous", ["\x1b[2J", "\x07", "\x9b31m", "\udc80"])
def test_nothing_of_the_text_steers_the_terminal(story, dangerous):
    words = (replace(story.words[0], surface=f"a{dangerous}"), *story.words[1:])
    source = (replace(story.source[0], surface=f"b{dangerous}"), *story.source[1:])
    plain = shown(replace(story, words=words, source=source))
    assert dangerous[0] not in plain
    assert "a\N{REPLACEMENT CHARACTER}" in plain


def test_what_looks_like_markup_is_shown_as_it_is(story):
    words = (replace(story.words[0], surface="[bold]x[/]"), *story.words[1:])
    assert "[bold]x[/] buys" in shown(replace(story, words=words))
