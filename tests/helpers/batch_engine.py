"""Batch engine without worker processes, for fast tests."""

from collections.abc import Iterator

from readagain.batch.job import BatchJob
from readagain.batch.job_dir import FinishedShards, ShardMetadata
from readagain.batch.shard_worker import ShardWorker


def run_in_process(job: BatchJob, finished: FinishedShards) -> Iterator[ShardMetadata]:
    """Summarize all shards of a job in this process."""
    worker = ShardWorker(job.config)
    for source in job.inputs:
        for item in job.split_input(source, finished):
            yield item if isinstance(item, ShardMetadata) else worker.run(item)


class StoppedError(Exception):
    """Raised in place of a kill."""
