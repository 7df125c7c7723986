"""Working directory of `prepare`: locked while in use, and kept if interrupted."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.corpus.chunks import CHUNK_FORMAT
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import FILE_NAME, unfinished_dir
from readagain.corpus.readers.formats import folder_files
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ArgumentError, ConfigError, DataError, os_errors
from readagain.storage.files import atomic_write, refuse_links
from readagain.storage.locks import locked_file

# Settings that do not affect chunks, only how chunks are merged; chunks are kept if they change.
MERGE_SETTINGS = ("dev", "test", "sample", "seed", "min_count")


def check_output(out: Path, *, overwrite: bool) -> None:
    """Check that the output folder is new, empty, or a corpus that may be replaced.

    Raises:
        DataError: when it contains something else.
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


@dataclass(frozen=True)
class WorkDir:
    """Working directory of a call of `prepare`."""

    path: Path

    @property
    def corpus(self) -> Path:
        """Folder of the finished files before they are published."""
        return self.path / "corpus"

    def chunk_folder(self, source: CorpusInput, settings: PrepareSettings) -> Path:
        """Return the folder of an input's chunks, named after a hash of input and settings."""
        versions = [__version__, CHUNK_FORMAT]
        identity = json.dumps([_describe_input(source), _chunk_settings(settings), versions])
        return self.path / "chunks" / sha256(identity.encode()).hexdigest()[:20]

    def write_plan(self, sources: Sequence[CorpusInput], settings: PrepareSettings) -> list[str]:
        """Write the settings and inputs; return the names that differ from an interrupted run."""
        plan = {
            "readagain": __version__,
            **_chunk_settings(settings),
            **{str(source.path): _describe_input(source) for source in sources},
        }
        path = self.path / "plan.json"
        changed: list[str] = []
        if path.exists():
            changed = _differences(_read_plan(path), json.loads(json.dumps(plan)))
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(plan, indent=1), encoding="utf-8")
        return changed

    def publish(self, out: Path) -> None:
        """Move the finished corpus to `out` in one step and remove this folder."""
        if out.exists():
            old_corpus = self.path / "replaced"
            shutil.rmtree(old_corpus, ignore_errors=True)
            out.replace(old_corpus)
        self.corpus.replace(out)
        shutil.rmtree(self.path)


def _read_plan(path: Path) -> dict[str, Any]:
    """Read an earlier plan; return an empty one if it is damaged."""
    try:
        plan = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return plan if isinstance(plan, dict) else {}


def input_files(source: CorpusInput) -> list[Path]:
    """Return the files of an input; none for a Hugging Face dataset."""
    files = [
        file for path in source.paths for file in (folder_files(path) if path.is_dir() else [path])
    ]
    return [file for file in files if file.exists()]


def input_bytes(source: CorpusInput) -> int:
    """Return the size of the texts on disk, for progress reports."""
    texts = replace(source, paths=source.paths[:1])
    return sum(file.stat().st_size for file in input_files(texts))


def _describe_input(source: CorpusInput) -> dict[str, Any]:
    """Return the fields of an input, with a hash of the sizes and times of its files."""
    states = [(str(file), file.stat()) for file in input_files(source)]
    files = [[name, state.st_size, state.st_mtime_ns] for name, state in states]
    digest = sha256(json.dumps(files).encode()).hexdigest()
    return {**asdict(source), "paths": [str(path) for path in source.paths], "files": digest}


def _chunk_settings(settings: PrepareSettings) -> dict[str, Any]:
    """Return the settings that determine the content of a chunk."""
    values = asdict(settings)
    for name in MERGE_SETTINGS:
        del values[name]
    values["filters"] = [name for name in settings.filters if name != "duplicate"]
    return values


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names whose values differ."""
    names = sorted({*old, *new})
    return [name for name in names if old.get(name) != new.get(name)]


@contextmanager
def open_work_dir(out: Path) -> Iterator[WorkDir]:
    """Create the working directory of `out` if needed, and hold its lock.

    Raises:
        ConfigError: when it cannot be created, or another process is preparing into it.
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
            yield WorkDir(path)
        finally:
            with suppress(PermissionError):  # Windows cannot remove an open file
                lock.unlink(missing_ok=True)
