"""Worker processes that do one task at a time, and may die without taking anybody along.

The pool of the standard library waits for ever, before Python 3.12.1, when a worker is killed
while a task is on its way to it. Here each worker has a pipe of its own, which breaks with it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, TypeVar

from readagain.child_process import follow_parent
from readagain.errors import DataError

logger = logging.getLogger(__name__)

Task = TypeVar("Task")
Answer = TypeVar("Answer")

MOST_DEAD_STARTS = 3
"""So many workers may die in a row before they are ready."""


@dataclass(frozen=True)
class TaskFailure:
    """What becomes of a task whose worker raised an error, or died: then there is none."""

    error: Exception | None


@dataclass(eq=False)
class _PoolProcess(Generic[Task]):
    """A process, the way to talk to it, and the task it has."""

    process: BaseProcess
    pipe: Connection
    task: Task | None = None
    is_ready: bool = False

    def send(self) -> None:
        with suppress(OSError):  # a dead one is noticed when its answer is waited for
            self.pipe.send(self.task)


class WorkerPool(Generic[Task, Answer]):
    """Processes that are started as they are needed, and stopped on leaving.

    Args:
        build: makes what does a task, once in each worker; it travels there pickled.
        size: how many workers there may be.
    """

    def __init__(self, build: Callable[[], Callable[[Task], Answer]], size: int) -> None:
        self._build = build
        self._size = size
        self._workers: list[_PoolProcess[Task]] = []
        self._dead_starts = 0

    def __enter__(self) -> "WorkerPool[Task, Answer]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()

    @property
    def has_room(self) -> bool:
        """Whether a task can be given."""
        return sum(worker.task is not None for worker in self._workers) < self._size

    @property
    def is_idle(self) -> bool:
        """Whether no worker has a task."""
        return all(worker.task is None for worker in self._workers)

    def give(self, task: Task) -> None:
        """Give a task to a free worker, or to a new one."""
        free = (worker for worker in self._workers if worker.task is None)
        worker = next(free, None) or self._start()
        worker.task = task
        if worker.is_ready:
            worker.send()

    def answers(
        self, timeout_s: float | None = None
    ) -> Iterator[tuple[Task, Answer | TaskFailure]]:
        """Wait for workers, no longer than asked; yield tasks with what became of them.

        Raises:
            DataError: when one worker after another dies before it is ready.
        """
        busy = {worker.pipe: worker for worker in self._workers if worker.task is not None}
        for pipe in wait(list(busy), timeout_s):
            worker = busy[pipe]  # type: ignore[index]
            task = worker.task
            assert task is not None
            try:
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                if self._bury(worker):
                    yield task, TaskFailure(None)
                continue
            if not worker.is_ready and answer is None:
                self._dead_starts = 0
                worker.is_ready = True
                worker.send()
            else:
                worker.task = None
                yield task, answer

    def _start(self) -> _PoolProcess[Task]:
        # Spawned, not forked: the same on every system, and safe beside threads of the caller.
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self._build, theirs), daemon=True)
        process.start()
        theirs.close()
        worker: _PoolProcess[Task] = _PoolProcess(process, ours)
        self._workers.append(worker)
        return worker

    def _bury(self, worker: _PoolProcess[Task]) -> bool:
        """Say whether a dead worker had begun with its task; another one gets it if not."""
        self._workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        if worker.is_ready:
            return True
        self._dead_starts += 1
        if self._dead_starts == MOST_DEAD_STARTS:
            raise DataError(
                f"{MOST_DEAD_STARTS} worker processes died while they started, perhaps for want "
                "of memory; try fewer --workers"
            )
        logger.warning("a worker died while it started; another one is started")
        self._start().task = worker.task
        return False


def _work(build: Callable[[], Callable[[Task], Answer]], pipe: Connection) -> None:
    """Do tasks until nobody sends any more."""
    follow_parent()
    try:
        try:
            do = build()
        except Exception as error:  # handed over, not swallowed; so is the one below
            pipe.send(TaskFailure(error))
            return
        pipe.send(None)
        while True:
            task = pipe.recv()
            try:
                answer: Answer | TaskFailure = do(task)
            except Exception as error:
                answer = TaskFailure(error)
            pipe.send(answer)
    except (EOFError, BrokenPipeError):  # the parent has gone
        return
