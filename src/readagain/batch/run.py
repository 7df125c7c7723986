"""Execution of a batch job, new or resumed, and the engine that uses this machine only."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from readagain.batch.job import BatchJob
from readagain.batch.job_dir import ATTEMPTS_DIR, FinishedShards, JobDir, JobManifest, ShardMetadata
from readagain.batch.locations import check_unchanged, open_directory
from readagain.batch.shard_worker import ShardConfig, ShardWorker
from readagain.batch.shards import BatchShard
from readagain.corpus.workers import JobProgress
from readagain.errors import DataError
from readagain.processors import num_processors
from readagain.worker_pool import MAX_CRASHES, TaskFailure, run_tasks

logger = logging.getLogger(__name__)

Engine = Callable[[BatchJob, FinishedShards], Iterator[ShardMetadata]]
"""Function that summarizes the unfinished shards and yields the metadata of all shards."""


def run_batch(
    job: BatchJob,
    engine: Engine,
    *,
    on_progress: Callable[[JobProgress], None] = lambda progress: None,
) -> JobManifest:
    """Summarize all rows of a job's inputs; keep the finished shards of an earlier run.

    The output does not depend on the engine, the number of workers or interruptions.

    Raises:
        ReadAgainError: when the job cannot be started or finished; finished shards are kept.
    """
    job.check()
    identity = job.identity()
    directory = open_directory(job.config.out)
    with JobDir.open(directory, identity, overwrite=job.overwrite, update=job.update) as job_dir:
        directory.remove(ATTEMPTS_DIR)
        job_dir.withdraw_manifest(identity["inputs"])
        finished = job_dir.finished_shards()
        shards = list(_report_progress(engine(job, finished), job, finished, on_progress))
        for file in job.files:
            check_unchanged(file)
        return job_dir.finish(shards, **identity, joined_files=job.joined_files())


def _report_progress(
    shards: Iterator[ShardMetadata],
    job: BatchJob,
    finished: FinishedShards,
    on_progress: Callable[[JobProgress], None],
) -> Iterator[ShardMetadata]:
    """Yield the shards, and report the progress with each shard."""
    rows = resumed_rows = input_bytes = resumed_bytes = 0
    total_bytes = max(sum(file.bytes for file in job.files), 1)
    for shard in shards:
        rows += shard.rows
        input_bytes += shard.input_bytes
        if finished.get(shard.key) == shard:
            resumed_rows += shard.rows
            resumed_bytes += shard.input_bytes
        on_progress(
            JobProgress(
                stage="summarizing",
                share=min(input_bytes / total_bytes, 1.0),
                records=rows,
                resumed=resumed_rows,
                resumed_share=resumed_bytes / total_bytes,
            )
        )
        yield shard


def local_engine(*, num_workers: int) -> Engine:
    """Return the engine that uses processes of this machine; 0 workers means one per processor.

    A shard is read when a worker is free, so at most one shard per worker is in memory. A worker
    that dies is replaced, and its shard is run again. If a shard killed its worker in every
    attempt, a `DataError` is raised at the end.
    """

    def run(job: BatchJob, finished: FinishedShards) -> Iterator[ShardMetadata]:
        config = job.config
        num_processes = num_workers or max(1, num_processors() // config.threads)
        already_finished: deque[ShardMetadata] = deque()
        failed_shards: list[str] = []

        def unfinished_shards() -> Iterator[BatchShard]:
            for source in job.inputs:
                for item in job.split_input(source, finished):
                    if isinstance(item, ShardMetadata):
                        already_finished.append(item)
                    else:
                        yield item

        for result in run_tasks(partial(_build_worker, config), unfinished_shards(), num_processes):
            while already_finished:
                yield already_finished.popleft()
            if isinstance(result, TaskFailure):
                failed_shards.append(f"{result.task.name} ({result.task.where})")
                logger.warning("%s killed its worker; skipped", failed_shards[-1])
            else:
                yield result
        yield from already_finished
        raise_for_failed(failed_shards)

    return run


def raise_for_failed(shards: Sequence[str]) -> None:
    """Raise a `DataError` if there are shards that killed their worker in every attempt."""
    if shards:
        more = f" and {len(shards) - 1} more" if len(shards) > 1 else ""
        raise DataError(
            f"{shards[0]}{more}: skipped, since it killed its worker {MAX_CRASHES} times; the "
            "other shards are finished; run the same command again to retry"
        )


def _build_worker(config: ShardConfig) -> Callable[[BatchShard], ShardMetadata]:
    return ShardWorker(config).run
