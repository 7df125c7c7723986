"""Creation of the chunks of all inputs, in one or several processes."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from readagain.corpus.chunk import records_in
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.tokenizing import save_chunk
from readagain.corpus.work_dir import WorkDir, input_bytes
from readagain.errors import DataError
from readagain.formats.records import Block
from readagain.worker_pool import process_pool

BLOCKS_WAITING_PER_WORKER = 2
"""Enough that no worker waits for the reader, few enough that memory stays small."""

Task = tuple[CorpusInput, Block, PrepareSettings, Path]
"""A block to be made into a chunk, and where that goes."""

NumMade = Callable[[], int]
"""Waits until a chunk is made, and counts its records."""


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """Progress of a long job."""

    stage: Literal["reading", "writing", "summarizing"]
    share: float
    """Share of this stage, from 0 to 1."""
    records: int
    """Records read so far, with those of an interrupted run."""
    resumed: int = 0
    """Records of an interrupted run."""
    resumed_share: float = 0.0
    """Share of an interrupted run, which took no time in this one."""


@dataclass(frozen=True, kw_only=True)
class ChunkFiles:
    """Chunks of one input, in the order of its blocks."""

    source: CorpusInput
    paths: list[Path]


def make_chunks(
    sources: Sequence[CorpusInput],
    settings: PrepareSettings,
    work: WorkDir,
    num_workers: int,
    on_progress: Callable[[JobProgress], None],
) -> list[ChunkFiles]:
    """Make every chunk that is not there yet.

    This process only cuts blocks, which is cheap; the workers parse, filter and tokenize them.

    Raises:
        DataError: for the first record, in input order, that cannot be used.
    """
    made: list[ChunkFiles] = []
    with _pool(num_workers) as submit:
        queue = _Queue(sum(map(input_bytes, sources)), on_progress)
        try:
            for source in sources:
                folder = work.chunk_folder(source, settings)
                folder.mkdir(parents=True, exist_ok=True)
                paths: list[Path] = []
                for number, block in enumerate(FORMATS[source.format].read_blocks(source)):
                    path = folder / f"{number:06d}.npz"
                    paths.append(path)
                    known = records_in(path)
                    if known is None:
                        queue.add(submit((source, block, settings, path)), block.position)
                        queue.wait_until_left(BLOCKS_WAITING_PER_WORKER * num_workers)
                    else:
                        queue.count_resumed(known, block.position)
                queue.end_source(input_bytes(source))
                made.append(ChunkFiles(source=source, paths=paths))
        except DataError:
            queue.wait_until_left(0)  # what is wrong earlier in the input is told first
            raise
        queue.wait_until_left(0)
    if queue.num_records == 0:
        names = ", ".join(str(source.path) for source in sources)
        raise DataError(f"{names}: no record in any input; expected (text, headline) pairs")
    return made


class _Queue:
    """Blocks that the workers process, counted in input order."""

    def __init__(self, total_bytes: int, on_progress: Callable[[JobProgress], None]) -> None:
        self.num_records = 0
        self._num_resumed = 0
        self._total_bytes = max(total_bytes, 1)
        self._bytes_before = 0
        self._share = 0.0
        self._waiting: deque[tuple[NumMade, int]] = deque()
        self._on_progress = on_progress

    def add(self, num_made: NumMade, position: int) -> None:
        """Add a block that a worker processes."""
        self._waiting.append((num_made, self._bytes_before + position))

    def wait_until_left(self, num_left: int) -> None:
        """Wait for the oldest blocks until only `num_left` are left."""
        while len(self._waiting) > num_left:
            num_made, position = self._waiting.popleft()
            self.num_records += num_made()
            self._report(position)

    def count_resumed(self, num_records: int, position: int) -> None:
        """Count a block of an interrupted run."""
        self.num_records += num_records
        self._num_resumed += num_records
        self._report(self._bytes_before + position)

    def end_source(self, num_bytes: int) -> None:
        """Count later positions from the end of this input."""
        self._bytes_before += num_bytes

    def _report(self, position: int) -> None:
        self._share = min(max(position / self._total_bytes, self._share), 1.0)
        self._on_progress(
            JobProgress(
                stage="reading",
                share=self._share,
                records=self.num_records,
                resumed=self._num_resumed,
            )
        )


@contextmanager
def _pool(num_workers: int) -> Iterator[Callable[[Task], NumMade]]:
    if num_workers == 1:
        yield _submit_here
        return
    try:
        with process_pool(num_workers) as pool:
            yield lambda task: pool.submit(save_chunk, *task).result
    except BrokenProcessPool as error:
        raise DataError(
            "a worker process was killed, perhaps because memory ran out; run the same command "
            "again with fewer workers, finished chunks are kept"
        ) from error


def _submit_here(task: Task) -> NumMade:
    num_records = save_chunk(*task)
    return lambda: num_records
