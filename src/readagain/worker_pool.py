"""Process pools that end with their parent and survive killed workers."""

import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Any, Generic, TypeVar

from readagain.errors import DataError

logger = logging.getLogger(__name__)

Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_CRASHES = 3
"""Maximum number of workers that may die while they run one task, or while they start."""


@dataclass(frozen=True)
class TaskFailure(Generic[Task]):
    """Task that killed its worker each of the `MAX_CRASHES` times it was run."""

    task: Task


@dataclass
class _Attempt(Generic[Task]):
    """Task with the number of workers that died while they ran it."""

    task: Task
    num_crashes: int = 0


@contextmanager
def process_pool(num_workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a process pool whose workers are terminated at the end, and when this process dies.

    Workers are spawned, not forked: this works on every system and beside threads.
    """
    pool = ProcessPoolExecutor(num_workers, get_context("spawn"), initializer=_follow_parent)
    try:
        yield pool
    finally:
        # From Python 3.14 on this is terminate_workers().
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(cancel_futures=True)


def run_tasks(
    build: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], num_workers: int
) -> Iterator[Result | TaskFailure[Task]]:
    """Run tasks in worker processes; yield results in the order in which they finish.

    A task is read from `tasks` when a worker is free. When a worker dies, the pool does not report
    which task it was running, so all running tasks are run again, one at a time.

    Args:
        build: returns the function that runs a task; called once in each worker.
        tasks: the tasks.
        num_workers: the number of processes.

    Raises:
        DataError: if workers die while they start.
        Exception: as raised by `build` or by a task.
    """
    new_tasks, retries = iter(tasks), deque[_Attempt[Task]]()
    num_failed_starts = 0
    while True:
        with process_pool(num_workers) as pool:
            try:
                if retries:  # a crash in `build` must not count as a crash of a task
                    pool.submit(_build_once, build).result()
                num_failed_starts = 0
            except BrokenProcessPool:
                num_failed_starts += 1
                if num_failed_starts == MAX_CRASHES:
                    raise DataError(
                        f"{MAX_CRASHES} worker processes died while they started, perhaps because "
                        "memory ran out; use fewer workers"
                    ) from None
                continue
            yield from _run_until_crash(pool, build, new_tasks, retries, num_workers)
        if not retries:
            return
        for attempt in [attempt for attempt in retries if attempt.num_crashes == MAX_CRASHES]:
            retries.remove(attempt)
            yield TaskFailure(attempt.task)


def _run_until_crash(
    pool: ProcessPoolExecutor,
    build: Callable[[], Callable[[Task], Result]],
    new_tasks: Iterator[Task],
    retries: deque[_Attempt[Task]],
    num_workers: int,
) -> Iterator[Result]:
    """Run tasks and yield results; if a worker dies, add the unfinished tasks to `retries`."""
    running: dict[Future[Result], _Attempt[Task]] = {}
    is_broken = False
    while not is_broken:
        max_running = 1 if retries else num_workers
        while len(running) < max_running:
            attempt = retries.popleft() if retries else _next_attempt(new_tasks)
            if attempt is None:
                break
            try:
                running[pool.submit(_run, build, attempt.task)] = attempt
            except BrokenProcessPool:
                retries.append(attempt)
                is_broken = True
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            if isinstance(future.exception(), BrokenProcessPool):
                is_broken = True
            else:
                del running[future]
                yield future.result()
    for attempt in running.values():
        attempt.num_crashes += 1
        retries.append(attempt)
    logger.warning("a worker process died; %d tasks are run again", len(running))


def _next_attempt(new_tasks: Iterator[Task]) -> _Attempt[Task] | None:
    for task in new_tasks:
        return _Attempt(task)
    return None


_functions: list[Callable[[Any], Any]] = []
"""In a worker: the function that runs its tasks, once `build` has returned it."""


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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    signal.raise_signal(signal.SIGTERM)
