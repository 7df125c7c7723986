"""Execution of a batch job, new or resumed."""

from collections.abc import Callable, Iterator

from readagain.batch.job import BatchJob
from readagain.batch.job_dir import Finished, JobManifest, ShardMetadata, open_job_dir
from readagain.corpus.workers import JobProgress

Engine = Callable[[BatchJob, Finished], Iterator[ShardMetadata]]
"""Function that summarizes the unfinished shards and yields the metadata of all shards."""


def run_batch(
    job: BatchJob,
    engine: Engine,
    *,
    on_progress: Callable[[JobProgress], None] = lambda progress: None,
) -> JobManifest:
    """Summarize all rows of a job's inputs; shards of an earlier run are kept.

    The output does not depend on the engine, the number of workers or interruptions.

    Raises:
        ReadAgainError: when the job cannot be started or finished; finished shards are kept.
    """
    job.check()
    identity = job.identity()
    with open_job_dir(
        job.config.out, identity, overwrite=job.overwrite, update=job.update
    ) as job_dir:
        finished = job_dir.finished_shards()
        shards = list(_report_progress(engine(job, finished), job, finished, on_progress))
        for file in job.files:
            file.check_unchanged()
        return job_dir.finish(shards, **identity, joined_files=job.joined_files())


def _report_progress(
    shards: Iterator[ShardMetadata],
    job: BatchJob,
    finished: Finished,
    on_progress: Callable[[JobProgress], None],
) -> Iterator[ShardMetadata]:
    """Yield the shards and report the progress after each."""
    rows = resumed = input_bytes = resumed_bytes = 0
    total_bytes = max(sum(file.bytes for file in job.files), 1)
    for shard in shards:
        rows += shard.rows
        input_bytes += shard.input_bytes
        if finished.get(shard.key) == shard:
            resumed += shard.rows
            resumed_bytes += shard.input_bytes
        on_progress(
            JobProgress(
                stage="summarizing",
                share=min(input_bytes / total_bytes, 1.0),
                records=rows,
                resumed=resumed,
                resumed_share=resumed_bytes / total_bytes,
            )
        )
        yield shard
