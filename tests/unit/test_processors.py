"""Processors are counted as far as this process may use them, and take so many threads."""

import os

import pytest

from readagain.errors import ArgumentError
from readagain.processors import num_processors, num_threads


def test_only_processors_that_this_process_may_use_are_counted(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5}, raising=False)
    assert num_processors() == 3


def test_where_nobody_says_all_of_the_machine_are_counted(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert num_processors() == 7


def test_threads_are_as_many_as_asked_for_or_as_there_are_processors(monkeypatch):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 3)
    assert [num_threads(asked) for asked in (None, 1, 12)] == [3, 1, 12]


@pytest.mark.parametrize("asked", [-1, 0, 13, 3000])
def test_threads_that_processors_cannot_take_are_refused(monkeypatch, asked):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 3)
    message = f"threads is {asked}; expected 1 to 12, 4 for each processor here"
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        num_threads(asked)
