"""The folder that a job writes into: on this machine, or wherever pyarrow's file systems reach."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from readagain.batch.files import file_system, is_remote, told_by_name
from readagain.errors import DataError, require
from readagain.storage.files import sync_dir, write_synced

UNFINISHED = "unfinished"
"""The subfolder of what only an unfinished job needs."""


class Folder(Protocol):
    """Files by their name in a folder; a name may lead into a subfolder."""

    location: str

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is there whole or not at all, and lasts once this returns."""
        ...

    def read(self, name: str) -> bytes | None:
        """Read a file; None if there is none."""
        ...

    def names(self, subfolder: str = "") -> list[str]:
        """List what is in the folder, or in a subfolder, in order; nothing if it is not there."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file or a subfolder, if it is there."""
        ...


def open_folder(location: str) -> Folder:
    """Return the folder at a path or an address; it need not be there yet."""
    return _ArrowFolder(location) if is_remote(location) else _LocalFolder(location)


class _LocalFolder:
    """A folder on this machine, or one that is mounted here."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._path = Path(location)

    def write(self, name: str, content: bytes) -> None:
        path = self._path / name
        # A name of its own for each attempt: a process that is about to end with its killed
        # parent may still be writing the same file.
        aside = self._path / UNFINISHED / f"{uuid4().hex}.part"
        with self._told():
            for folder in (aside.parent, path.parent):
                folder.mkdir(parents=True, exist_ok=True)
            try:
                write_synced(aside, content)
                aside.replace(path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
            sync_dir(path.parent)

    def read(self, name: str) -> bytes | None:
        with (
            told_by_name(f"{self.location}/{name}", "read"),
            suppress(FileNotFoundError, NotADirectoryError),
        ):
            return (self._path / name).read_bytes()
        return None

    def names(self, subfolder: str = "") -> list[str]:
        path = self._path / subfolder
        with told_by_name(str(path), "read"):
            return sorted(each.name for each in path.iterdir()) if path.is_dir() else []

    def remove(self, name: str) -> None:
        path = self._path / name
        with self._told():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(
                f"{self.location}: cannot be written to: {error.strerror or error}; "
                "once that is mended, the same command goes on where it stopped"
            ) from error


class _ArrowFolder:
    """A folder of an object store or of HDFS."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/")
        self._system, self._path = file_system(self.location)
        self._fs = require("pyarrow.fs", extra="data", purpose=f"{location}: reaching it")

    def write(self, name: str, content: bytes) -> None:
        # Renamed here too: a stream that fails half-way is closed, which may count as its end.
        aside = f"{self._path}/{UNFINISHED}/{uuid4().hex}.part"
        path = f"{self._path}/{name}"
        with told_by_name(f"{self.location}/{name}", "written"):
            for each in (aside, path):
                self._system.create_dir(each.rpartition("/")[0], recursive=True)
            with self._system.open_output_stream(aside) as stream:
                stream.write(content)
            self._system.move(aside, path)

    def read(self, name: str) -> bytes | None:
        with told_by_name(f"{self.location}/{name}", "read"), suppress(FileNotFoundError):
            with self._system.open_input_stream(f"{self._path}/{name}") as stream:
                content: bytes = stream.read()
            return content
        return None

    def names(self, subfolder: str = "") -> list[str]:
        path = f"{self._path}/{subfolder}".rstrip("/")
        with told_by_name(f"{self.location}/{subfolder}", "read"):
            selector = self._fs.FileSelector(path, allow_not_found=True)
            return sorted(info.base_name for info in self._system.get_file_info(selector))

    def remove(self, name: str) -> None:
        path = f"{self._path}/{name}"
        with told_by_name(f"{self.location}/{name}", "removed"):
            kind = self._system.get_file_info(path).type
            if kind == self._fs.FileType.Directory:
                self._system.delete_dir(path)
            elif kind == self._fs.FileType.File:
                self._system.delete_file(path)
