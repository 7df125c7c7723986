"""Input files and output directories, local or remote (on a file system of pyarrow).

A location is a path, or an address such as `s3://bucket/news.jsonl.gz`, `gs://…`, `abfs://…` or
`hdfs://…`.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, BinaryIO
from urllib.parse import quote
from uuid import uuid4

from readagain.errors import DataError, first_line, require
from readagain.formats.files import InputFile, changed_error, check_regular_file, named_errors
from readagain.storage.output_dir import Directory, LocalDir

UNFINISHED = "unfinished"
"""Subdirectory with the files of an unfinished job; removed when the job is finished."""


def find_files(patterns: Sequence[str], *, out: str = "") -> list[InputFile]:
    """Return the files that paths, addresses and glob patterns name, in order, each file once.

    Files in `out`, the output directory of the job, are skipped.

    Raises:
        DataError: for a missing file, a file named twice, a pattern without a match, and a pattern
            that matches only files in `out`.
    """
    files_by_name: dict[str, InputFile] = {}
    for pattern in patterns:
        matches = _find(pattern)
        if not matches:
            raise DataError(f"{pattern}: no file matches this pattern; check the path")
        files = [file for file in matches if not (out and _is_inside(file.location, out))]
        if not files:
            raise DataError(f"{pattern}: is in the output folder {out}; choose another folder")
        if _full_name(pattern) in files_by_name:
            raise DataError(f"{pattern}: given twice; name each file once")
        for file in files:
            files_by_name.setdefault(_full_name(file.location), file)
    return list(files_by_name.values())


def check_unchanged(file: InputFile) -> None:
    """Raise `DataError` if a file has changed since it was found."""
    if _find(file.location) != [file]:
        raise changed_error(file.location)


def _find(pattern: str) -> list[InputFile]:
    return _find_remote(pattern) if is_remote(pattern) else _find_local(pattern)


def _full_name(location: str) -> str:
    """Return a name that is the same for the relative and the absolute path of a file."""
    return location if is_remote(location) else str(Path(location).absolute())


def _has_wildcard(pattern: str) -> bool:
    return any(character in pattern for character in "*?[")


def _is_inside(location: str, directory: str) -> bool:
    if is_remote(location) or is_remote(directory):
        return location.startswith(f"{directory.rstrip('/')}/")
    # Path.resolve raises errors for links that form a loop.
    return Path(os.path.realpath(directory)) in Path(os.path.realpath(location)).parents


def is_remote(location: str) -> bool:
    """Return whether a location is an address rather than a path."""
    return "://" in location


@contextmanager
def local_copy(location: str) -> Iterator[Path]:
    """Yield the path of a file; a remote file is copied to this machine until the block ends."""
    if not is_remote(location):
        yield Path(location)
        return
    system, path = _file_system(location)
    with TemporaryDirectory(prefix="readagain-") as directory:
        copy = Path(directory) / path.rpartition("/")[2]
        with _remote_errors(location, "read"):
            _fs().copy_files(path, str(copy), system, _fs().LocalFileSystem())
        yield copy


def _file_system(location: str) -> tuple[Any, str]:
    """Return pyarrow's file system for an address, and the path in it."""
    with _remote_errors(location, "reached"):
        system, path = _fs().FileSystem.from_uri(location)
    return system, path


@contextmanager
def _remote_errors(location: str, action: str) -> Iterator[None]:
    """Replace errors of pyarrow and of the system by a `DataError` with the location."""
    try:
        yield
    except (OSError, ValueError, NotImplementedError) as error:  # the bases of pyarrow's errors
        # The first line of pyarrow's message has the reason; other lines name source files.
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"{location}: cannot be {action}: {reason}") from error


