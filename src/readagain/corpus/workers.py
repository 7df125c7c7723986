"""Creation of the chunks of all inputs, in one process or several."""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

from readagain.corpus.chunks import CHUNK_FORMAT, num_saved_records, save_chunk
from readagain.corpus.inputs import CorpusInput, TooFewPairsError
from readagain.corpus.readers.find import input_bytes, input_files
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.errors import DataError, ReadAgainError
from readagain.formats.files import InputFile
from readagain.storage.files import refuse_links
from readagain.version import __version__
from readagain.worker_pool import process_pool

MAX_PENDING_PER_WORKER = 2
"""Maximum number of submitted blocks per worker that are not finished, to limit memory."""

CHUNKS_DIR = "chunks"
"""Name of the folder of all chunks in the working directory."""

# Settings that affect only how chunks are merged. The saved chunks stay valid if one of them
# changes, or if the filter 'duplicate' is added or removed.
MERGE_SETTINGS = ("dev", "test", "sample", "seed", "min_count")


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """Progress of a long job."""

    stage: Literal["reading", "writing", "summarizing"]
    share: float
    """Completed share of this stage, from 0 to 1."""
    records: int
    """Number of records so far, including those of an earlier, interrupted run."""
    resumed: int = 0
    """Number of records of an earlier, interrupted run."""
    resumed_share: float = 0.0
    """Share that an earlier run completed; the estimate of the remaining time excludes it."""


def make_chunks(
    sources: Sequence[CorpusInput],
    settings: PrepareSettings,
    work: Path,
    num_workers: int,
    on_progress: Callable[[JobProgress], None],
) -> list[list[Path]]:
    """Create the chunks of all inputs, except those that an interrupted run has saved.

    This process only reads blocks, which is cheap; workers parse, filter and tokenize them.

    Returns:
        For each input the chunk files, in the order of its blocks.

    Raises:
        DataError: when an input cannot be read or has an invalid record that is not skipped. Of
            several errors, the first in input order is raised.
        TooFewPairsError: when no input has a record.
    """
    chunks: list[list[Path]] = []
    counter = _ProgressCounter(sum(map(input_bytes, sources)), on_progress)
    # Numbers of records of the submitted chunks in input order, each with the end of its block in
    # the bytes of all inputs.
    pending: deque[tuple[Future[int], int]] = deque()

    def wait_until_at_most(max_pending: int) -> None:
        """Wait until at most `max_pending` submitted chunks are not finished."""
        while len(pending) > max_pending:
            num_records, position = pending[0]
            counter.add(num_records.result(), position)
            pending.popleft()  # a chunk that failed stays first, so its error is raised again below

    with _open_pool(num_workers) as submit:
        bytes_before = 0
        try:
            for source in sources:
                folder = chunk_folder(work, source, settings)
                refuse_links(folder, below=work)
                folder.mkdir(parents=True, exist_ok=True)
                paths: list[Path] = []
                for number, block in enumerate(FORMATS[source.format].read_blocks(source)):
                    path, position = folder / f"{number:06d}.npz", bytes_before + block.position
                    paths.append(path)
                    num_saved = num_saved_records(path)
                    if num_saved is None:
                        num_records = submit(save_chunk, source, block, settings, path)
                        pending.append((num_records, position))
                        wait_until_at_most(MAX_PENDING_PER_WORKER * num_workers)
                    else:
                        counter.add(num_saved, position, is_resumed=True)
                bytes_before += input_bytes(source)
                chunks.append(paths)
        except ReadAgainError:
            wait_until_at_most(0)  # raises the error of the earliest block, if there is one
            raise
        wait_until_at_most(0)
    if counter.progress.records == 0:
        names = ", ".join(str(source.path) for source in sources)
        raise TooFewPairsError(
            "{0}: no record in any input; expected (text, headline) pairs", names
        )
    return chunks


def chunk_folder(work: Path, source: CorpusInput, settings: PrepareSettings) -> Path:
    """Return the folder of an input's chunks.

    Its name is a hash of everything that determines the chunks, so a change leads to a new folder.
    """
    files = [asdict(InputFile.of(file)) for file in input_files(source)]
    paths = [str(path) for path in source.paths]
    values = {name: value for name, value in asdict(settings).items() if name not in MERGE_SETTINGS}
    values["filters"] = [name for name in settings.filters if name != "duplicate"]
    identity = [{**asdict(source), "paths": paths}, files, values, __version__, CHUNK_FORMAT]
    return work / CHUNKS_DIR / sha256(json.dumps(identity).encode()).hexdigest()[:20]


class _ProgressCounter:
    """Counter of finished records, which reports the progress."""

    def __init__(self, total_bytes: int, on_progress: Callable[[JobProgress], None]) -> None:
        self.progress = JobProgress(stage="reading", share=0.0, records=0)
        self._total_bytes = max(total_bytes, 1)
        self._on_progress = on_progress

    def add(self, num_records: int, position: int, *, is_resumed: bool = False) -> None:
        """Count the records of a chunk and report the progress.

        `position` is the end of the chunk's block in the bytes of all inputs. `is_resumed` is
        whether an earlier, interrupted run created the chunk.
        """
        progress = self.progress
        self.progress = replace(
            progress,
            share=min(max(position / self._total_bytes, progress.share), 1.0),
            records=progress.records + num_records,
            resumed=progress.resumed + (num_records if is_resumed else 0),
        )
        self._on_progress(self.progress)


@contextmanager
def _open_pool(num_workers: int) -> Iterator[Callable[..., Future[int]]]:
    """Yield the method `submit` of a process pool; with one worker, tasks run in this process."""
    if num_workers == 1:
        yield _run_here
        return
    try:
        with process_pool(num_workers) as pool:
            yield pool.submit
    except BrokenProcessPool as error:
        raise DataError(
            "a worker process was killed, perhaps because memory ran out; run the same command "
            "again with fewer workers, finished chunks are kept"
        ) from error


def _run_here(function: Callable[..., int], *arguments: object) -> Future[int]:
    """Run a function in this process, and return its result as a future."""
    future: Future[int] = Future()
    future.set_result(function(*arguments))
    return future
