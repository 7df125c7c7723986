"""Counts on a terminal: there once texts are many, and nowhere else."""

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest

from readagain.cli.progress import PROGRESS_FROM, counted_texts, counting_to

MANY = PROGRESS_FROM + 20


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def able_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")


def shown_for(counting, number):
    """Count so many texts, and return what a terminal shows of it."""
    with redirect_stderr(Terminal()) as terminal, counting as count:
        for _ in range(number):
            count()
    return terminal.getvalue()


def test_many_texts_are_counted():
    assert f"{MANY} texts" in shown_for(counted_texts(to_file=False), MANY)


def test_a_bar_shows_how_many_of_all_are_done():
    assert f"{MANY}/{MANY}" in shown_for(counting_to(MANY), MANY)


def test_few_texts_are_not_counted():
    assert "texts" not in shown_for(counted_texts(to_file=False), 5)
    assert shown_for(counting_to(5), 5) == ""


def test_texts_that_appear_on_the_terminal_themselves_are_not_counted():
    with redirect_stdout(Terminal()):
        assert shown_for(counted_texts(to_file=False), MANY) == ""
        assert f"{MANY} texts" in shown_for(counted_texts(to_file=True), MANY)


@pytest.mark.parametrize("counting", [counting_to(MANY), counted_texts(to_file=False)])
def test_a_log_is_left_alone(counting, capsys):
    with counting as count:
        for _ in range(MANY):
            count()
    assert capsys.readouterr().err == ""
