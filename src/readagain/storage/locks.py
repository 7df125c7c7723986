"""Locks on directories, released when the process that holds them ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from readagain.errors import ConfigError, os_errors

LOCK_FILE = ".lock"
"""The lock file in a locked directory; it stays there after the lock is released."""


@contextmanager
def locked_file(path: Path, *, busy: str) -> Iterator[None]:
    """Lock a file until the block ends, without waiting for another process.

    The file is created if needed; a symbolic link is not followed. `busy` is the error message if
    another process holds the lock.

    Raises:
        ConfigError: if another process holds the lock or the file cannot be locked, as on some
            network drives.
    """
    lock = FileLock(path, timeout=0)
    with os_errors(path, "locked", ConfigError, advice="choose another folder or drive"):
        try:
            lock.acquire()
        except Timeout:
            raise ConfigError(busy) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def locked_dir(path: Path, *, action: str) -> Iterator[None]:
    """Create a directory if needed, and lock it until the block ends.

    `action` is what this process does, for the message to a second process: "training into".

    Raises:
        ConfigError: if the directory cannot be written to or locked, or another process holds the
            lock.
    """
    with os_errors(path, "written to", ConfigError, advice="choose another folder"):
        path.mkdir(parents=True, exist_ok=True)
    busy = (
        f"{path}: another process is {action} this folder; "
        "wait for it, stop it, or choose another folder"
    )
    with locked_file(path / LOCK_FILE, busy=busy):
        yield
