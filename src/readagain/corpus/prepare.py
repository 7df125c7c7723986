"""Preparation of a corpus: conversion of examples in any format to memory-mapped shards."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.language import detect_corpus_language
from readagain.corpus.manifest import FILE_NAME, CorpusManifest, unfinished_dir
from readagain.corpus.readers.find import input_files
from readagain.corpus.report import SKIPPED_FILE, write_corpus_report
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.splits import SplitChunk, assign_splits, origins_of
from readagain.corpus.truecasing import NUM_PASSES, SENTENCE_CASE_RULES, TITLE_CASE_RULES
from readagain.corpus.workers import CHUNKS_DIR, JobProgress, make_chunks
from readagain.corpus.write import write_shards, write_texts
from readagain.errors import DISK_FULL, ArgumentError, DataError
from readagain.formats.files import InputFile, changed_error
from readagain.formats.jsonl import write_jsonl
from readagain.storage.files import atomic_dir
from readagain.storage.locks import locked_dir
from readagain.text.language import UNDETERMINED, find_language

logger = logging.getLogger(__name__)


def prepare(
    sources: Sequence[CorpusInput],
    out: Path,
    settings: PrepareSettings,
    *,
    num_workers: int = 1,
    overwrite: bool = False,
    on_progress: Callable[[JobProgress], None] = lambda progress: None,
) -> CorpusManifest:
    """Read, filter, tokenize and split examples, and write a prepared corpus to `out`.

    The output does not depend on the number of workers. A preparation that was interrupted resumes
    if it is started again with the same arguments. `out` appears at the end, with all its files.

    Args:
        sources: the inputs, from `find_inputs`.
        out: the output folder; must be missing or empty, or with `overwrite` a prepared corpus.
        settings: language, filters and splits.
        num_workers: number of processes; with 1, this process does all the work.
        overwrite: whether to replace a prepared corpus in `out`.
        on_progress: function that is called with the progress after each chunk.

    Raises:
        ReadAgainError: for an invalid input or output folder; the message names the file and line.
    """
    if not out.name:  # such as "."
        raise DataError(f"{out}: cannot be replaced by a corpus; choose a new folder")
    work = unfinished_dir(out)
    _check_output(out, work, overwrite=overwrite)
    files = [InputFile.of(path) for source in sources for path in input_files(source)]
    with _one_line_os_errors(out), locked_dir(work, action="preparing into"):
        _check_output(out, work, overwrite=overwrite)  # another process may have finished meanwhile
        detected, reading_error = detect_corpus_language(sources)
        settings = replace(settings, language=_resolve_language(detected, settings))
        chunks = make_chunks(sources, settings, work, num_workers, on_progress)
        if reading_error is not None:
            # `make_chunks` has read all inputs, so the error was temporary. But it may have led to
            # a wrong language. The next run will detect the language again.
            raise reading_error
        split_chunks, input_entries, skipped = assign_splits(sources, chunks, settings)
        with atomic_dir(out, temporary=work / "corpus") as folder:
            manifest = _write_corpus(split_chunks, input_entries, settings, folder, on_progress)
            write_texts(sources, split_chunks, folder, settings.min_count)
            if skipped:
                rows = (record.as_row() for record in skipped)
                (folder / SKIPPED_FILE).write_bytes(write_jsonl(rows))
            for file in files:
                if InputFile.of(Path(file.location)) != file:
                    raise changed_error(file.location)
            manifest = manifest.save(folder)
        shutil.rmtree(work / CHUNKS_DIR)
        shutil.rmtree(work, ignore_errors=True)  # Windows cannot remove a locked file
    with suppress(OSError):  # without the lock, only an empty folder may be removed
        work.rmdir()
    return manifest


def _check_output(out: Path, work: Path, *, overwrite: bool) -> None:
    """Check that the output folder is missing, empty, or a corpus that may be replaced."""
    if work.is_symlink():  # `out` may be a link, because the user has named it
        raise DataError(f"{work}: is a symbolic link, which is not followed; remove it")
    if not out.exists():
        if out.is_symlink():
            raise DataError(f"{out}: is a link without a target; choose another folder")
        return
    if not out.is_dir():
        raise DataError(f"{out}: is a file; choose another folder")
    if not any(out.iterdir()):
        return
    if not (out / FILE_NAME).exists():
        raise DataError(f"{out}: not empty and not a prepared corpus; choose another folder")
    if not overwrite:
        raise ArgumentError(
            "{0}: contains a prepared corpus; choose another folder, or replace it with "
            "{overwrite}",
            out,
        )


def _resolve_language(detected: str, settings: PrepareSettings) -> str:
    """Return the language of the settings, or the detected language if the settings have none."""
    if settings.language is None:
        return detected
    if detected != settings.language and UNDETERMINED not in (detected, settings.language):
        names = [find_language(code).name for code in (settings.language, detected)]
        logger.warning("the language is set to %s, but most texts look like %s", *names)
    return settings.language


@contextmanager
def _one_line_os_errors(out: Path) -> Iterator[None]:
    """Replace an OSError by a `DataError` with a one-line message.

    The message names the file of the error, or `out` if the disk is full or the file is unknown.
    """
    try:
        yield
    except OSError as error:
        is_disk_full = error.errno in DISK_FULL
        where = out if is_disk_full or not error.filename else os.fsdecode(error.filename)
        reason = error.strerror or str(error) or type(error).__name__
        advice = "free some space or raise its limit" if is_disk_full else "fix this"
        raise DataError(
            f"{where}: cannot be written: {reason}; {advice} and run the same command again to "
            "resume"
        ) from error


def _write_corpus(
    split_chunks: list[list[SplitChunk]],
    input_entries: list[dict[str, Any]],
    settings: PrepareSettings,
    folder: Path,
    on_progress: Callable[[JobProgress], None],
) -> CorpusManifest:
    """Write the lexicon, the case table, the shards and the report; return the manifest."""
    chunks = [chunk for input_chunks in split_chunks for chunk in input_chunks]
    num_passes = 1 + NUM_PASSES + 1  # over all chunks: for lexicon, case table and shards
    num_records = sum(entry["records"] for entry in input_entries)
    num_chunks_done = 0

    def report_chunk() -> None:
        nonlocal num_chunks_done
        num_chunks_done += 1
        share = num_chunks_done / (num_passes * len(chunks))
        on_progress(JobProgress(stage="writing", share=share, records=num_records))

    language = find_language(settings.language or UNDETERMINED)
    rules = TITLE_CASE_RULES if language.has_headline_case else SENTENCE_CASE_RULES
    lexicon, splits, statistics = write_shards(
        chunks, folder, report_chunk, rules, settings.min_count
    )
    manifest = CorpusManifest(
        package_version=__version__,
        settings=asdict(settings),
        inputs=input_entries,
        origins=origins_of(input_entries),
        splits=splits,
        num_words=len(lexicon),
        language=language.code,
    )
    write_corpus_report(folder, manifest, lexicon, statistics)
    return manifest
