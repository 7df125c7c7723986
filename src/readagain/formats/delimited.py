"""CSV and TSV with a header line."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from readagain.errors import DataError, pluralize, quoted
from readagain.formats.columns import describe_invalid_text
from readagain.formats.files import open_bytes, plain_name
from readagain.formats.jsonl import to_json
from readagain.formats.lines import TOO_LONG, decode_lossless, read_lines
from readagain.formats.records import (
    BLOCK_BYTES,
    BLOCK_RECORDS,
    MAX_RECORD_BYTES,
    Block,
    InputError,
    InvalidRecord,
    Record,
)

DELIMITERS = (",", "\t", ";", "|")
DelimitedRow = tuple[int, list[str]] | InvalidRecord
"""A row as the number of its first line and its cells, or an invalid row."""

_CELL_BYTES = 50
"""Memory of a cell besides its characters."""

_QUOTED = re.compile(r'"[^"]*"')
_CARRIAGE_RETURN = (
    "a carriage return inside a row; expected lines that end in LF or CR LF, "
    "or quotes around a field with line breaks"
)
_OPEN_QUOTE = "a quote that opens here is never closed, so the rest of the file is in one field"


def column_names(path: Path, encoding: str) -> list[str] | None:
    """Return the names in the header line; None if the file is empty."""
    with open_bytes(path) as (stream, _):
        lines = _Lines(path, read_lines(stream), encoding)
        return _read_header(path, _read_rows(lines, detect_delimiter(path, encoding)))


def _read_header(path: Path, rows: Iterator[DelimitedRow]) -> list[str] | None:
    header = next(rows, None)
    if header is None:
        return None
    if isinstance(header, InvalidRecord):
        raise DataError(f"{header.where}: {header.reason}")
    if problem := describe_invalid_text("".join(header[1])):
        raise InputError(f"{{0}}: the header {problem}", path)
    return header[1]


def read_blocks(
    path: Path,
    encoding: str,
    *,
    columns: Sequence[str] | None = None,
    records_per_block: int | None = None,
) -> Iterator[Block]:
    """Split a file into blocks; the payload is a list of `DelimitedRow`.

    A quoted field may contain line breaks, so the rows are found by parsing the file here and not
    in the workers. This costs little: tokenizing the texts, as the workers do, takes several times
    longer than parsing with the csv module.
    """
    with open_bytes(path) as (stream, raw):
        lines = _Lines(path, read_lines(stream), encoding)
        rows = _read_rows(lines, detect_delimiter(path, encoding))
        header = tuple(_read_header(path, rows) or ())
        payload: list[DelimitedRow] = []
        size, first = 0, 2  # line 1 is the header
        for row in rows:
            payload.append(row)
            num_cells = 0 if isinstance(row, InvalidRecord) else len(row[1])
            size += lines.row_bytes + _CELL_BYTES * num_cells
            if len(payload) == (records_per_block or BLOCK_RECORDS) or size >= BLOCK_BYTES:
                yield Block(first=first, payload=payload, position=raw.tell(), columns=header)
                payload, size, first = [], 0, lines.number + 1
        if payload:
            yield Block(first=first, payload=payload, position=raw.tell(), columns=header)


def parse_block(block: Block, path: Path, encoding: str) -> Iterator[Record | InvalidRecord]:
    """Yield each row as a record with named fields; it must have as many fields as the header."""
    header = block.columns
    for row in block.payload:
        if isinstance(row, InvalidRecord):
            yield row
        elif len(row[1]) != len(header):
            yield InvalidRecord(
                f"{path}:{row[0]}",
                f"{pluralize(len(row[1]), 'field')}; the header has {len(header)} "
                f"({', '.join(map(quoted, header[:8]))}); check for a missing quote or delimiter",
                row[1],
            )
        else:
            yield Record(row[0], dict(zip(header, row[1], strict=True)))


class _Lines:
    """Iterable of decoded lines for `csv.reader`.

    It counts the lines, remembers those of the current row, and replaces lines that are too long,
    which are None in `lines`, by an entry in `too_long`. `_read_rows` resets the row.
    """

    def __init__(self, path: Path, lines: Iterator[bytes | None], encoding: str) -> None:
        self.path = path
        self.number = 0
        """Number of the line that was read last, from 1."""
        self.row_bytes = 0
        """Bytes of the lines of the current row, including line breaks."""
        self.row_lines: list[str] = []
        """The lines of the current row."""
        self.row_start = 1
        """Number of the first line of the current row."""
        self.too_long: list[InvalidRecord] = []
        self.is_at_end = False
        self._lines = lines
        self._encoding = encoding

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            self.row_bytes += len(line or b"") + 1
            if self.row_bytes > MAX_RECORD_BYTES:
                raise csv.Error(f"a row of more than {MAX_RECORD_BYTES:,} bytes")
            if line is None:
                self.too_long.append(InvalidRecord(f"{self.path}:{self.number}", TOO_LONG))
                if not self.row_lines:
                    self.row_start = self.number + 1
            else:
                # Invalid bytes become lone surrogates, so that the row can still be parsed;
                # `get_text` then rejects it with its line number.
                self.row_lines.append(decode_lossless(line, self._encoding))
                yield self.row_lines[-1] + "\n"
        self.is_at_end = True


def _read_rows(lines: _Lines, delimiter: str) -> Iterator[DelimitedRow]:
    """Yield the rows, including the header; skip empty rows."""
    csv.field_size_limit(2 * MAX_RECORD_BYTES)  # never reached: `_Lines` limits the whole row
    reader = csv.reader(iter(lines), delimiter=delimiter)
    while True:
        lines.row_start, lines.row_bytes = lines.number + 1, 0
        lines.row_lines.clear()
        problem, row = "", None
        try:
            row = next(reader, None)
            # The reader requests a line after the last one only if the row is still incomplete.
            if row is not None and lines.is_at_end:
                problem = _OPEN_QUOTE
        except csv.Error as error:
            if "new-line" not in str(error):  # "new-line character seen in unquoted field"
                raise DataError(
                    f"{lines.path}:{lines.row_start}: {error}; check for an unclosed quote"
                ) from error
            problem = _CARRIAGE_RETURN  # the reader continues with the next line
        yield from lines.too_long
        lines.too_long.clear()
        if problem:
            where = f"{lines.path}:{lines.row_start}"
            yield InvalidRecord(where, problem, "\n".join(lines.row_lines))
        elif row is None:
            return
        elif row:
            yield lines.row_start, row


def detect_delimiter(path: Path, encoding: str) -> str:
    """Return the delimiter: a tab for .tsv and .tab, else the most frequent one in the header."""
    if plain_name(path).endswith((".tsv", ".tab")):
        return "\t"
    with open_bytes(path) as (stream, _):
        header = (next(read_lines(stream), None) or b"").decode(encoding, "replace")
    return max(DELIMITERS, key=_QUOTED.sub("", header).count)


def to_csv(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    delimiter: str,
    *,
    has_header: bool = True,
    has_bom: bool = False,
) -> bytes:
    """Return a CSV file in UTF-8; lists and objects are written as JSON.

    An empty `delimiter` means a comma. `has_bom` adds a byte order mark before the header.
    """
    lines = []
    if has_header:
        lines = ["\ufeff" * has_bom + _csv_line(columns, delimiter)]
    lines += (_csv_line([_cell(row.get(name)) for name in columns], delimiter) for row in rows)
    # Invalid bytes of the input are written unchanged.
    return "".join(lines).encode("utf-8", "surrogateescape")


def _csv_line(cells: Sequence[str], delimiter: str) -> str:
    """Return one row; a cell with any kind of line break is quoted.

    The csv module quotes only the characters of its line terminator: with LF, it would not quote a
    cell that contains CR. So the terminator is CR LF here, and is then replaced with LF.
    """
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=delimiter or ",", lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return to_json(value) if isinstance(value, list | dict) else str(value)
