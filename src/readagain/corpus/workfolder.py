"""Where a preparation keeps what it has done so far: beside the output, locked, resumable."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.corpus.chunk import CHUNK_FORMAT
from readagain.corpus.inputs import CorpusInput
from readagain.corpus.manifest import FILE_NAME, unfinished_beside
from readagain.corpus.readers.story import story_files
from readagain.corpus.settings import PrepareSettings
from readagain.errors import ConfigError, DataError
from readagain.storage.files import atomic_write
from readagain.storage.locks import locked_file

# Settings that only matter when chunks are merged: changing them keeps every chunk.
MERGE_SETTINGS = ("dev", "test")


def check_output(out: Path, *, overwrite: bool) -> None:
    """Refuse a folder that holds something we should not replace.

    Raises:
        DataError: saying what is there.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise DataError(f"{out}: a file is there already; choose another --out")
    if not any(out.iterdir()):
        return
    if not (out / FILE_NAME).exists():
        raise DataError(
            f"{out}: the folder is not empty and holds no prepared corpus; choose another --out"
        )
    if not overwrite:
        raise DataError(
            f"{out}: a prepared corpus is there already; "
            "choose another --out, or replace it with --overwrite"
        )


@dataclass(frozen=True)
class WorkFolder:
    """The folder of an unfinished preparation."""

    path: Path

    @property
    def corpus(self) -> Path:
        """Where the finished files are put together before they appear under their name."""
        return self.path / "corpus"

    def chunk_folder(self, source: CorpusInput, settings: PrepareSettings) -> Path:
        """Return the folder of a source's chunks; other content or settings mean another one."""
        versions = [__version__, CHUNK_FORMAT]
        facts = json.dumps([_source_facts(source), _chunk_settings(settings), versions])
        return self.path / "chunks" / sha256(facts.encode()).hexdigest()[:20]

    def note_plan(self, sources: Sequence[CorpusInput], settings: PrepareSettings) -> list[str]:
        """Write down what is being prepared; return what differs from the interrupted run."""
        plan = {
            "readagain": __version__,
            **_chunk_settings(settings),
            **{str(source.path): _source_facts(source) for source in sources},
        }
        path = self.path / "plan.json"
        changed: list[str] = []
        if path.exists():
            changed = _differences(_read_plan(path), json.loads(json.dumps(plan)))
        with atomic_write(path) as aside:
            aside.write_text(json.dumps(plan, indent=1), encoding="utf-8")
        return changed

    def publish(self, out: Path) -> None:
        """Let the finished corpus appear under its name, in one step, and clear up."""
        if out.exists():
            replaced = self.path / "replaced"
            shutil.rmtree(replaced, ignore_errors=True)
            out.replace(replaced)
        self.corpus.replace(out)
        shutil.rmtree(self.path)


def _read_plan(path: Path) -> dict[str, Any]:
    """Read an earlier plan; a damaged one differs in everything. Chunks do not hang on it."""
    try:
        plan = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return plan if isinstance(plan, dict) else {}


def input_files(source: CorpusInput) -> list[Path]:
    """List the files of a source; none for the name of a Hugging Face dataset."""
    files = [
        file for path in source.paths for file in (story_files(path) if path.is_dir() else [path])
    ]
    return [file for file in files if file.exists()]


def input_bytes(source: CorpusInput) -> int:
    """Return the size of the file with the texts, by which progress is measured."""
    texts = replace(source, paths=source.paths[:1])
    return sum(file.stat().st_size for file in input_files(texts))


def _source_facts(source: CorpusInput) -> dict[str, Any]:
    """Describe a source and the state of its files, cheaply: sizes and times, not contents."""
    states = [(str(file), file.stat()) for file in input_files(source)]
    files = [[name, state.st_size, state.st_mtime_ns] for name, state in states]
    digest = sha256(json.dumps(files).encode()).hexdigest()
    return {**asdict(source), "paths": [str(path) for path in source.paths], "files": digest}


def _chunk_settings(settings: PrepareSettings) -> dict[str, Any]:
    described = asdict(settings)
    for name in MERGE_SETTINGS:
        del described[name]
    described["filters"] = [name for name in settings.filters if name != "duplicate"]
    return described


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = sorted({*before, *now})
    return [name for name in names if before.get(name) != now.get(name)]


@contextmanager
def work_folder(out: Path) -> Iterator[WorkFolder]:
    """Enter the work folder of `out`, making it where needed; hold its lock meanwhile.

    Raises:
        ConfigError: when the folder cannot be made, or another process is preparing into it.
    """
    path = unfinished_beside(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be made: {error.strerror}") from error
    lock = out.with_name(f"{out.name}.lock")
    busy = (
        f"{out}: another process is preparing into this folder; wait for it, or choose another "
        "folder"
    )
    with locked_file(lock, busy=busy):
        try:
            yield WorkFolder(path)
        finally:
            with suppress(PermissionError):  # Windows keeps a file that is open
                lock.unlink(missing_ok=True)
