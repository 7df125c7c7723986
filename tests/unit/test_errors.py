"""Errors say what users can act on, in the words that they know."""

import doctest
import pickle

import pytest

from readagain import errors
from readagain.errors import ArgumentError, as_option

WRONG = ArgumentError("{min_words} is {0}; expected at most {max_words}, which is {1}", 9, 3)


def test_examples_are_true():
    found = doctest.testmod(errors)
    assert found.attempted > 0
    assert found.failed == 0


def test_an_argument_is_told_by_the_name_that_its_user_knows():
    assert str(WRONG) == "min_words is 9; expected at most max_words, which is 3"
    assert WRONG.told(as_option) == "--min-words is 9; expected at most --max-words, which is 3"


@pytest.mark.parametrize("value", ["{max_words}", "{0}", "{", "}"])
def test_braces_in_a_value_are_left_alone(value):
    assert str(ArgumentError("{case} is {0}", value)) == f"case is {value}"


def test_an_argument_error_keeps_its_names_on_its_way_between_processes():
    assert pickle.loads(pickle.dumps(WRONG)).told(as_option) == WRONG.told(as_option)


def test_signs_that_a_terminal_obeys_are_not_printed():
    assert str(ArgumentError("{case} is {0}", "\x1b[2J")) == "case is \N{REPLACEMENT CHARACTER}[2J"