def _find_local(pattern: str) -> list[InputFile]:
    path = Path(pattern)
    with named_errors(path):
        if path.is_dir():
            raise DataError(f"{path}: a folder; name its files, for example '{path}/*.jsonl'")
        if path.exists():
            check_regular_file(path)
            return [InputFile.of(path)]
    if not _has_wildcard(pattern):
        raise DataError(f"{path}: no such file")
    # Path.glob does not support absolute patterns.
    paths = map(Path, sorted(glob.glob(pattern, recursive=True)))  # noqa: PTH207
    # A link without a target is an error: it would be missing in the output.
    return [InputFile.of(path) for path in paths if path.is_file() or not path.exists()]


def _find_remote(pattern: str) -> list[InputFile]:
    types = _fs().FileType
    if not _has_wildcard(pattern):
        system, path = _file_system(pattern)
        with _remote_errors(pattern, "read"):
            info = system.get_file_info(path)
        if info.type != types.File:
            is_folder = info.type == types.Directory
            problem = "a folder; name its files" if is_folder else "no such file"
            raise DataError(f"{pattern}: {problem}")
        return [_remote_file(pattern, info)]
    directory, _, name_pattern = pattern.rpartition("/")
    if _has_wildcard(directory):
        raise DataError(f"{pattern}: an address may only have a pattern after its last /")
    system, path = _file_system(directory)
    with _remote_errors(pattern, "read"):
        infos = system.get_file_info(_fs().FileSelector(path, allow_not_found=True))
    files_by_name = {info.base_name: info for info in infos if info.type == types.File}
    # As for local files, a [ is part of the name if such a file exists.
    names = [name_pattern]
    if name_pattern not in files_by_name:
        names = [name for name in files_by_name if fnmatchcase(name, name_pattern)]
    # A name is percent-encoded in an address, so that a [ or ? in it is not taken for a pattern.
    files = [_remote_file(f"{directory}/{quote(name)}", files_by_name[name]) for name in names]
    return sorted(files, key=lambda file: file.location)


def _remote_file(location: str, info: Any) -> InputFile:
    """Return the input file at a location, given its `pyarrow.fs.FileInfo`."""
    return InputFile(location=location, bytes=info.size, mtime_ns=info.mtime_ns or 0)


def _fs() -> ModuleType:
    return require(
        "pyarrow.fs", extra="data", purpose="reading and writing addresses such as s3://"
    )


def open_directory(location: str) -> Directory:
    """Return the output directory at a path or an address; it may not exist yet."""
    if is_remote(location):
        return _RemoteDir(location)
    return LocalDir(location, temporary_dir=UNFINISHED)


class _RemoteDir(Directory):
    """Directory of an object store or of HDFS; see `Directory` for the methods."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self._system, self._path = _file_system(self.location)

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        # Written to a temporary file first: if writing fails, closing the stream may publish an
        # incomplete file.
        temporary = f"{self._path}/{UNFINISHED}/{uuid4().hex}.part"
        path = f"{self._path}/{name}"
        with _remote_errors(f"{self.location}/{name}", "written"):
            for file_path in (temporary, path):
                self._system.create_dir(file_path.rpartition("/")[0], recursive=True)
            with self._system.open_output_stream(temporary) as file:
                yield file
            self._system.move(temporary, path)

    def read(self, name: str) -> bytes | None:
        with _remote_errors(f"{self.location}/{name}", "read"), suppress(FileNotFoundError):
            with self._system.open_input_stream(f"{self._path}/{name}") as stream:
                content: bytes = stream.read()
            return content
        return None

    def names(self, subdir: str = "") -> list[str]:
        path = f"{self._path}/{subdir}".rstrip("/")
        with _remote_errors(f"{self.location}/{subdir}", "read"):
            selector = _fs().FileSelector(path, allow_not_found=True)
            return sorted(info.base_name for info in self._system.get_file_info(selector))

    def remove(self, name: str) -> None:
        path = f"{self._path}/{name}"
        with _remote_errors(f"{self.location}/{name}", "removed"):
            kind = self._system.get_file_info(path).type
            if kind == _fs().FileType.Directory:
                self._system.delete_dir(path)
            elif kind == _fs().FileType.File:
                self._system.delete_file(path)
