"""Make the chunks of all sources, in this process or in several others."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Literal

from readagain.corpus.chunk import records_in, save_chunk
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.readers.source import Block, Source
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.workfolder import WorkFolder, input_bytes
from readagain.errors import DataError

BLOCKS_WAITING_PER_WORKER = 2
"""Enough that no worker waits for the reader, few enough that memory stays small."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a preparation has come."""

    stage: Literal["reading", "writing"]
    share: float
    """Of this stage, from 0 to 1."""
    records: int
    """Read so far, those of an interrupted run included."""
    resumed: int = 0
    """How many of them an interrupted run had done."""


@dataclass(frozen=True, kw_only=True)
class ChunkFiles:
    """The chunks of one source, in the order of its blocks."""

    source: Source
    paths: list[Path]


def make_chunks(
    sources: Sequence[Source],
    settings: PrepareSettings,
    work: WorkFolder,
    num_workers: int,
    on_progress: Callable[[Progress], None],
) -> list[ChunkFiles]:
    """Make every chunk that is not there yet.

    This process only cuts blocks, which is cheap; the workers parse, filter and tokenize them.

    Raises:
        DataError: for the first record, in input order, that cannot be used.
    """
    total_bytes = sum(map(input_bytes, sources)) or 1
    bytes_before = num_records = num_resumed = 0
    made: list[ChunkFiles] = []
    with _pool(num_workers) as submit:
        waiting: deque[tuple[Future[int], int]] = deque()

        def take_oldest() -> None:
            nonlocal num_records
            future, position = waiting.popleft()
            num_records += future.result()
            tell(position)

        def tell(position: int) -> None:
            share = min(position / total_bytes, 1.0)
            on_progress(
                Progress(stage="reading", share=share, records=num_records, resumed=num_resumed)
            )

        for source in sources:
            folder = work.chunk_folder(source, settings)
            folder.mkdir(parents=True, exist_ok=True)
            paths: list[Path] = []
            for number, block in enumerate(FORMATS[source.format].blocks(source)):
                path = folder / f"{number:06d}.npz"
                paths.append(path)
                position = bytes_before + block.position
                known = records_in(path)
                if known is not None:
                    num_records += known
                    num_resumed += known
                    tell(position)
                    continue
                waiting.append((submit(source, block, settings, path), position))
                if len(waiting) > BLOCKS_WAITING_PER_WORKER * num_workers:
                    take_oldest()
            bytes_before += input_bytes(source)
            made.append(ChunkFiles(source=source, paths=paths))
        while waiting:
            take_oldest()
    if num_records == 0:
        names = ", ".join(str(source.path) for source in sources)
        raise DataError(f"{names}: no record in any input; expected (text, headline) pairs")
    return made


Submit = Callable[[Source, Block, PrepareSettings, Path], Future[int]]


@contextmanager
def _pool(num_workers: int) -> Iterator[Submit]:
    if num_workers == 1:
        yield _submit_here
        return
    # Spawned, not forked: the same on every system, and safe beside threads of the caller.
    pool = ProcessPoolExecutor(num_workers, get_context("spawn"), _begin_worker)
    try:
        yield lambda *arguments: pool.submit(save_chunk, *arguments)
    except BrokenProcessPool as error:
        raise DataError(
            "a worker process was killed, perhaps for want of memory; "
            "run the same command again with fewer --workers, what is done is kept"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _submit_here(
    source: Source, block: Block, settings: PrepareSettings, path: Path
) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(save_chunk(source, block, settings, path))
    return future


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and leave with it should it be killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    signal.raise_signal(signal.SIGTERM)
