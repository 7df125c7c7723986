"""Injected faults: the n-th operation on the files of a folder fails, as in the tests of SQLite.

Operations are opens, reads, writes, renames, fsyncs, mappings and other system calls on paths below
the folder, and allocations of arrays by readagain. Python's own functions are replaced, so that the
tests need no compiler. Files that C++ and Rust libraries open by name are not counted, except for
safetensors, whose functions are replaced where readagain uses them.
"""

import builtins
import errno
import io
import mmap
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Error of each operation: a full disk, a broken disk, or missing permissions.
ERRORS = {
    "open": errno.EACCES,
    "read": errno.EIO,
    "write": errno.ENOSPC,
    "rename": errno.EACCES,
    "mmap": errno.ENOMEM,
    "fsync": errno.EIO,
}
ON_PATHS = ("stat", "lstat", "mkdir", "rmdir", "unlink", "remove", "listdir", "scandir", "utime")
RENAMES = ("rename", "replace", "link")
ON_DESCRIPTORS = {"fsync": "fsync", "read": "read", "write": "write", "ftruncate": "write"}
ALLOCATIONS = ("concatenate", "zeros", "empty", "full", "arange", "repeat", "cumsum")


class Faults:
    """Counter of the operations on files below a folder; makes one of them fail.

    Args:
        folder: the folder.
        fail_at: number of the operation that fails, from 1; None lets all succeed.
        is_lasting: make all later operations fail too, as on a removed disk.
        is_memory: count only reads, mappings and allocations, and fail with MemoryError; otherwise
            allocations are not counted.
    """

    def __init__(
        self,
        folder: Path,
        *,
        fail_at: int | None = None,
        is_lasting: bool = False,
        is_memory: bool = False,
    ) -> None:
        self.operations: list[str] = []
        self._folder = f"{folder}{os.sep}"
        self._fail_at = fail_at
        self._is_lasting = is_lasting
        self._is_memory = is_memory
        self._lock = threading.Lock()
        self._real_readlink = os.readlink

    @property
    def failed(self) -> str:
        """The operation that failed, for messages of tests."""
        assert self._fail_at is not None
        return f"{self._fail_at}: {self.operations[self._fail_at - 1]}"

    def path_of(self, file: Any) -> str | None:
        """Return the path of a file, file name or descriptor, or None if it is not watched."""
        if isinstance(file, int):
            try:
                file = self._real_readlink(f"/proc/self/fd/{file}")
            except OSError:
                return None
        try:
            path = os.fsdecode(os.fspath(file))
        except TypeError:
            return None
        return path if f"{path}{os.sep}".startswith(self._folder) else None

    def count(self, operation: str, file: Any) -> None:
        """Count an operation; raise its error if it is the one to fail."""
        path = self.path_of(file)
        if path is not None:
            self.count_named(operation, path)

    def count_named(self, operation: str, name: str) -> None:
        """Count an operation on a watched file or on memory."""
        needs_memory = operation in ("read", "mmap", "allocate")
        if needs_memory if self._is_memory else operation != "allocate":
            self._count(operation, name)

    def _count(self, operation: str, name: str) -> None:
        with self._lock:
            self.operations.append(f"{operation} {name}")
            number = len(self.operations)
        if self._fail_at is None or number < self._fail_at:
            return
        is_first = number == self._fail_at
        if self._is_memory:
            if is_first:
                raise MemoryError
        elif is_first or self._is_lasting:
            code = ERRORS.get(operation, errno.EACCES)
            # Errors of reads and writes have no file name.
            names = () if operation in ("read", "write", "fsync", "mmap") else (name,)
            raise OSError(code, os.strerror(code), *names)


