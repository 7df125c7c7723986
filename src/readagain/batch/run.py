"""Run a batch job, from its beginning or from where it stopped."""

from collections.abc import Callable, Iterator

from readagain.batch.job import BatchJob, Done
from readagain.batch.job_folder import JobManifest, claimed
from readagain.batch.notes import ShardMetadata
from readagain.corpus.workers import JobProgress

Engine = Callable[[BatchJob, Done], Iterator[ShardMetadata]]
"""Does what is not done yet; yields a note for every shard, those that were done too."""


def run_batch(
    job: BatchJob,
    engine: Engine,
    *,
    on_progress: Callable[[JobProgress], None] = lambda progress: None,
) -> JobManifest:
    """Summarize every row of a job's inputs; what an earlier run has finished is kept.

    The output does not depend on the engine, the number of workers, or where earlier runs were
    interrupted.

    Raises:
        ReadAgainError: naming what keeps the job from being begun or finished; what is done stays.
    """
    job.check()
    with claimed(job) as folder:
        done = folder.finished_shards()
        return folder.finish(_told(engine(job, done), job, done, on_progress))


def _told(
    notes: Iterator[ShardMetadata],
    job: BatchJob,
    done: Done,
    on_progress: Callable[[JobProgress], None],
) -> Iterator[ShardMetadata]:
    """Pass notes on, and say with each how far the job has come."""
    rows = resumed = input_bytes = resumed_bytes = 0
    total_bytes = max(job.input_bytes, 1)
    for note in notes:
        rows += note.rows
        input_bytes += note.input_bytes
        if done.get(note.key) == note:
            resumed += note.rows
            resumed_bytes += note.input_bytes
        on_progress(
            JobProgress(
                stage="summarizing",
                share=min(input_bytes / total_bytes, 1.0),
                records=rows,
                resumed=resumed,
                resumed_share=resumed_bytes / total_bytes,
            )
        )
        yield note
