"""Batch engine with processes on this machine, each with its own summarizer."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from readagain.batch.job import BatchJob
from readagain.batch.job_dir import Finished, ShardMetadata
from readagain.batch.run import Engine
from readagain.batch.shard_worker import ShardConfig, ShardWorker
from readagain.batch.shards import BatchShard
from readagain.errors import DataError
from readagain.processors import num_processors
from readagain.worker_pool import MAX_CRASHES, TaskFailure, run_tasks

logger = logging.getLogger(__name__)


def local_engine(*, num_workers: int) -> Engine:
    """Return the engine of this machine; 0 workers means one per processor."""

    def run(job: BatchJob, finished: Finished) -> Iterator[ShardMetadata]:
        items = (item for source in job.inputs for item in job.split_input(source, finished))
        size = num_workers or max(1, num_processors() // job.config.threads)
        return run_local(items, job.config, size)

    return run


def run_local(
    items: Iterator[BatchShard | ShardMetadata], config: ShardConfig, num_workers: int
) -> Iterator[ShardMetadata]:
    """Summarize shards in worker processes; yield metadata when a shard is finished.

    A shard is read when a worker is free, so at most one per worker is in memory. A worker that
    dies is replaced, and its shard is run again.

    Raises:
        DataError: at the end, naming the shards that killed their worker in every attempt.
        ReadAgainError: as raised by a worker, immediately.
    """
    finished: deque[ShardMetadata] = deque()
    failed: list[BatchShard] = []

    def shards() -> Iterator[BatchShard]:
        for item in items:
            if isinstance(item, ShardMetadata):
                finished.append(item)
            else:
                yield item

    for result in run_tasks(partial(_build_worker, config), shards(), num_workers):
        while finished:
            yield finished.popleft()
        if isinstance(result, TaskFailure):
            logger.warning(
                "%s (%s) killed its worker; skipped", result.task.name, result.task.where
            )
            failed.append(result.task)
        else:
            yield result
    yield from finished
    if failed:
        raise DataError(describe_failed([f"{shard.name} ({shard.where})" for shard in failed]))


def describe_failed(names: Sequence[str]) -> str:
    """Return the message for shards that killed their worker in every attempt."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"{names[0]}{more}: skipped, since it killed its worker {MAX_CRASHES} times; the other "
        "shards are finished; run the same command again to retry"
    )


def _build_worker(config: ShardConfig) -> Callable[[BatchShard], ShardMetadata]:
    return ShardWorker(config).run
