"""Texts from files and pipes, each with the record it stands in."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from readagain.corpus.compression import open_bytes, plain_name
from readagain.corpus.pair import InvalidRecord
from readagain.corpus.readers import delimited, jsonl, parquet
from readagain.corpus.readers.columns import guess_columns, pick_pair, refuse_twins
from readagain.corpus.readers.lines import (
    BOM,
    TOO_LONG,
    line_blocks,
    numbered_lines,
    refuse_wide_encoding,
    undecodable,
)
from readagain.corpus.readers.source import Block, Columns, CorpusInput
from readagain.engine.summary import Summary
from readagain.errors import ConfigError, DataError

TextFormat = Literal["text", "lines", "jsonl", "csv", "parquet"]
FORMATS: tuple[TextFormat, ...] = ("text", "lines", "jsonl", "csv", "parquet")
STREAMED: tuple[TextFormat, ...] = ("text", "lines", "jsonl")
"""What can be read from a pipe; the others must be opened twice, or at their end."""
MAX_TEXT_BYTES = 64 << 20
"""The largest file taken for one text; a headline of more is not what anybody means."""

# How files begin that people take for texts, and what to do about them.
_NO_TEXTS = (
    (re.compile(rb"%PDF-"), "a PDF; expected plain text, which 'pdftotext' takes out of it"),
    (re.compile(rb"PK\x03\x04"), "a zipped file, such as Word's; expected plain text: save it so"),
    (re.compile(rb"\{\\rtf"), "an RTF file; expected plain text: save it so"),
    (
        re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE),
        "a page of HTML; expected plain text: save it so, or pipe it in from 'w3m -dump'",
    ),
)
_SUFFIXES: dict[str, TextFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class TextRecord:
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
class TextReadOptions:
    """How files are read; what is None is told by a file's name, or guessed."""

    format: TextFormat | None = None
    text_column: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class RecordSchema:
    """How records stand in one file, settled once, so that its blocks can be parsed anywhere."""

    format: TextFormat
    encoding: str
    text_column: str = ""
    """Empty for plain text, which has no columns."""
    columns: tuple[str, ...] = ()
    """The columns of a table, the fields of the first JSON object, what plain text is given."""
    delimiter: str = ""
    """What stands between the fields of a CSV file."""


def format_of(path: Path) -> TextFormat:
    """Tell a file's format by its name; a name that says nothing is that of a text."""
    name = plain_name(path)
    return next((kind for suffix, kind in _SUFFIXES.items() if name.endswith(suffix)), "text")


def settle_layout(path: Path, options: TextReadOptions) -> RecordSchema:
    """Look into a file for its columns, and choose the one that holds the text.

    Raises:
        DataError: when there is none, or no record at all.
    """
    kind = options.format or format_of(path)
    if kind in ("text", "lines"):
        plain = ("file",) if kind == "text" else ("text",)
        return RecordSchema(format=kind, encoding=options.encoding, columns=plain)
    reader = {"jsonl": jsonl, "csv": delimited, "parquet": parquet}[kind]
    if kind != "parquet":
        head = _first_bytes(path)
        refuse_wide_encoding(path, head)
        if kind == "jsonl" and not head:  # no record is no mistake; a table has its header
            return RecordSchema(format=kind, encoding=options.encoding)
    assert reader.FORMAT.column_names is not None
    names = reader.FORMAT.column_names(path, options.encoding)
    if kind == "csv":  # whose rows are handed on by the names of their fields, if they have one
        for name in filter(None, names):
            refuse_twins(name, names, where=str(path))
    return RecordSchema(
        format=kind,
        encoding=options.encoding,
        text_column=_text_column(names, options, str(path)),
        columns=tuple(names),
        delimiter=delimited.delimiter_of(path, options.encoding) if kind == "csv" else "",
    )


def cut_records(
    path: Path, layout: RecordSchema, max_records: int | None = None
) -> Iterator[Block]:
    """Cut a file into blocks of at most so many records, without parsing them.

    Raises:
        DataError: when the file cannot be read, or not to its end.
    """
    match layout.format:
        case "text":
            with open_bytes(path) as (stream, raw):
                content = stream.read(MAX_TEXT_BYTES + 1)
                yield Block(first=1, payload=content, position=raw.tell())
        case "lines" | "jsonl":
            yield from line_blocks(path, max_records)
        case "csv":
            yield from delimited.row_blocks(path, layout.encoding, max_records)
        case "parquet":
            yield from parquet.row_blocks(path, max_records=max_records)


def records_in(
    block: Block, path: Path, layout: RecordSchema
) -> Iterator[TextRecord | InvalidRecord]:
    """Parse a block that `cut_records` cut; `path` is only named, not opened."""
    match layout.format:
        case "text":
            yield _whole(block.payload, path, layout)
        case "lines":
            for number, line in enumerate(block.payload, start=block.first):
                yield _line(line, path, number, layout)
        case "jsonl":
            source = _json_source(path, layout.encoding)
            for number, record in jsonl.objects(source, block):
                yield _of_fields(record, layout.text_column, path, number)
        case "csv":
            for row in block.payload:
                named = delimited.name_fields(row, layout.columns, path)
                if isinstance(named, InvalidRecord):
                    yield named
                else:
                    yield _of_fields(named[1], layout.text_column, path, named[0])
        case "parquet":
            for number, row in enumerate(parquet.rows(block, path), start=block.first):
                yield _of_fields(row, layout.text_column, path, number)


