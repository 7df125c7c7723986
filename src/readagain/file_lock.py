"""Locks on files and folders, which end with the process that holds them."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from readagain.errors import ConfigError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_FILE = ".lock"
"""In a folder that is held; it stays there afterwards, and holds nobody."""
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # how systems say that another has the lock


def lock_file(file: IO[str]) -> bool:
    """Take the lock of an open file without waiting; return whether it was free.

    It belongs to the process, so a killed one leaves nothing behind that must be removed.

    Raises:
        ConfigError: where there are no locks, as on some network drives.
    """
    try:
        if sys.platform == "win32":
            file.seek(0)  # a lock is on bytes there, and all must ask for the same one
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise ConfigError(
            f"{file.name}: cannot be locked: {error.strerror}; choose a folder on another drive"
        ) from error
    return True


@contextmanager
def locked_dir(path: Path, *, doing: str, named_by: str) -> Iterator[None]:
    """Make a folder if it is not there, and keep other processes out of it meanwhile.

    Args:
        path: the folder.
        doing: what its holder does, for whoever comes second: "training into".
        named_by: the option or argument that named it.

    Raises:
        ConfigError: when it cannot be written to or locked, or another process holds it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / LOCK_FILE).open("a+")
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written to: {error.strerror}; choose another {named_by}"
        ) from error
    with lock:
        if not lock_file(lock):
            lock.seek(0)
            raise ConfigError(
                f"{path}: process {lock.read().strip() or 'unknown'} is {doing} this folder; "
                f"wait for it, stop it, or choose another {named_by}"
            )
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)
