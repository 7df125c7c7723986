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


_OBEYED = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), *range(0x7F, 0xA0))
    if chr(code) not in "\t\n"
}


def for_terminal(text: str) -> str:
    """Replace the signs that a terminal obeys: what is copied from a text is a stranger's."""
    return text.translate(_OBEYED)


def open_missing_streams() -> None:
    """Let a command whose streams were closed, as services may be started, read and say nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


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