def read_records(path: Path, options: TextReadOptions) -> Iterator[TextRecord]:
    """Yield the texts of a file.

    Raises:
        DataError: naming the file and the line that cannot be used.
    """
    layout = settle_layout(path, options)
    for block in cut_records(path, layout):
        yield from map(_usable, records_in(block, path, layout))


def read_stream(stream: BinaryIO, name: str, options: TextReadOptions) -> Iterator[TextRecord]:
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
    path, layout = Path(name), RecordSchema(format=wanted, encoding=options.encoding)
    if wanted == "text":
        yield _usable(_whole(stream.read(MAX_TEXT_BYTES + 1), path, layout))
    elif wanted == "lines":
        for number, line in enumerate(numbered_lines(stream), start=1):
            yield _usable(_line(line, path, number, layout))
    else:
        yield from _of_objects(stream, path, options)


def _of_objects(stream: BinaryIO, path: Path, options: TextReadOptions) -> Iterator[TextRecord]:
    source = _json_source(path, options.encoding)
    column = ""
    for number, line in enumerate(numbered_lines(stream), start=1):
        block = Block(first=number, payload=[line], position=0)
        for _, record in jsonl.objects(source, block):
            if not column and not isinstance(record, InvalidRecord):
                column = _text_column(list(record), options, str(path))
            yield _usable(_of_fields(record, column, path, number))


def _whole(content: bytes, path: Path, layout: RecordSchema) -> TextRecord | InvalidRecord:
    if len(content) > MAX_TEXT_BYTES:
        return InvalidRecord(
            str(path),
            f"more than {MAX_TEXT_BYTES:,} bytes for one text; if it holds one text a line, "
            "say --format lines",
        )
    for beginning, reason in _NO_TEXTS:
        if beginning.match(content.removeprefix(BOM)):
            return InvalidRecord(str(path), reason)
    try:
        refuse_wide_encoding(path, content)
        text = content.removeprefix(BOM).decode(layout.encoding)
    except DataError as error:
        return InvalidRecord(str(path), str(error).removeprefix(f"{path}: "))
    except UnicodeDecodeError as error:
        return InvalidRecord(str(path), undecodable(error))
    return TextRecord(text, str(path), {"file": str(path)})


def _line(
    line: bytes | None, path: Path, number: int, layout: RecordSchema
) -> TextRecord | InvalidRecord:
    where = f"{path}:{number}"
    if line is None:
        return InvalidRecord(where, TOO_LONG)
    try:
        text = line.decode(layout.encoding)
    except UnicodeDecodeError as error:
        return InvalidRecord(where, undecodable(error))
    return TextRecord(text, where, {"text": text})


def _of_fields(
    fields: dict[str, Any] | InvalidRecord, column: str, path: Path, number: int
) -> TextRecord | InvalidRecord:
    if isinstance(fields, InvalidRecord):
        return fields
    found = pick_pair(fields, Columns(text=column, headline=column), path, number)
    return (
        found
        if isinstance(found, InvalidRecord)
        else TextRecord(found.text, f"{path}:{number}", fields)
    )


def _usable(found: TextRecord | InvalidRecord) -> TextRecord:
    if isinstance(found, InvalidRecord):
        raise DataError(f"{found.where}: {found.reason}")
    return found


def _first_bytes(path: Path) -> bytes:
    with open_bytes(path) as (stream, _):
        return stream.read(len(BOM))


def _json_source(path: Path, encoding: str) -> CorpusInput:
    return CorpusInput(format="jsonl", paths=(path,), origin=str(path), encoding=encoding)


def _text_column(names: list[str], options: TextReadOptions, where: str) -> str:
    # Only the text is wanted here; any column may stand in for the headline.
    any_column = next(iter(names), None)
    return guess_columns(names, where=where, text=options.text_column, headline=any_column).text


def with_summary(
    record: TextRecord, summary: Summary, *, field: str, has_score: bool = False
) -> dict[str, Any] | InvalidRecord:
    """Add a summary to the fields of its record; a record that has such a field is bad."""
    added: dict[str, Any] = {field: summary.text}
    if has_score:
        added["score"] = summary.score
    if summary.alternatives:
        added["alternatives"] = [
            {"summary": each.text, "score": each.score} for each in summary.alternatives
        ]
    for name in added:
        if name in record.fields:
            return InvalidRecord(
                record.where,
                f"has a field '{name}' already; name another for the summary with --field",
            )
    return {**record.fields, **added}


def to_json(record: dict[str, Any] | list[Any], *, escaped: bool = False) -> str:
    """Write a record, or what one of its fields holds, on one line.

    What JSON has no word for, such as a date, is written as text, and what is no number as null.

    Args:
        record: what to write.
        escaped: with ASCII alone, for what UTF-8 cannot hold.
    """
    try:
        return json.dumps(record, ensure_ascii=escaped, default=str, allow_nan=False)
    except ValueError:  # which is rare, so that others are not searched for it
        return json.dumps(_without_nan(record), ensure_ascii=escaped, default=str)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
