"""The input files of a job: found, described, and at hand for reading, wherever they are.

A location is the path of a file, or an address that pyarrow's file systems understand, such as
`s3://bucket/news.jsonl.gz`, `gs://…`, `abfs://…` or `hdfs://…`.
"""

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from readagain.errors import DataError, first_line, require
from readagain.formats.files import check_regular_file

WILD = "*?["


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """A file as it was when the job looked at it."""

    location: str
    bytes: int
    mtime_ns: int


def find_files(patterns: Sequence[str], *, out: str = "") -> list[InputFile]:
    """Find the files that paths, addresses and patterns name, each once, in order.

    Args:
        patterns: what a person named.
        out: where the job writes; what lies there is no input, though a pattern may fit it.

    Raises:
        DataError: for a name without a file, a file that is named again, a pattern that fits
            none, and what lies in `out`.
    """
    found: dict[str, InputFile] = {}
    for pattern in patterns:
        fitting = _remote_files(pattern) if is_remote(pattern) else _local_files(pattern)
        if not fitting:
            raise DataError(f"{pattern}: no file fits this pattern")
        files = [file for file in fitting if not (out and _is_inside(file.location, out))]
        if not files:
            raise DataError(
                f"{pattern}: lies in {out}, which the job writes into; choose another OUT_DIR"
            )
        if _whole_name(pattern) in found:
            raise DataError(f"{pattern}: named twice; a file is read once, so name it once")
        for file in files:
            found.setdefault(_whole_name(file.location), file)
    return list(found.values())


def _whole_name(location: str) -> str:
    return location if is_remote(location) else str(Path(location).absolute())


def _is_inside(location: str, folder: str) -> bool:
    if is_remote(location) or is_remote(folder):
        return location.startswith(f"{folder.rstrip('/')}/")
    return Path(folder).resolve() in Path(location).resolve().parents


def is_remote(location: str) -> bool:
    """Say whether a location is an address rather than a path."""
    return "://" in location


@contextmanager
def at_hand(location: str) -> Iterator[Path]:
    """Offer a file as a path; one that is elsewhere is copied here and removed afterwards.

    Raises:
        DataError: when it cannot be copied.
    """
    if not is_remote(location):
        yield Path(location)
        return
    system, path = file_system(location)
    with TemporaryDirectory(prefix="readagain-") as folder:
        copy = Path(folder) / path.rpartition("/")[2]
        with told_by_name(location, "read"):
            _fs().copy_files(path, str(copy), system, _fs().LocalFileSystem())
        yield copy


def file_system(location: str) -> tuple[Any, str]:
    """Return pyarrow's file system for an address, and the path in it.

    Raises:
        DataError: when there is none.
    """
    with told_by_name(location, "reached"):
        system, path = _fs().FileSystem.from_uri(location)
    return system, path


@contextmanager
def told_by_name(location: str, what: str) -> Iterator[None]:
    """Turn what pyarrow and the system say about a location into our line about it."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:  # pyarrow's are kinds of these
        # pyarrow's own reason is its first line; the rest is about its source files.
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{location}: cannot be {what}: {reason}") from error


def _local_files(pattern: str) -> list[InputFile]:
    path = Path(pattern)
    if path.is_dir():
        raise DataError(f"{path}: a folder; name the files in it, as in '{path}/*.jsonl'")
    if path.exists():
        check_regular_file(path)
        return [_describe(path)]
    if not any(character in pattern for character in WILD):
        raise DataError(f"{path}: no such file")
    # Path.glob refuses absolute patterns.
    names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    return [_describe(Path(name)) for name in names if Path(name).is_file()]


def _describe(path: Path) -> InputFile:
    state = path.stat()
    return InputFile(location=str(path), bytes=state.st_size, mtime_ns=state.st_mtime_ns)


def _remote_files(pattern: str) -> list[InputFile]:
    wild = any(character in pattern for character in WILD)
    folder = pattern.rpartition("/")[0] if wild else pattern
    if any(character in folder for character in WILD):
        raise DataError(f"{pattern}: patterns in addresses may stand after the last / only")
    system, path = file_system(folder)
    with told_by_name(pattern, "read"):
        if wild:
            found = system.get_file_info(_fs().FileSelector(path, allow_not_found=True))
        else:
            found = [system.get_file_info(path)]
    kinds = _fs().FileType
    if not wild and found[0].type != kinds.File:
        is_folder = found[0].type == kinds.Directory
        problem = "a folder; name the files in it" if is_folder else "no such file"
        raise DataError(f"{pattern}: {problem}")
    located = [(f"{folder}/{info.base_name}" if wild else pattern, info) for info in found]
    return [
        InputFile(location=location, bytes=info.size, mtime_ns=info.mtime_ns or 0)
        for location, info in sorted(located, key=lambda pair: pair[0])
        if info.type == kinds.File and (not wild or fnmatchcase(location, pattern))
    ]


def _fs() -> ModuleType:
    return require(
        "pyarrow.fs", extra="data", purpose="reading and writing addresses such as s3://"
    )
