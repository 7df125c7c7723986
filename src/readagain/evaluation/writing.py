"""Results written whole or not at all."""

from pathlib import Path

from readagain.storage.files import write_output


def write_whole(path: Path, content: str) -> None:
    """Write a text file beside its place, then put it there.

    Raises:
        DataError: when it cannot be written; what stood there is then unchanged.
    """
    with write_output(path) as aside:
        aside.write_text(content, encoding="utf-8", newline="\n")
