"""Locks on directories, released when the process that holds them ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from readagain.errors import ConfigError, os_errors

LOCK_FILE = ".lock"
"""The lock file in a locked directory; it stays there after the lock is released."""


@contextmanager
def locked_dir(path: Path, *, action: str) -> Iterator[None]:
    """Create a directory if needed, and lock it until the block ends, without waiting.

    `action` is what this process does, for the message to a second process: "training into".
    Symbolic links in place of the lock file are not followed.

    Raises:
        ConfigError: if the directory cannot be written to or locked, as on some network drives, or
            another process holds the lock.
    """
    with os_errors(path, "written to", ConfigError, advice="choose another folder"):
        path.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path / LOCK_FILE, timeout=0)
    with os_errors(lock.lock_file, "locked", ConfigError, advice="choose another folder or drive"):
        try:
            lock.acquire()
        except Timeout:
            raise ConfigError(
                f"{path}: another process is {action} this folder; wait for it, stop it, or choose "
                "another folder"
            ) from None
    try:
        yield
    finally:
        lock.release()
