"""Lines of a file in blocks, without ever holding a line of unbounded length."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from readagain.corpus.compression import open_bytes
from readagain.corpus.readers.source import BLOCK_BYTES, BLOCK_RECORDS, MAX_RECORD_BYTES, Block
from readagain.errors import DataError

TOO_LONG = (
    f"a line of more than {MAX_RECORD_BYTES:,} bytes; "
    "expected one record a line, so split it or name the right --format"
)
BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
_CONVERT = "UTF-16 text; expected UTF-8, so convert it: iconv -f utf-16 -t utf-8"


def numbered_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    r"""Yield each line without its end; None for one that is too long to be a record.

    Only `\n` and `\r\n` end a line: U+2028 and its kind may stand inside a JSON string.
    """
    first = True
    while line := stream.readline(MAX_RECORD_BYTES + 1):
        if len(line) > MAX_RECORD_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_RECORD_BYTES)
            yield None
        else:
            yield (line.removeprefix(BOM) if first else line).rstrip(b"\r\n")
        first = False


def line_blocks(path: Path, max_records: int | None = None) -> Iterator[Block]:
    """Cut a file into blocks of lines; the payload is a list as `numbered_lines` yields."""
    with open_bytes(path) as (stream, raw):
        first, size = 1, 0
        lines: list[bytes | None] = []
        for line in numbered_lines(stream):
            lines.append(line)
            size += len(line or b"")
            if len(lines) == (max_records or BLOCK_RECORDS) or size >= BLOCK_BYTES:
                yield Block(first=first, payload=lines, position=raw.tell())
                first, size, lines = first + len(lines), 0, []
        if lines:
            yield Block(first=first, payload=lines, position=raw.tell())


def undecodable(error: UnicodeDecodeError) -> str:
    """Say which byte of a line the encoding has no meaning for, and what to do."""
    if error.object.startswith(_WIDE_BOMS):
        return _CONVERT
    byte = error.object[error.start]
    return (
        f"byte 0x{byte:02x} at column {error.start + 1} is not {error.encoding}; "
        "convert the file, or name its --encoding (for example latin-1)"
    )


def refuse_wide_encoding(path: Path, head: bytes) -> None:
    """Refuse UTF-16 and UTF-32, whose line ends cannot be found byte by byte."""
    if head.startswith(_WIDE_BOMS):
        raise DataError(f"{path}: {_CONVERT} {path.name} > NEW")