class _FaultyFile(io.FileIO):
    """File without a buffer whose reads and writes are counted."""

    def __init__(self, faults: Faults, path: str, *arguments: Any, **options: Any) -> None:
        self._faults = faults
        self._path = path
        super().__init__(*arguments, **options)

    def read(self, size: int | None = -1) -> bytes:
        self._faults.count_named("read", self._path)
        return super().read(-1 if size is None else size)

    def readall(self) -> bytes:
        self._faults.count_named("read", self._path)
        return super().readall()

    def readinto(self, buffer: Any) -> int:
        self._faults.count_named("read", self._path)
        return super().readinto(buffer)

    def write(self, content: Any) -> int:
        self._faults.count_named("write", self._path)
        return super().write(content)

    def truncate(self, size: int | None = None) -> int:
        self._faults.count_named("write", self._path)
        return super().truncate(size)


def _make_faulty_open(faults: Faults, real_open: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function like `open` whose files count their operations."""

    def faulty_open(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        path = faults.path_of(file)
        if path is None:
            return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if not isinstance(file, int):
            faults.count_named("open", path)
        raw_mode = mode.replace("b", "").replace("t", "")
        raw = _FaultyFile(faults, path, file, raw_mode, closefd=closefd, opener=opener)
        if "b" in mode and buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        buffer = io.BufferedRandom if "+" in mode else io.BufferedWriter
        stream = (buffer if set(raw_mode) & set("wax+") else io.BufferedReader)(raw, size)
        return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline)

    return faulty_open


def _count_calls(
    faults: Faults, operation: str, real: Callable[..., Any], file_at: int = 0
) -> Callable[..., Any]:
    """Return a function that counts its calls as an operation on one of its arguments."""

    def call(*arguments: Any, **options: Any) -> Any:
        faults.count(operation, arguments[file_at] if arguments else ".")
        return real(*arguments, **options)

    return call


def _count_allocations(faults: Faults, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numpy that counts its calls by readagain as allocations."""

    def call(*arguments: Any, **options: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("readagain."):
            faults.count_named("allocate", name)
        return real(*arguments, **options)

    return call


@contextmanager
def injected_faults(faults: Faults) -> Iterator[Faults]:
    """Replace the functions that open, read, write, map and allocate while the block runs."""
    import safetensors

    from readagain.storage import tensors

    class FaultyMmap(mmap.mmap):
        def __new__(cls, descriptor: int, *arguments: Any, **options: Any) -> "FaultyMmap":
            faults.count("mmap", descriptor)
            return super().__new__(cls, descriptor, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensors, "safe_open", _count_calls(faults, "mmap", safetensors.safe_open))
        if "readagain.training.checkpoint" in sys.modules:
            checkpoint = sys.modules["readagain.training.checkpoint"]
            patch.setattr(
                checkpoint, "load_file", _count_calls(faults, "mmap", checkpoint.load_file)
            )
        for name in ALLOCATIONS:
            patch.setattr(np, name, _count_allocations(faults, name, getattr(np, name)))
        # Make numpy write arrays with `write`, which is counted, instead of a C function.
        patch.setattr(np.lib.format, "isfileobj", lambda file: False)
        patch.setattr(
            sys.modules[np.lib.format.write_array.__module__], "isfileobj", lambda _: False
        )
        patch.setattr(mmap, "mmap", FaultyMmap)
        for name in ON_PATHS:
            patch.setattr(os, name, _count_calls(faults, name, getattr(os, name)))
        for name in RENAMES:
            patch.setattr(os, name, _count_calls(faults, "rename", getattr(os, name), file_at=1))
        for name, operation in ON_DESCRIPTORS.items():
            patch.setattr(os, name, _count_calls(faults, operation, getattr(os, name)))
        patch.setattr(os, "truncate", _count_calls(faults, "write", os.truncate))
        patch.setattr(os, "open", _count_calls(faults, "open", os.open))
        faulty_open = _make_faulty_open(faults, io.open)
        patch.setattr(io, "open", faulty_open)
        patch.setattr(builtins, "open", faulty_open)
        yield faults
