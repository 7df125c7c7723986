"""Prepare a corpus: any pile of pairs in, memory-mapped shards out."""

import errno
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.corpus.cases import NUM_PASSES
from readagain.corpus.chunk import Chunk, PlacedChunk
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import CorpusManifest, describe_files, fingerprint
from readagain.corpus.merge import write_shards
from readagain.corpus.placing import origins_of, place_pairs
from readagain.corpus.report import write_report
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.texts import write_texts
from readagain.corpus.workers import ChunkFiles, JobProgress, make_chunks
from readagain.corpus.workfolder import check_output, work_folder
from readagain.errors import DataError

logger = logging.getLogger(__name__)

SKIPPED_FILE = "skipped.jsonl"
_FULL = {
    errno.ENOSPC: "no space left on this disk; free some",
    errno.EDQUOT: "your share of this disk is used up; free some",
    errno.EFBIG: "File too large for this disk, or for a limit (ulimit -f); raise that",
}


def prepare(
    sources: Sequence[CorpusInput],
    out: Path,
    settings: PrepareSettings,
    *,
    num_workers: int = 1,
    overwrite: bool = False,
    on_progress: Callable[[JobProgress], None] = lambda progress: None,
) -> CorpusManifest:
    """Read, filter, split and number the pairs of `sources`; leave a prepared corpus in `out`.

    What is written does not depend on the number of workers. A preparation that was interrupted
    goes on where it stopped when it is started again in the same way; `out` appears whole, at
    the end.

    Args:
        sources: the inputs, as `find_inputs` finds them.
        out: the folder to make; must be new, empty, or with `overwrite` a prepared corpus.
        settings: what to keep and how to split it.
        num_workers: processes that tokenize; 1 works in this process.
        overwrite: whether an earlier prepared corpus may be replaced.
        on_progress: told now and then how far the work has come.

    Raises:
        DataError: naming the input, the line and what is wrong with it; or the folder.
    """
    check_output(out, overwrite=overwrite)
    with _told_when_full(out), work_folder(out) as work:
        changed = work.note_plan(sources, settings)
        if changed:
            logger.warning("changed since the interrupted run: %s", ", ".join(changed))
        chunks = make_chunks(sources, settings, work, num_workers, on_progress)
        placed, inputs = place_pairs(chunks, settings)
        folder = _fresh_folder(work.corpus)
        manifest = _write_corpus(placed, inputs, settings, folder, on_progress)
        write_texts(sources, placed, folder)
        _write_skipped(chunks, folder)
        manifest = _seal(manifest, folder)
        work.publish(out)
    return manifest


@contextmanager
def _told_when_full(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DataError(
            f"{out}: {_FULL[error.errno]} and run the same command again, it goes on where it "
            "stopped"
        ) from error


def _fresh_folder(path: Path) -> Path:
    """Make an empty folder; what an interrupted merge left there is of no use."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def _write_corpus(
    placed: list[list[PlacedChunk]],
    inputs: list[dict[str, Any]],
    settings: PrepareSettings,
    folder: Path,
    on_progress: Callable[[JobProgress], None],
) -> CorpusManifest:
    """Write lexicon, table of cases, shards and report."""
    chunks = [chunk for own in placed for chunk in own]
    num_passes = 1 + NUM_PASSES + 1  # for the lexicon, the cases and the shards
    num_records = sum(entry["records"] for entry in inputs)
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        share = done / num_passes / len(chunks)
        on_progress(JobProgress(stage="writing", share=share, records=num_records))

    lexicon, splits, statistics = write_shards(chunks, folder, tick)
    manifest = CorpusManifest(
        package_version=__version__,
        settings=asdict(settings),
        inputs=inputs,
        origins=origins_of(inputs),
        splits=splits,
        num_words=len(lexicon),
    )
    write_report(folder, manifest, lexicon, statistics)
    return manifest


def _write_skipped(chunks: Sequence[ChunkFiles], folder: Path) -> None:
    """List the bad records that --skip-bad left out; no file when there were none."""
    bad = [bad for files in chunks for path in files.paths for bad in Chunk.load(path).bad]
    if bad:
        lines = [json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in bad]
        (folder / SKIPPED_FILE).write_text("".join(lines), encoding="utf-8")


def _seal(manifest: CorpusManifest, folder: Path) -> CorpusManifest:
    """Add checksums and fingerprint, and write the manifest as the last file."""
    files = describe_files(folder)
    sealed = replace(manifest, files=files, fingerprint=fingerprint(files))
    sealed.save(folder)
    return sealed
