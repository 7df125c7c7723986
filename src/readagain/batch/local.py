"""Shards done by processes on this machine, each with an engine of its own."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from readagain.batch.job import BatchJob, Done
from readagain.batch.notes import ShardMetadata
from readagain.batch.run import Engine
from readagain.batch.shards import BatchShard
from readagain.batch.work import ShardConfig, ShardWorker
from readagain.errors import DataError
from readagain.processors import num_processors
from readagain.worker_pool import MAX_CRASHES, TaskFailure, run_tasks

logger = logging.getLogger(__name__)


def local_engine(*, num_workers: int) -> Engine:
    """Return the engine of this machine; 0 workers stands for all of its processors."""

    def run(job: BatchJob, done: Done) -> Iterator[ShardMetadata]:
        outline = (item for source in job.sources for item in job.outline(source, done))
        size = num_workers or max(1, num_processors() // job.work.threads)
        return run_local(outline, job.work, size)

    return run


def run_local(
    outline: Iterator[BatchShard | ShardMetadata], work: ShardConfig, num_workers: int
) -> Iterator[ShardMetadata]:
    """Do the shards of an outline in worker processes; yield each note once its shard is done.

    This process reads when a worker is free, so it holds at most one shard for each. A worker
    that dies is replaced, and its shard done again.

    Raises:
        DataError: in the end, naming shards that killed their worker each time.
        ReadAgainError: as a worker raised it, at once.
    """
    finished: deque[ShardMetadata] = deque()
    set_aside: list[BatchShard] = []

    def shards() -> Iterator[BatchShard]:
        for item in outline:
            if isinstance(item, ShardMetadata):
                finished.append(item)
            else:
                yield item

    for result in run_tasks(partial(_shard_worker, work), shards(), num_workers):
        yield from _drain(finished)
        if isinstance(result, TaskFailure):
            logger.warning(
                "%s (%s) killed its worker; skipped", result.task.name, result.task.where
            )
            set_aside.append(result.task)
        else:
            yield result
    yield from finished
    if set_aside:
        raise DataError(give_up([f"{shard.name} ({shard.where})" for shard in set_aside]))


def _drain(finished: deque[ShardMetadata]) -> Iterator[ShardMetadata]:
    while finished:
        yield finished.popleft()


def give_up(names: Sequence[str]) -> str:
    """Say that shards are set aside, and what to do about them."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"{names[0]}{more} set aside, since it killed its worker {MAX_CRASHES} times; "
        "the rest is done; give the same command again to try once more"
    )


def _shard_worker(work: ShardConfig) -> Callable[[BatchShard], ShardMetadata]:
    return ShardWorker(work).do
