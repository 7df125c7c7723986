"""Reading of texts to summarize, with all fields of their records, from files and pipes."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from readagain.errors import ArgumentError, DataError, MissingExtraError, require
from readagain.formats import delimited, jsonl, parquet
from readagain.formats.columns import check_unique, choose_column, get_text
from readagain.formats.files import open_bytes, plain_name
from readagain.formats.lines import (
    BOM,
    decode_line,
    describe_decode_error,
    line_blocks,
    read_lines,
    reject_utf16,
)
from readagain.formats.records import Block, InvalidRecord, Record, TableFormat

TextFormat = Literal["text", "lines", "jsonl", "csv", "parquet"]
TEXT_FORMATS: tuple[TextFormat, ...] = get_args(TextFormat)
TABLES: dict[TextFormat, TableFormat] = {"jsonl": jsonl, "csv": delimited, "parquet": parquet}
"""Formats with named columns."""
STREAM_FORMATS: tuple[TextFormat, ...] = ("text", "lines", "jsonl")
"""Formats that can be read from a pipe."""
MAX_TEXT_BYTES = 64 << 20
"""Maximum size of a file that is read as one text."""

MAX_HTML_TAGS = 100_000
"""Maximum number of tags in an HTML page; 100,000 take 2 s and 200 MB, seven times as many 86 s."""

MAX_HTML_ATTRIBUTES = 10_000
"""Maximum number of attributes of a tag; the parser takes quadratic time, here about 1 s."""

# Error messages for files that are not plain text, by their first bytes.
_NOT_TEXT = {
    b"%PDF-": "a PDF; expected plain text, which 'pdftotext' extracts",
    b"PK\x03\x04": (
        "a zip archive, or a Word or Excel document; save a document as plain text, and a table as "
        "CSV UTF-8"
    ),
    b"{\\rtf": "an RTF file; save it as plain text",
}
_ATTRIBUTE_PATTERN = (
    rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>]*+))?+"""
)
_ATTRIBUTE = re.compile(_ATTRIBUTE_PATTERN)
_ATTRIBUTES_OF_TAG = re.compile(rb"<[a-zA-Z][^\s/>]*+((?:%s)*+)" % _ATTRIBUTE_PATTERN)
_HTML = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
TABLE_SUFFIXES: dict[str, TextFormat] = {
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
    """A text to summarize, with the record that contains it."""

    text: str
    where: str
    """The file and the line or row, for messages."""
    fields: dict[str, Any] = field(repr=False)
    """All fields of the record, in order. A text file has only `file`, a line only `text`."""


@dataclass(frozen=True, kw_only=True)
class TextReadOptions:
    """Options for reading texts; a value of None is detected from the file."""

    format: TextFormat | None = None
    text_column: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, kw_only=True)
class RecordSchema:
    """Format and columns of one file: what is needed to parse its blocks."""

    format: TextFormat
    encoding: str
    text_column: str = ""
    """Empty for plain text."""
    columns: tuple[str, ...] = ()
    """Columns of a table, keys of the first JSON object, or the only field of plain text."""
    delimiter: str = ""
    """Delimiter of a CSV file; empty for other formats."""
    has_bom: bool = False
    """Whether a CSV file starts with a byte order mark, without which Excel misreads UTF-8."""


def text_format(path: Path) -> TextFormat:
    """Return the format for the suffix of a file; "text" if it is unknown."""
    name = plain_name(path)
    return next(
        (format for suffix, format in TABLE_SUFFIXES.items() if name.endswith(suffix)), "text"
    )


def read_schema(path: Path, options: TextReadOptions) -> RecordSchema:
    """Read the columns of a file and choose the text column.

    Raises:
        DataError: when there are records without a text column.
    """
    format = options.format or text_format(path)
    if format not in TABLES:
        columns = ("file",) if format == "text" else ("text",)
        return RecordSchema(format=format, encoding=options.encoding, columns=columns)
    head = b""
    if format != "parquet":
        with open_bytes(path) as (stream, _):
            head = stream.read(len(BOM))
        reject_utf16(path, head)
    names = TABLES[format].column_names(path, options.encoding)
    if names is None:
        return RecordSchema(format=format, encoding=options.encoding)
    if format == "csv":
        name, count = Counter(filter(None, names)).most_common(1)[0] if any(names) else ("", 0)
        if count > 1:
            check_unique(name, names, where=str(path))
    return RecordSchema(
        format=format,
        encoding=options.encoding,
        text_column=choose_column("text", names, options.text_column, where=str(path)),
        columns=tuple(names),
        delimiter=delimited.detect_delimiter(path, options.encoding) if format == "csv" else "",
        has_bom=format == "csv" and head == BOM,
    )


def read_blocks(
    path: Path, schema: RecordSchema, records_per_block: int | None = None
) -> Iterator[Block]:
    """Split a file into blocks of at most `records_per_block` without parsing them."""
    if schema.format == "text":
        with open_bytes(path) as (stream, raw):
            content = stream.read(MAX_TEXT_BYTES + 1)
            yield Block(first=1, payload=content, position=raw.tell())
    elif schema.format == "lines":
        yield from line_blocks(path, records_per_block)
    else:
        table = TABLES[schema.format]
        yield from table.read_blocks(path, schema.encoding, records_per_block=records_per_block)


