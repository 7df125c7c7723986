"""Error classes and helpers for their messages."""

import doctest
import pickle

import pytest

from readagain import errors
from readagain.cli.options import as_option
from readagain.errors import ArgumentError, for_terminal, pluralize

WRONG = ArgumentError("{min_words} is {0}; expected at most {max_words}, which is {1}", 9, 3)


def test_doctests_pass():
    found = doctest.testmod(errors)
    assert found.attempted > 0
    assert found.failed == 0


def test_argument_error_translates_names():
    assert str(WRONG) == "min_words is 9; expected at most max_words, which is 3"
    assert (
        WRONG.format_message(as_option)
        == "--min-words is 9; expected at most --max-words, which is 3"
    )


@pytest.mark.parametrize("value", ["{max_words}", "{0}", "{", "}"])
def test_argument_error_keeps_braces_in_values(value):
    assert str(ArgumentError("{case} is {0}", value)) == f"case is {value}"


def test_argument_error_can_be_pickled():
    assert pickle.loads(pickle.dumps(WRONG)).format_message(as_option) == WRONG.format_message(
        as_option
    )


def test_control_characters_are_replaced():
    assert str(ArgumentError("{case} is {0}", "\x1b[2J")) == "case is \N{REPLACEMENT CHARACTER}[2J"


def test_line_break_in_a_file_name_is_replaced():
    message = str(ArgumentError("{0}: 2 problems\n  {1}\n  {1}", "a\nb.txt", "c\nd"))
    assert message == "a\ufffdb.txt: 2 problems\n  c\ufffdd\n  c\ufffdd"


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u2028"])
def test_for_terminal_replaces_control_characters(character):
    assert for_terminal(f"a{character}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_for_terminal_keeps_text():
    text = "1\t2\n\u200f\u05d0\u200d\U0001f389"  # marks and joiners of real scripts
    assert for_terminal(text) == text


def test_pluralize_uses_singular_for_one():
    assert [pluralize(number, "pair") for number in (0, 1, 2)] == [
        "0 pairs",
        "1 pair",
        "2 pairs",
    ]


def test_pluralize_separates_thousands():
    assert pluralize(551062, "pair") == "551,062 pairs"


def test_pluralize_accepts_irregular_plural():
    assert pluralize(1, "summary", "summaries") == "1 summary"
    assert pluralize(3, "summary", "summaries") == "3 summaries"
