"""Output directories of jobs that can be interrupted and resumed."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

from readagain.errors import (
    MAX_QUOTE_LENGTH,
    ArgumentError,
    ArtifactError,
    ConfigError,
    os_errors,
    quoted,
)
from readagain.storage.checksums import add_checksum, parse_object, verify_checksum
from readagain.storage.differences import differences, join_first
from readagain.storage.files import atomic_write, refuse_links, remove
from readagain.storage.locks import LOCK_FILE, locked_dir


class Directory(ABC):
    """Directory whose files are read and written by name.

    A name may contain subdirectories: "bad/part-0.jsonl".
    """

    location: str

    @abstractmethod
    def create(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a temporary file for writing; it becomes the file `name` when the block ends."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically; return when it is on the disk."""
        with self.create(name) as file:
            file.write(content)

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if it does not exist."""

    @abstractmethod
    def names(self, subdir: str = "") -> list[str]:
        """Return the sorted names in the directory or a subdirectory; none if it is missing."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file or a subdirectory, if it exists."""


class LocalDir(Directory):
    """Local or mounted directory.

    `temporary_dir` is the subdirectory for temporary files (default: the directory itself).
    """

    def __init__(self, path: Path | str, *, temporary_dir: str = "") -> None:
        self.location = str(path)
        self.path = Path(path)
        self._temporary_dir = self.path / temporary_dir

    @contextmanager
    def create(self, name: str) -> Iterator[BinaryIO]:
        """Open a temporary file for writing; it becomes the file `name` when the block ends."""
        with self._write_errors():
            path = self._file(name)
            for directory in (path.parent, self._temporary_dir):
                directory.mkdir(parents=True, exist_ok=True)
            with (
                atomic_write(path, durable=True, temporary_dir=self._temporary_dir) as temporary,
                temporary.open("wb") as file,
            ):
                yield file

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if it does not exist."""
        path = self.path / name
        with os_errors(path, "read"), suppress(FileNotFoundError, NotADirectoryError):
            return self._file(name).read_bytes()
        return None

    def names(self, subdir: str = "") -> list[str]:
        """Return the sorted names in the directory or a subdirectory; none if it is missing."""
        path = self.path / subdir
        with os_errors(path, "read"):
            refuse_links(path, below=self.path)
            return sorted(file.name for file in path.iterdir()) if path.is_dir() else []

    def remove(self, name: str) -> None:
        """Remove a file or a subdirectory, if it exists."""
        with self._write_errors():
            remove(self._file(name))

    def _file(self, name: str) -> Path:
        """Return the path of a file, after checking that its directories are not links."""
        path = self.path / name
        refuse_links(path.parent, below=self.path)
        return path

    def _write_errors(self) -> AbstractContextManager[None]:
        advice = "fix this, then run the same command again to resume"
        return os_errors(self.location, "written to", advice=advice)


class OutputDir:
    """Output directory of a resumable job; each kind of job has a subclass.

    The directory stores the identity of its job: the settings and inputs that determine the
    output. A later process with the same identity resumes the job. A process with another identity
    fails.
    """

    content: ClassVar[str]
    """What the directory contains, for messages; for example "training run"."""
    action: ClassVar[str]
    """What the job does, for the message to a second process; for example "training into"."""
    identity_file: ClassVar[str]
    """Name of the JSON file with the identity."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory

    @classmethod
    @contextmanager
    def open(
        cls, directory: Directory, identity: Mapping[str, Any], *, overwrite: bool, **options: Any
    ) -> Iterator[Self]:
        """Open the directory of a new or an interrupted job, and lock it until the block ends.

        Object stores have no locks: two processes that run the same job there do all work twice.

        Args:
            directory: the directory.
            identity: JSON object that determines the output.
            overwrite: whether to delete the job in the directory first.
            options: other arguments of the constructor.

        Raises:
            ConfigError: if the directory cannot be written to, is used by another process, or
                contains another job or other files.
        """
        output = cls(directory, **options)
        output._refuse_other_files()  # before the lock file is created in the directory
        with (
            locked_dir(directory.path, action=cls.action)
            if isinstance(directory, LocalDir)
            else nullcontext()
        ):
            output._refuse_other_files()
            if overwrite:
                output.clear()
            else:
                before = output.read_identity()
                if before is not None:
                    output.check_identity(before, json.loads(json.dumps(identity)))
                    output.remove_outdated(identity)
            output.write_json(cls.identity_file, add_checksum(identity))
            yield output

    def is_own_name(self, name: str) -> bool:
        """Return whether `name` may be of a job that has not written its identity yet."""
        return name == self.identity_file.partition("/")[0] or name.endswith(".part")

    def has_output(self) -> bool:
        """Return whether the directory contains a job of this kind; it may have other files too."""
        return self.directory.read(self.identity_file) is not None

    def clear(self) -> None:
        """Delete the files of the job, if there is one, and no others."""
        raise NotImplementedError

    def read_identity(self) -> dict[str, Any] | None:
        """Return the identity of the job in the directory, or None if there is no job."""
        text = self.directory.read(self.identity_file)
        if text is None:
            return None
        identity = verify_checksum(text)
        if identity is None:
            raise self.damaged_error(self.identity_file)
        return identity

    def check_identity(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise `ArgumentError` if the identity in the directory, `before`, differs from `now`."""
        changes = [
            f"{_printable(name)} was {quoted(old)} and is now {quoted(new)}"
            for name, old, new in differences(before, now)
        ]
        if changes:
            raise ArgumentError(
                "{0}: contains another {1}: {2}; choose another folder, or start over with "
                "{overwrite}",
                self.directory.location,
                self.content,
                join_first(changes),
            )

    def remove_outdated(self, identity: Mapping[str, Any]) -> None:
        """Delete files that a job with this identity does not write; by default none.

        For subclasses whose `check_identity` accepts changed inputs. The stored identity, which may
        list the files, is overwritten afterwards.
        """

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Read a JSON object; return None if the file does not exist."""
        text = self.directory.read(name)
        if text is None:
            return None
        content = parse_object(text)
        if content is None:
            raise self.damaged_error(name)
        return content

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON object; return when it is on the disk."""
        self.directory.write(name, f"{json.dumps(content, indent=1)}\n".encode())

    def damaged_error(self, name: str) -> ArtifactError:
        """Return the error for a damaged file of the job."""
        return ArtifactError(
            f"{self.directory.location}/{name}: damaged; choose another folder, or overwrite it"
        )

    def _refuse_other_files(self) -> None:
        """Raise `ConfigError` if the directory has other files and no job of this kind."""
        names = self.directory.names()
        other = [name for name in names if name != LOCK_FILE and not self.is_own_name(name)]
        if other and not self.has_output():
            raise ConfigError(
                f"{self.directory.location}: the folder contains '{other[0]}' and no "
                f"{self.content}; choose another folder"
            )


def _printable(name: str) -> str:
    """Return the name of a setting; quoted if it is long or has control characters."""
    return name if name.isprintable() and len(name) <= MAX_QUOTE_LENGTH else quoted(name)
