"""Process pools: results, errors, and killed workers."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from operator import add

import pytest

from readagain.errors import DataError
from readagain.worker_pool import TaskFailure, process_pool, run_tasks

# Workers run functions of the standard library, which they can import.
ADD_ONE = partial(partial, add, 1)


def test_run_tasks_yields_all_results():
    assert sorted(run_tasks(ADD_ONE, [1, 20, 300], 2)) == [2, 21, 301]
    assert multiprocessing.active_children() == []


def test_run_tasks_reads_tasks_when_a_worker_is_free():
    tasks = iter([1, 20, 300])
    results = run_tasks(ADD_ONE, tasks, 1)
    assert next(results) == 2
    assert next(tasks) == 20
    results.close()
    assert multiprocessing.active_children() == []


def test_run_tasks_raises_error_of_a_task():
    with pytest.raises(TypeError, match="unsupported operand"):
        list(run_tasks(ADD_ONE, ["one"], 1))


def test_run_tasks_raises_error_of_build():
    with pytest.raises(ValueError, match="invalid literal"):
        list(run_tasks(partial(int, "no number"), [1], 1))


def test_run_tasks_finds_the_task_that_kills_its_worker(caplog):
    tasks = [signal.SIGURG, signal.SIGKILL, signal.SIGWINCH, signal.SIGCHLD]
    results = list(run_tasks(partial(partial, signal.raise_signal), tasks, 2))
    assert results.count(None) == 3
    assert results.count(TaskFailure(signal.SIGKILL)) == 1
    assert caplog.messages[0].startswith("a worker process died; ")


def test_run_tasks_gives_up_when_workers_die_at_start():
    build = partial(signal.raise_signal, signal.SIGKILL)
    with pytest.raises(DataError, match="3 worker processes died while they started, perhaps"):
        list(run_tasks(build, [1], 1))


def test_process_pool_detects_worker_killed_while_receiving():
    large = "x" * 20_000_000  # more than a pipe holds
    with process_pool(1) as pool:
        pool.submit(len, "").result()
        (child,) = multiprocessing.active_children()
        os.kill(child.pid, signal.SIGSTOP)
        killing = threading.Timer(0.3, os.kill, (child.pid, signal.SIGKILL))
        killing.start()
        with pytest.raises(BrokenProcessPool):
            pool.submit(len, large).result()
        killing.join()
