"""Processors are counted as far as this process may use them."""

import os

from readagain.processors import num_processors


def test_only_processors_that_this_process_may_use_are_counted(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5}, raising=False)
    assert num_processors() == 3


def test_where_nobody_says_all_of_the_machine_are_counted(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert num_processors() == 7
