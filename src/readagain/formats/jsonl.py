"""JSONL: one JSON object per line."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from readagain.errors import DataError, type_in_words
from readagain.formats.files import open_bytes
from readagain.formats.lines import decode_line, line_blocks, read_lines
from readagain.formats.records import Block, InvalidRecord, Record, invalid_record_error

# Control characters that `json.dumps` does not escape: DEL and C1, line separators, and
# bidirectional controls, which can reorder the text that a terminal shows.
_CONTROL = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

MAX_DEPTH = 100
"""Maximum nesting of JSON values; Python cannot write or pickle all values that it can parse."""


def column_names(path: Path, encoding: str) -> list[str] | None:
    """Return the keys of the first valid record; None if all lines are blank."""
    first_invalid: InvalidRecord | None = None
    with open_bytes(path) as (stream, _):
        for number, line in enumerate(read_lines(stream), start=1):
            record = parse_line(line, number, path, encoding)
            if isinstance(record, Record):
                return list(record.fields)
            first_invalid = first_invalid or record
    if first_invalid:
        raise invalid_record_error(first_invalid, "; no other line is valid either")
    return None


def read_blocks(
    path: Path,
    encoding: str,
    *,
    columns: Sequence[str] | None = None,
    records_per_block: int | None = None,
) -> Iterator[Block]:
    """Split a file into blocks of lines."""
    return line_blocks(path, records_per_block)


def parse_block(block: Block, path: Path, encoding: str) -> Iterator[Record | InvalidRecord]:
    """Parse each line that is not blank."""
    for number, line in enumerate(block.payload, start=block.first):
        record = parse_line(line, number, path, encoding)
        if record is not None:
            yield record


def parse_line(
    line: bytes | None, number: int, path: Path, encoding: str
) -> Record | InvalidRecord | None:
    """Parse a line from `read_lines`; return None for a blank line.

    Raises:
        DataError: if the file is a JSON array, of which some lines might be valid records.
    """
    if line is not None and (not line or line.isspace()):
        return None
    where = f"{path}:{number}"
    text = decode_line(line, encoding, where=where)
    if isinstance(text, InvalidRecord):
        return text
    if number == 1 and text.lstrip().startswith("["):
        raise DataError(
            f"{path}: a JSON array; expected one object per line, so convert it: "
            "jq -c '.[]' FILE > NEW.jsonl"
        )
    try:
        fields = parse_json(text)
    except (ValueError, RecursionError) as error:
        reason = f"{describe_json_error(error)}; expected one object per line"
        return InvalidRecord(where, reason, text)
    if not isinstance(fields, dict):
        reason = f"{type_in_words(fields)}; expected a JSON object with a text"
        return InvalidRecord(where, reason, text)
    return Record(number, fields)


def parse_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: if `text` is not JSON.
        RecursionError: if values are nested more than `MAX_DEPTH` levels deep.
    """
    value = json.loads(text)
    level = [value]  # the values at one depth
    for _ in range(MAX_DEPTH + 1):
        parents = [item for item in level if isinstance(item, dict | list)]
        if not parents:
            return value
        level = [
            item
            for parent in parents
            for item in (parent.values() if isinstance(parent, dict) else parent)
        ]
    raise RecursionError


def describe_json_error(error: ValueError | RecursionError) -> str:
    """Describe an error of `parse_json` in one line."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at column {error.colno}"
    if isinstance(error, RecursionError):
        return "JSON nested too deeply"
    return "JSON with a number that has too many digits"


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON that UTF-8 can encode.

    Values without a JSON type, such as dates, become strings; NaN and infinity become null. Lone
    surrogates, as in file names that are not UTF-8, are escaped.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False, indent=indent)
    except ValueError:
        value = _replace_nan(value)
        text = json.dumps(value, ensure_ascii=False, default=str, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=True, default=str, indent=indent)
    return text


def printable_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON as `to_json`, with the control characters escaped that a terminal interprets."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", to_json(value, indent=indent))


def write_jsonl(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return one JSON object per line, in UTF-8."""
    return "".join(f"{to_json(row)}\n" for row in rows).encode()


def _replace_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _replace_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
