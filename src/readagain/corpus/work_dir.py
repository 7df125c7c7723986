"""Working directory of `prepare`, which is locked while in use and stays after an interruption."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

from readagain import __version__
from readagain.corpus.chunks import CHUNK_FORMAT
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import FILE_NAME, unfinished_dir
from readagain.corpus.readers.duc_nist import document_files
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArgumentError, ConfigError, DataError, os_errors
from readagain.formats.files import InputFile
from readagain.storage.files import refuse_links
from readagain.storage.locks import locked_file

# Settings that affect only how chunks are merged. The saved chunks stay valid if one of them
# changes, or if the filter 'duplicate' is added or removed.
MERGE_SETTINGS = ("dev", "test", "sample", "seed", "min_count")


def check_output(out: Path, *, overwrite: bool) -> None:
    """Check that the output folder does not exist, is empty, or has a corpus that may be replaced.

    Raises:
        ArgumentError: when the folder contains a corpus and `overwrite` is not set.
        DataError: when the folder contains something else, or is a file.
    """
    if not out.exists():
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


def chunk_folder(work: Path, source: CorpusInput, settings: PrepareSettings) -> Path:
    """Return the folder of an input's chunks.

    Its name is a hash of everything that determines the chunks, so a change leads to a new folder.
    """
    files = [asdict(InputFile.of(file)) for file in input_files(source)]
    paths = [str(path) for path in source.paths]
    values = {name: value for name, value in asdict(settings).items() if name not in MERGE_SETTINGS}
    values["filters"] = [name for name in settings.filters if name != "duplicate"]
    identity = [{**asdict(source), "paths": paths}, files, values, __version__, CHUNK_FORMAT]
    return work / "chunks" / sha256(json.dumps(identity).encode()).hexdigest()[:20]


def input_files(source: CorpusInput) -> list[Path]:
    """Return the files of an input; none for a Hugging Face dataset."""
    files = (document_files(path) if path.is_dir() else [path] for path in source.paths)
    return [file for file in chain.from_iterable(files) if file.exists()]


def input_bytes(source: CorpusInput) -> int:
    """Return the size of the files with texts, for progress reports."""
    text_source = replace(source, paths=source.paths[:1])
    return sum(file.stat().st_size for file in input_files(text_source))


@contextmanager
def open_work_dir(out: Path) -> Iterator[Path]:
    """Create the working directory of `out` if needed, and hold its lock.

    Raises:
        ConfigError: when the directory cannot be created, or another process uses it.
    """
    path = unfinished_dir(out)
    with os_errors(path, "created", ConfigError):
        refuse_links(path, below=out.parent)
        path.mkdir(parents=True, exist_ok=True)
    lock = out.with_name(f"{out.name}.lock")
    busy = (
        f"{out}: another process is preparing into this folder; wait for it, or choose another "
        "folder"
    )
    with locked_file(lock, busy=busy):
        try:
            yield path
        finally:
            with suppress(PermissionError):  # Windows cannot remove an open file
                lock.unlink(missing_ok=True)
