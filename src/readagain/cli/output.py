"""Standard output: in any encoding, without a reader, and where nothing more fits."""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What it is called when nothing more fits: on a disk, into a quota, into a file."""


def take_any_text() -> None:
    """Spell out what the encoding of standard output lacks, instead of failing over it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Let what is printed from now on, and what is still to be flushed, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def lasting_console() -> "Console":
    """Return a console for hours of work, which goes on in silence when its reader leaves."""
    from rich.console import Console

    class LastingConsole(Console):
        def on_broken_pipe(self) -> None:
            self.quiet = True
            drop_output()

    return LastingConsole()
