"""Shards done by processes on this machine, each with an engine of its own."""

import logging
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType

from readagain.child_process import follow_parent
from readagain.engine.sessions import default_threads
from readagain.errors import DataError, ReadAgainError
from readagain.scale.batch import Engine
from readagain.scale.job import BatchJob, Done
from readagain.scale.notes import Note
from readagain.scale.shards import Shard
from readagain.scale.work import ShardWorker, Work

logger = logging.getLogger(__name__)

MOST_DEATHS = 3
"""So many workers may die over one shard, or in a row while they start."""


def local_engine(*, num_workers: int) -> Engine:
    """Return the engine of this machine; 0 workers stands for all of its processors."""

    def run(job: BatchJob, done: Done) -> Iterator[Note]:
        outline = (item for source in job.sources for item in job.outline(source, done))
        size = num_workers or max(1, default_threads() // job.work.threads)
        return run_local(outline, job.work, size)

    return run


def run_local(outline: Iterator[Shard | Note], work: Work, num_workers: int) -> Iterator[Note]:
    """Do the shards of an outline in worker processes; yield each note once its shard is done.

    This process reads when a worker is free, so it holds at most one shard for each. A worker
    that dies is replaced, and its shard done again.

    Raises:
        DataError: in the end, naming shards that killed their worker each time.
        ReadAgainError: as a worker raised it, at once.
    """
    deaths: Counter[str] = Counter()
    again: deque[Shard] = deque()
    set_aside: list[Shard] = []
    with _Team(work, num_workers) as team:
        while True:
            while team.has_room:
                found = again.popleft() if again else next(outline, None)
                if found is None:
                    break
                if isinstance(found, Note):
                    yield found
                else:
                    team.give(found)
            if team.is_idle:
                break
            for answer in team.answers():
                if isinstance(answer, Note):
                    yield answer
                    continue
                deaths[answer.name] += 1
                is_hopeless = deaths[answer.name] == MOST_DEATHS
                logger.warning(
                    "a worker died over %s (%s); it is %s",
                    answer.name,
                    answer.where,
                    "set aside" if is_hopeless else "done again",
                )
                (set_aside if is_hopeless else again).append(answer)
    if set_aside:
        raise DataError(give_up([f"{shard.name} ({shard.where})" for shard in set_aside]))


def give_up(names: Sequence[str]) -> str:
    """Say that shards are set aside, and what to do about them."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"{names[0]}{more} set aside, since it killed its worker {MOST_DEATHS} times; "
        "the rest is done; give the same command again to try once more"
    )


@dataclass(eq=False)
class _Worker:
    """A process, the way to talk to it, and the shard it has."""

    process: BaseProcess
    pipe: Connection
    shard: Shard | None = None
    is_ready: bool = False

    def send(self) -> None:
        with suppress(OSError):  # a dead one is noticed when its answer is waited for
            self.pipe.send(self.shard)


class _Team:
    """The worker processes, started as they are needed."""

    def __init__(self, work: Work, size: int) -> None:
        self._work = work
        self._size = size
        self._workers: list[_Worker] = []
        self._dead_starts = 0

    def __enter__(self) -> "_Team":
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
        """Whether a shard can be given."""
        return sum(worker.shard is not None for worker in self._workers) < self._size

    @property
    def is_idle(self) -> bool:
        """Whether no worker has a shard."""
        return all(worker.shard is None for worker in self._workers)

    def give(self, shard: Shard) -> None:
        """Give a shard to a free worker, or to a new one."""
        free = (worker for worker in self._workers if worker.shard is None)
        worker = next(free, None) or self._start()
        worker.shard = shard
        if worker.is_ready:
            worker.send()

    def answers(self) -> Iterator[Note | Shard]:
        """Wait for workers; yield the notes of what they did, and the shards they died over."""
        busy = {worker.pipe: worker for worker in self._workers if worker.shard is not None}
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]
            assert worker.shard is not None
            try:
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                yield from self._replace(worker)
                continue
            if isinstance(answer, ReadAgainError):
                raise answer
            if answer is None:  # it has loaded its model
                self._dead_starts = 0
                worker.is_ready = True
                worker.send()
            else:
                worker.shard = None
                yield answer

    def _start(self) -> _Worker:
        # Spawned, not forked: the same on every system, and safe beside threads of the caller.
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(self._work, theirs), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _replace(self, worker: _Worker) -> Iterator[Shard]:
        """Bury a dead worker; yield its shard if it had begun with it."""
        self._workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        assert worker.shard is not None
        if worker.is_ready:
            yield worker.shard
            return
        self._dead_starts += 1
        if self._dead_starts == MOST_DEATHS:
            raise DataError(
                f"{MOST_DEATHS} worker processes died while they loaded the model, perhaps for "
                "want of memory; try fewer --workers"
            )
        self._start().shard = worker.shard


def _work(work: Work, pipe: Connection) -> None:
    """Do shards until nobody sends any more."""
    follow_parent()
    try:
        worker = ShardWorker(work)
        pipe.send(None)
        while True:
            pipe.send(worker.do(pipe.recv()))
    except ReadAgainError as error:
        pipe.send(error)
    except (EOFError, BrokenPipeError):  # the parent has gone
        return
