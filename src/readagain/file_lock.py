"""A lock on an open file, which ends with the process that holds it."""

import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def lock_file(file: IO[str]) -> bool:
    """Take the lock of an open file without waiting; return whether it was free.

    It belongs to the process, so a killed one leaves nothing behind that must be removed.
    """
    try:
        if sys.platform == "win32":
            file.seek(0)  # a lock is on bytes there, and all must ask for the same one
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
