"""Results written whole or not at all."""

from pathlib import Path

from readagain.errors import DataError
from readagain.whole_file import written_or_told


def check_writable(path: Path | None) -> None:
    """Notice before any work that a file could not be written after it.

    Raises:
        DataError: when it is a folder, or its folder is missing.
    """
    if path is None:
        return
    if path.is_dir():
        raise DataError(f"{path}: a folder; name a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path}: no folder '{path.parent}' to write it into; make it first")


def write_whole(path: Path, content: str) -> None:
    """Write a text file beside its place, then put it there.

    Raises:
        DataError: when it cannot be written; what stood there is then unchanged.
    """
    with written_or_told(path) as aside:
        aside.write_text(content, encoding="utf-8", newline="\n")
