"""Texts from files and pipes, each with the record it stands in."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from readagain.corpus.compression import open_bytes, plain_name
from readagain.corpus.pair import Bad
from readagain.corpus.readers import delimited, jsonl, parquet
from readagain.corpus.readers.columns import guess_columns, pick_pair
from readagain.corpus.readers.lines import (
    TOO_LONG,
    numbered_lines,
    refuse_wide_encoding,
    undecodable,
)
from readagain.corpus.readers.source import BLOCK_RECORDS, Block, Columns, Source
from readagain.errors import ConfigError, DataError, require

TextFormat = Literal["text", "lines", "jsonl", "csv", "parquet"]
FORMATS: tuple[TextFormat, ...] = ("text", "lines", "jsonl", "csv", "parquet")
STREAMED: tuple[TextFormat, ...] = ("text", "lines", "jsonl")
"""What can be read from a pipe; the others must be opened twice, or at their end."""
MAX_TEXT_BYTES = 64 << 20
"""The largest file taken for one text; a headline of more is not what anybody means."""

_SUFFIXES: dict[str, TextFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Record:
    """A text to summarize.

    Args:
        text: the text.
        where: the file, and the line or row, for messages.
        fields: the whole record, in the order of its file; of plain text only what it is.
    """

    text: str
    where: str
    fields: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How files are read; what is None is told by a file's name, or guessed."""

    format: TextFormat | None = None
    text_column: str | None = None
    encoding: str = "utf-8"


def format_of(path: Path) -> TextFormat:
    """Tell a file's format by its name; a name that says nothing is that of a text."""
    name = plain_name(path)
    return next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), "text")


def read_records(path: Path, options: ReadOptions) -> Iterator[Record]:
    """Yield the texts of a file.

    Raises:
        DataError: naming the file and the line that cannot be used.
    """
    return _READERS[options.format or format_of(path)](path, options)


def read_stream(stream: BinaryIO, name: str, options: ReadOptions) -> Iterator[Record]:
    """Yield the texts of a pipe, each line as soon as it is there.

    Raises:
        ConfigError: for a format that cannot be read from a pipe.
        DataError: naming the line that cannot be used.
    """
    wanted = options.format or "text"
    if wanted not in STREAMED:
        raise ConfigError(
            f"--format {wanted} cannot be read from a pipe; name the file, or use one of "
            f"{', '.join(STREAMED)}"
        )
    path = Path(name)
    if wanted == "text":
        yield _whole(stream, path, options)
    elif wanted == "lines":
        yield from _of_lines(stream, path, options)
    else:
        yield from _of_objects(stream, path, options)


def _text(path: Path, options: ReadOptions) -> Iterator[Record]:
    with open_bytes(path) as (stream, _):
        yield _whole(stream, path, options)


def _whole(stream: BinaryIO, path: Path, options: ReadOptions) -> Record:
    content = stream.read(MAX_TEXT_BYTES + 1)
    if len(content) > MAX_TEXT_BYTES:
        raise DataError(
            f"{path}: more than {MAX_TEXT_BYTES:,} bytes for one text; if it holds one text a "
            "line, say --format lines"
        )
    refuse_wide_encoding(path, content)
    text = _decode(content.removeprefix(b"\xef\xbb\xbf"), options, str(path))
    return Record(text, str(path), {"file": str(path)})


def _lines(path: Path, options: ReadOptions) -> Iterator[Record]:
    with open_bytes(path) as (stream, _):
        yield from _of_lines(stream, path, options)


def _of_lines(stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Record]:
    for number, line in enumerate(numbered_lines(stream), start=1):
        where = f"{path}:{number}"
        if line is None:
            raise DataError(f"{where}: {TOO_LONG}")
        text = _decode(line, options, where)
        yield Record(text, where, {"text": text})


def _objects(path: Path, options: ReadOptions) -> Iterator[Record]:
    with open_bytes(path) as (stream, _):
        yield from _of_objects(stream, path, options)


def _of_objects(stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Record]:
    source = Source(format="jsonl", paths=(path,), origin=str(path), encoding=options.encoding)
    column = ""
    for number, line in enumerate(numbered_lines(stream), start=1):
        block = Block(first=number, payload=[line], position=0)
        for _, record in jsonl.objects(source, block):
            if isinstance(record, Bad):
                raise DataError(f"{record.where}: {record.reason}")
            column = column or _text_column(list(record), options, str(path))
            yield _of_fields(record, column, path, number)


def _table(path: Path, options: ReadOptions) -> Iterator[Record]:
    header = delimited.column_names(path, options.encoding)
    column = _text_column(header, options, str(path))
    source = Source(
        format="csv",
        paths=(path,),
        origin=str(path),
        columns=Columns(text=column, headline=column),
        encoding=options.encoding,
    )
    for block in delimited.blocks(source):
        # The reader's own check of each row: as many fields as the header, and text in them.
        for row, pair in zip(block.payload, delimited.records(source, block), strict=True):
            if isinstance(pair, Bad):
                raise DataError(f"{pair.where}: {pair.reason}")
            number, values = row
            yield _of_fields(dict(zip(header, values, strict=True)), column, path, number)


def _parquet(path: Path, options: ReadOptions) -> Iterator[Record]:
    column = _text_column(parquet.column_names(path, options.encoding), options, str(path))
    library = require("pyarrow.parquet", extra="data", purpose=f"{path}: reading Parquet")
    number = 0
    with library.ParquetFile(path) as table:
        for batch in table.iter_batches(batch_size=BLOCK_RECORDS):
            for fields in batch.to_pylist():
                number += 1
                yield _of_fields(fields, column, path, number)


def _of_fields(fields: dict[str, Any], column: str, path: Path, number: int) -> Record:
    found = pick_pair(fields, Columns(text=column, headline=column), path, number)
    if isinstance(found, Bad):
        raise DataError(f"{found.where}: {found.reason}")
    return Record(found.text, f"{path}:{number}", fields)


def _text_column(names: list[str], options: ReadOptions, where: str) -> str:
    # Only the text is wanted here; any column may stand in for the headline.
    any_column = next(iter(names), None)
    return guess_columns(names, where=where, text=options.text_column, headline=any_column).text


def _decode(content: bytes, options: ReadOptions, where: str) -> str:
    try:
        return content.decode(options.encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: {undecodable(error)}") from error


_READERS: dict[TextFormat, Callable[[Path, ReadOptions], Iterator[Record]]] = {
    "text": _text,
    "lines": _lines,
    "jsonl": _objects,
    "csv": _table,
    "parquet": _parquet,
}


def to_json(fields: dict[str, Any]) -> str:
    """Write a record on one line; what JSON has no word for, such as a date, as text."""
    return json.dumps(fields, ensure_ascii=False, default=str)
