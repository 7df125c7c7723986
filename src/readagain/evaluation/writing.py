"""Results written whole or not at all."""

from pathlib import Path

from readagain.whole_file import written_or_told


def write_whole(path: Path, content: str) -> None:
    """Write a text file beside its place, then put it there.

    Raises:
        DataError: when it cannot be written; what stood there is then unchanged.
    """
    with written_or_told(path) as aside:
        aside.write_text(content, encoding="utf-8", newline="\n")
