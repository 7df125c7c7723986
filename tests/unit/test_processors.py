"""Number of processors, and limits for threads and processes."""

import os

import pytest

from readagain.errors import ArgumentError
from readagain.processors import num_processors, num_threads


def test_num_processors_respects_affinity(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 3, 5}, raising=False)
    assert num_processors() == 3


def test_num_processors_without_affinity_is_cpu_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert num_processors() == 7


def test_num_threads_defaults_to_processors(monkeypatch):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 3)
    assert [num_threads(threads) for threads in (None, 1, 12)] == [3, 1, 12]


@pytest.mark.parametrize("threads", [-1, 0, 13, 3000])
def test_num_threads_refuses_invalid_numbers(monkeypatch, threads):
    monkeypatch.setattr("readagain.processors.num_processors", lambda: 3)
    message = f"threads is {threads}; expected 1 to 12, 4 per processor of this machine"
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        num_threads(threads)
