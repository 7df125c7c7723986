"""Lines and encodings of text files."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from readagain.errors import ArgumentError, DataError
from readagain.formats.files import open_bytes
from readagain.formats.records import (
    BLOCK_BYTES,
    BLOCK_RECORDS,
    MAX_RECORD_BYTES,
    SET_ENCODING,
    Block,
    InvalidRecord,
)

TOO_LONG = (
    f"a line of more than {MAX_RECORD_BYTES:,} bytes; "
    "expected one record per line, so split it or set the right format"
)
BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_CONVERT = "UTF-16 text; expected UTF-8, so convert it: iconv -f utf-16 -t utf-8"


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    r"""Yield each line without its line break; None for a line that is too long for a record.

    Only `\n` and `\r\n` end a line: a JSON string may contain U+2028 and similar characters.
    """
    is_first = True
    while line := stream.readline(MAX_RECORD_BYTES + 1):
        if len(line) > MAX_RECORD_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_RECORD_BYTES)
            yield None
        else:
            yield (line.removeprefix(BOM) if is_first else line).rstrip(b"\r\n")
        is_first = False


def line_blocks(path: Path, records_per_block: int | None = None) -> Iterator[Block]:
    """Split a file into blocks; the payload is a list of lines, as yielded by `read_lines`."""
    with open_bytes(path) as (stream, raw):
        first, size = 1, 0
        lines: list[bytes | None] = []
        for line in read_lines(stream):
            lines.append(line)
            size += len(line or b"")
            if len(lines) == (records_per_block or BLOCK_RECORDS) or size >= BLOCK_BYTES:
                yield Block(first=first, payload=lines, position=raw.tell())
                first, size, lines = first + len(lines), 0, []
        if lines:
            yield Block(first=first, payload=lines, position=raw.tell())


def decode_line(line: bytes | None, encoding: str, *, where: str) -> str | InvalidRecord:
    """Decode a line from `read_lines`; return an `InvalidRecord` if that is not possible."""
    if line is None:
        return InvalidRecord(where, TOO_LONG)
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        return InvalidRecord(where, describe_decode_error(error), decode_lossless(line, encoding))


def decode_lossless(line: bytes, encoding: str) -> str:
    """Decode a line; bytes that are not valid in the encoding become lone surrogates."""
    return line.decode(encoding, "surrogateescape")


def describe_decode_error(error: UnicodeDecodeError) -> str:
    """Return a reason for an `InvalidRecord`: the byte that is not valid, and what to do."""
    if error.object.startswith(_UTF16_BOMS):
        return _CONVERT
    byte = error.object[error.start]
    return f"byte 0x{byte:02x} at column {error.start + 1} is not {error.encoding}; {SET_ENCODING}"


def reject_utf16(path: Path, head: bytes) -> None:
    """Raise `DataError` for a byte order mark of UTF-16 or UTF-32, whose line ends are longer.

    `head` are the first bytes of the file, at least two.
    """
    if head.startswith(_UTF16_BOMS):
        raise DataError(f"{path}: {_CONVERT} {path.name} > NEW")


def check_encoding(encoding: str) -> None:
    """Raise `ArgumentError` for an unknown encoding, or one whose line ends are not ASCII."""
    try:
        newline = "\n".encode(encoding)
    except LookupError as error:
        raise ArgumentError(
            "{encoding}: '{0}' is unknown; use for example utf-8, latin-1 or cp1252", encoding
        ) from error
    if newline != b"\n":
        raise ArgumentError(
            "{encoding}: '{0}' does not end lines as ASCII does; convert the file to UTF-8",
            encoding,
        )
