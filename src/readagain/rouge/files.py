"""Files of summaries and references with one text per line."""

from collections.abc import Sequence
from pathlib import Path

from readagain.errors import DataError
from readagain.formats.files import named_errors
from readagain.formats.lines import reject_utf16


def read_text_lines(path: Path) -> list[str]:
    """Read the lines of a UTF-8 file; only LF and CRLF end a line.

    Raises:
        DataError: if the file is missing, empty or not UTF-8.
    """
    with named_errors(path):
        content = path.read_bytes()
    if not content:
        raise DataError(f"{path}: empty file; expected one text per line")
    reject_utf16(path, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}:{line}: byte 0x{content[error.start]:02x} is not UTF-8; convert the file, "
            f"for example with: iconv -f latin1 -t utf-8 {path.name}"
        ) from error
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def read_references(paths: Sequence[Path]) -> list[list[str]]:
    """Read reference files; line n of every file is a reference of item n.

    Returns:
        The references of each item.

    Raises:
        DataError: if a line is empty or the numbers of lines differ.
    """
    lines_by_file = [read_text_lines(path) for path in paths]
    require_equal_lengths(dict(zip(paths, map(len, lines_by_file), strict=True)))
    for path, lines in zip(paths, lines_by_file, strict=True):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise DataError(
                    f"{path}:{number}: empty reference; fill it in, or remove line {number} "
                    "from every file"
                )
    return [list(references) for references in zip(*lines_by_file, strict=True)]


def require_equal_lengths(num_lines: dict[Path, int]) -> None:
    """Raise an error unless all files have the same number of lines.

    Raises:
        DataError: with the number of lines of every file.
    """
    if len(set(num_lines.values())) > 1:
        counts = ", ".join(f"{path} has {count}" for path, count in num_lines.items())
        raise DataError(
            f"line counts differ: {counts}; expected line n of every file to belong to item n"
        )
