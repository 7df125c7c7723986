"""Standard output: closed streams, encodings, consoles and tables."""

import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from readagain.errors import ConfigError, for_terminal

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod


def prepare_streams() -> None:
    """Replace closed standard streams by the null device; escape what stdout cannot encode."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Redirect standard output to the null device; buffered text is lost."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_new(path: Path) -> None:
    """Raise `ConfigError` if the output file exists already; a pipe or device may exist."""
    if path.is_file():
        raise ConfigError(
            f"{path}: exists already; name another file, or replace it with --overwrite"
        )


def persistent_console() -> "Console":
    """Return a console that becomes silent if its pipe is closed, so that long work continues."""
    from rich.console import Console

    class PersistentConsole(Console):
        def on_broken_pipe(self) -> None:
            self.quiet = True
            discard_output()

    return PersistentConsole()


def print_table(columns: "dict[str, JustifyMethod]", rows: Iterable[Sequence[str]]) -> None:
    """Print a table; if output is not a terminal, each row is one line, for grep and cut.

    Args:
        columns: alignment of each column by its heading; the last column may be wrapped.
        rows: the texts of each row.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, alignment in columns.items():
        table.add_column(heading, justify=alignment, no_wrap=heading != [*columns][-1])
    for row in rows:
        table.add_row(*(escape(for_terminal(text)) for text in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)
