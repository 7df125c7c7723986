"""Process pools that end with their parent and survive killed workers."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any, Generic, TypeVar

from readagain.errors import DataError

logger = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_CRASHES = 3
"""A task is given up after this many workers have died while they ran it.

All tasks are given up after this many workers in succession have died while they started.
"""


@dataclass(frozen=True)
class TaskFailure(Generic[Task]):
    """Task that killed its worker each of the `MAX_CRASHES` times it was run."""

    task: Task


@contextmanager
def process_pool(num_workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a process pool; its workers are terminated at the end, and if this process dies.

    Workers are spawned, since forking is unsafe in a process with threads and fails on Windows.
    """
    pool = ProcessPoolExecutor(num_workers, get_context("spawn"), initializer=_follow_parent)
    try:
        yield pool
    finally:
        # Python 3.14 has `pool.terminate_workers` for this.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        # Before Python 3.11.5, a task that is being sent to a dead worker blocks the shutdown for
        # ever (https://github.com/python/cpython/issues/94777).
        if sys.version_info < (3, 11, 5):
            pool._call_queue._reader.close()  # type: ignore[attr-defined]
        pool.shutdown(cancel_futures=True)


def run_tasks(
    build: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], num_workers: int
) -> Iterator[Result | TaskFailure[Task]]:
    """Run tasks in worker processes; yield results in the order in which they finish.

    A task is read from `tasks` when a worker is free. A worker that dies is replaced, and its task
    is run again. Each worker is a pool of one process, so a broken pool identifies the task that
    killed its process.

    Args:
        build: called once in each worker; returns the function that runs a task.
        tasks: the tasks.
        num_workers: the number of processes.

    Yields:
        The result of a task, or a `TaskFailure` if the task has killed `MAX_CRASHES` workers.

    Raises:
        DataError: if workers die while they start.
        Exception: as raised by `build` or by a task.
    """
    new_tasks = iter(tasks)
    running: dict[Future[Result], tuple[_PoolProcess[Task, Result], Task, int]] = {}
    num_failed_starts = 0
    with ExitStack() as pools:
        for task in islice(new_tasks, num_workers):
            worker = _PoolProcess(build, pools)
            running[worker.run(task)] = worker, task, 0
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker, task, num_crashes = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    logger.warning("a worker process died; it is replaced")
                    if worker.has_started:
                        num_crashes += 1
                    else:
                        num_failed_starts += 1
                    if num_failed_starts == MAX_CRASHES:
                        raise DataError(
                            f"{MAX_CRASHES} worker processes died while they started, perhaps "
                            "because memory ran out; use fewer workers"
                        )
                    worker = _PoolProcess(build, pools)
                    if num_crashes < MAX_CRASHES:
                        running[worker.run(task)] = worker, task, num_crashes
                        continue
                    yield TaskFailure(task)
                else:
                    num_failed_starts = 0
                    yield future.result()
                for task in islice(new_tasks, 1):
                    running[worker.run(task)] = worker, task, 0


class _PoolProcess(Generic[Task, Result]):
    """Process that runs one task at a time; it is terminated when `pools` is closed."""

    def __init__(self, build: Callable[[], Callable[[Task], Result]], pools: ExitStack) -> None:
        self._build = build
        self._pool = pools.enter_context(process_pool(1))
        self._start = self._pool.submit(_build_once, build)

    @property
    def has_started(self) -> bool:
        """Return whether the process has called `build`."""
        return self._start.done() and self._start.exception() is None

    def run(self, task: Task) -> Future[Result]:
        """Submit a task; if the process has died, the future contains the error."""
        try:
            return self._pool.submit(_run, self._build, task)
        except BrokenProcessPool as error:
            failed: Future[Result] = Future()
            failed.set_exception(error)
            return failed


_functions: list[Callable[[Any], Any]] = []
"""In a worker: empty at first, then the function that `build` has returned."""


def _build_once(build: Callable[[], Callable[[Task], Result]]) -> None:
    if not _functions:
        _functions.append(build())


def _run(build: Callable[[], Callable[[Task], Result]], task: Task) -> Result:
    _build_once(build)
    result: Result = _functions[0](task)
    return result


def _follow_parent() -> None:
    """Ignore Ctrl-C, which the parent handles, and end this worker when the parent has died."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent(clean_up: Callable[[], None] = lambda: None) -> None:
    """Start a thread that calls `clean_up` and ends this process when its parent has died."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        clean_up()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch parent", daemon=True).start()
