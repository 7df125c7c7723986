"""CSV and TSV, with a header line."""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from readagain.corpus.compression import open_bytes, plain_name
from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.lines import TOO_LONG, numbered_lines
from readagain.corpus.readers.source import (
    BLOCK_BYTES,
    BLOCK_RECORDS,
    MAX_RECORD_BYTES,
    Block,
    CorpusFormat,
    CorpusInput,
)
from readagain.counts import counted
from readagain.errors import DataError, quoted

DELIMITERS = (",", "\t", ";", "|")
Row = tuple[int, list[str]] | InvalidRecord

_QUOTED = re.compile(r'"[^"]*"')

_STRAY_RETURN = (
    "a carriage return inside a row; expected lines that end in LF or CR LF, "
    "or quotes around a field that holds line ends"
)
_OPEN_QUOTE = "a quote that opens here is never closed, so the rest of the file is in one field"


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Cut the file into blocks of rows."""
    assert source.columns is not None
    return row_blocks(source.path, source.encoding)


def row_blocks(path: Path, encoding: str, max_records: int | None = None) -> Iterator[Block]:
    """Cut a file into blocks of rows; the payload is a list of `Row`s.

    A quoted field may hold line breaks, so rows can only be found by parsing; the csv module
    does that in C, several times faster than the words can be handled.
    """
    with open_bytes(path) as (stream, raw):
        lines = _Lines(path, numbered_lines(stream), encoding)
        rows = _rows(lines, delimiter_of(path, encoding))
        next(rows, None)  # the header
        payload: list[Row] = []
        size, first = 0, 2
        for row in rows:
            payload.append(row)
            size += 0 if isinstance(row, InvalidRecord) else sum(map(len, row[1]))
            if len(payload) == (max_records or BLOCK_RECORDS) or size >= BLOCK_BYTES:
                yield Block(first=first, payload=payload, position=raw.tell())
                payload, size, first = [], 0, lines.number + 1
        if payload:
            yield Block(first=first, payload=payload, position=raw.tell())


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Take text and headline out of each row."""
    assert source.columns is not None
    header = column_names(source.path, source.encoding)
    for row in block.payload:
        named = name_fields(row, header, source.path)
        if isinstance(named, InvalidRecord):
            yield named
        else:
            number, record = named
            yield pick_pair(record, source.columns, source.path, number)


def name_fields(
    row: Row, header: Sequence[str], path: Path
) -> tuple[int, dict[str, str]] | InvalidRecord:
    """Give the fields of a row their names; a row with more or fewer than the header is bad."""
    if isinstance(row, InvalidRecord):
        return row
    number, values = row
    if len(values) != len(header):
        return InvalidRecord(
            f"{path}:{number}",
            f"{counted(len(values), 'field')}; the header has {len(header)} "
            f"({', '.join(map(quoted, header[:8]))}); is a quote or a delimiter missing?",
        )
    return number, dict(zip(header, values, strict=True))


def column_names(path: Path, encoding: str) -> list[str]:
    """Return the names in the header line."""
    with open_bytes(path) as (stream, _):
        lines = _Lines(path, numbered_lines(stream), encoding)
        header = next(_rows(lines, delimiter_of(path, encoding)), None)
    if header is None:
        raise DataError(f"{path}: no header line; expected the names of the columns")
    if isinstance(header, InvalidRecord):
        raise DataError(f"{header.where}: {header.reason}")
    return header[1]


class _Lines:
    """Decoded lines for the csv module, counted; lines too long to be a row are set aside."""

    def __init__(self, path: Path, lines: Iterator[bytes | None], encoding: str) -> None:
        self.path = path
        self.number = 0
        self.row_bytes = 0
        """Of the lines that the present row has gone over."""
        self.too_long: list[InvalidRecord] = []
        self.have_ended = False
        self._lines = lines
        self._encoding = encoding

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            self.row_bytes += len(line or b"") + 1  # and its end
            if self.row_bytes > MAX_RECORD_BYTES:
                raise csv.Error(f"a row of more than {MAX_RECORD_BYTES:,} bytes")
            if line is None:
                self.too_long.append(InvalidRecord(f"{self.path}:{self.number}", TOO_LONG))
            else:
                # Bytes without a meaning pass as lone surrogates, so that the row is found
                # whole; `pick_pair` then refuses it by its line.
                yield line.decode(self._encoding, "surrogateescape") + "\n"
        self.have_ended = True


def _rows(lines: _Lines, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(2 * MAX_RECORD_BYTES)  # never reached: `_Lines` bounds a whole row
    reader = csv.reader(iter(lines), delimiter=delimiter)
    while True:
        start, lines.row_bytes = lines.number + 1, 0
        where = f"{lines.path}:{start}"
        row: list[str] | InvalidRecord | None
        try:
            row = next(reader, None)
        except csv.Error as error:
            if "new-line" not in str(error):
                raise DataError(
                    f"{where}: {error}; is a quote that opens here never closed?"
                ) from error
            row = InvalidRecord(
                where, _STRAY_RETURN
            )  # and the reader begins anew with the next line
        yield from lines.too_long
        lines.too_long.clear()
        if row is None:
            return
        if isinstance(row, InvalidRecord):
            yield row
        elif lines.have_ended:  # only a row that is not whole asks for a line more
            yield InvalidRecord(where, _OPEN_QUOTE)
        elif row:
            yield start, row


def delimiter_of(path: Path, encoding: str) -> str:
    """Tell what stands between fields, from the file's name or its header line."""
    if plain_name(path).endswith((".tsv", ".tab")):
        return "\t"
    with open_bytes(path) as (stream, _):
        header = (next(numbered_lines(stream), None) or b"").decode(encoding, "replace")
    return max(DELIMITERS, key=_QUOTED.sub("", header).count)


FORMAT = CorpusFormat(
    name="csv",
    title="CSV or TSV with a header line",
    blocks=blocks,
    records=records,
    column_names=column_names,
)