def parse_block(
    block: Block, path: Path, schema: RecordSchema
) -> Iterator[TextRecord | InvalidRecord]:
    """Parse a block of `read_blocks`; `path` is only used in messages."""
    if schema.format == "text":
        yield block.invalid or _parse_text(block.payload, path, schema.encoding)
    elif schema.format == "lines":
        for number, line in enumerate(block.payload, start=block.first):
            yield _parse_line(line, f"{path}:{number}", schema.encoding)
    else:
        for record in TABLES[schema.format].parse_block(block, path, schema.encoding):
            yield _parse_record(record, schema.text_column, path, is_json=schema.format == "jsonl")


def read_texts(path: Path, options: TextReadOptions) -> Iterator[TextRecord | InvalidRecord]:
    """Yield the texts of a file.

    Raises:
        DataError: when the file cannot be read to its end.
    """
    schema = read_schema(path, options)
    for block in read_blocks(path, schema):
        yield from parse_block(block, path, schema)


def read_stream(
    stream: BinaryIO, name: str, options: TextReadOptions
) -> Iterator[TextRecord | InvalidRecord]:
    """Yield the texts of a pipe, each line as soon as it arrives.

    Raises:
        ArgumentError: for a format that cannot be read from a pipe.
    """
    path, format, encoding = Path(name), options.format or "text", options.encoding
    if format not in STREAM_FORMATS:
        raise ArgumentError(
            "{format}: '{0}' cannot be read from a pipe; name the file, or use one of {1}",
            format,
            ", ".join(STREAM_FORMATS),
        )
    if format == "text":
        yield _parse_text(stream.read(MAX_TEXT_BYTES + 1), path, encoding)
        return
    column = ""
    for number, line in enumerate(read_lines(stream), start=1):
        if format == "lines":
            yield _parse_line(line, f"{path}:{number}", encoding)
            continue
        record = jsonl.parse_line(line, number, path, encoding)
        if record is None:
            continue
        if not column and isinstance(record, Record):
            names = list(record.fields)
            column = choose_column("text", names, options.text_column, where=name)
        yield _parse_record(record, column, path, is_json=True)


def _parse_text(content: bytes, path: Path, encoding: str) -> TextRecord | InvalidRecord:
    if len(content) > MAX_TEXT_BYTES:
        return InvalidRecord(
            str(path),
            f"more than {MAX_TEXT_BYTES:,} bytes for one text; "
            "set the format to 'lines' if each line is a text",
        )
    for start, reason in _NOT_TEXT.items():
        if content.removeprefix(BOM).startswith(start):
            return InvalidRecord(str(path), reason)
    if _HTML.match(content.removeprefix(BOM)):
        return _parse_html(content, path)
    try:
        reject_utf16(path, content)
        text = content.removeprefix(BOM).decode(encoding)
    except DataError as error:
        return InvalidRecord(str(path), str(error).removeprefix(f"{path}: "))
    except UnicodeDecodeError as error:
        return InvalidRecord(str(path), describe_decode_error(error))
    return TextRecord(text, str(path), {"file": str(path)})


def _parse_html(content: bytes, path: Path) -> TextRecord | InvalidRecord:
    """Return the article of an HTML page."""
    try:
        trafilatura = require("trafilatura", extra="html", purpose="an HTML page")
    except MissingExtraError as error:
        return InvalidRecord(str(path), f"{error}, or save the page as plain text")
    if content.count(b"<") > MAX_HTML_TAGS:
        return InvalidRecord(
            str(path),
            f"an HTML page of more than {MAX_HTML_TAGS:,} tags; save its text as plain text",
        )
    # Quadratic time for one tag, so that the sum over all tags is bounded.
    tags = _ATTRIBUTES_OF_TAG.finditer(content)
    if sum(len(_ATTRIBUTE.findall(tag[1])) ** 2 for tag in tags) > MAX_HTML_ATTRIBUTES**2:
        return InvalidRecord(
            str(path), "an HTML page with too many attributes; save its text as plain text"
        )
    text = trafilatura.extract(content, include_comments=False, include_tables=False)
    if not text:
        return InvalidRecord(
            str(path), "an HTML page in which no article was found; save its text as plain text"
        )
    return TextRecord(text, str(path), {"file": str(path)})


def _parse_line(line: bytes | None, where: str, encoding: str) -> TextRecord | InvalidRecord:
    text = decode_line(line, encoding, where=where)
    return text if isinstance(text, InvalidRecord) else TextRecord(text, where, {"text": text})


def _parse_record(
    record: Record | InvalidRecord, column: str, path: Path, *, is_json: bool
) -> TextRecord | InvalidRecord:
    if isinstance(record, InvalidRecord):
        return record
    where = f"{path}:{record.number}"
    text = get_text(record.fields, column, where=where, is_json=is_json)
    return text if isinstance(text, InvalidRecord) else TextRecord(text, where, record.fields)
