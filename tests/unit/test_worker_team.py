"""Processes that do tasks: what they answer, and what is told when they die."""

import multiprocessing
import os
import signal
import threading
from functools import partial
from operator import add

import pytest

from readagain.errors import DataError
from readagain.worker_team import TaskFailure, WorkerPool

# What workers do is named by functions of the standard library, which they find as well.
ADDS_ONE = partial(partial, add, 1)


def done(team, *tasks):
    """Give tasks as there is room; return what became of each."""
    waiting, found = list(tasks), {}
    while waiting or not team.is_idle:
        while waiting and team.has_room:
            team.give(waiting.pop(0))
        found.update(team.answers())
    return found


def test_each_answer_comes_with_its_task():
    with WorkerPool(ADDS_ONE, 2) as team:
        assert done(team, 1, 20, 300) == {1: 2, 20: 21, 300: 301}
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []


def test_an_error_is_handed_over_and_its_worker_goes_on():
    with WorkerPool(ADDS_ONE, 1) as team:
        found = done(team, "one", 2)
    assert isinstance(found["one"].error, TypeError)
    assert found[2] == 3


def test_an_error_while_a_worker_starts_is_handed_over():
    with WorkerPool(partial(int, "no number"), 1) as team:
        found = done(team, 1)
    assert isinstance(found[1].error, ValueError)


def test_a_worker_that_dies_over_a_task_is_told_and_replaced():
    with WorkerPool(partial(partial, signal.raise_signal), 1) as team:
        assert done(team, signal.SIGKILL) == {signal.SIGKILL: TaskFailure(None)}
        assert done(team, signal.SIGURG) == {signal.SIGURG: None}


def test_a_worker_that_is_killed_while_a_task_is_on_its_way_is_told():
    large = "x" * 20_000_000  # more than a pipe holds
    with WorkerPool(ADDS_ONE, 1) as team:
        done(team, 1)
        (child,) = multiprocessing.active_children()
        os.kill(child.pid, signal.SIGSTOP)
        killing = threading.Timer(0.3, os.kill, (child.pid, signal.SIGKILL))
        killing.start()
        team.give(large)
        assert list(team.answers()) == [(large, TaskFailure(None))]
        killing.join()


def test_workers_that_die_while_they_start_are_told_and_not_tried_for_ever(caplog):
    with (
        WorkerPool(partial(signal.raise_signal, signal.SIGKILL), 1) as team,
        pytest.raises(DataError, match="3 worker processes died while they started, perhaps for"),
    ):
        done(team, 1)
    assert caplog.messages == ["a worker died while it started; another one is started"] * 2


def test_nobody_waits_longer_than_asked():
    with WorkerPool(ADDS_ONE, 1) as team:
        team.give(1)
        assert list(team.answers(timeout_s=0)) == []
