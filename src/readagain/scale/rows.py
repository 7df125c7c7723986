"""Rows with their summaries, written in the formats that a job can write."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from readagain.engine.records import RecordSchema, TextFormat, to_json
from readagain.errors import ConfigError, require

OutputFormat = Literal["jsonl", "csv", "parquet"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)

Row = dict[str, Any]


def output_format(wanted: OutputFormat | None, found: TextFormat) -> OutputFormat:
    """Choose what rows are written as: what is asked for, else as they came.

    Raises:
        ConfigError: for JSON objects, which may each have other fields, asked for as a table.
    """
    if found == "jsonl" and wanted not in (None, "jsonl"):
        raise ConfigError(
            f"--output-format {wanted}: JSON objects may each have other fields, so they are "
            "written as jsonl; leave the option away"
        )
    if wanted is not None:
        return wanted
    return "csv" if found == "csv" else "parquet" if found == "parquet" else "jsonl"


def suffix_of(wanted: OutputFormat, layout: RecordSchema) -> str:
    """Return how the name of a file ends."""
    return ".tsv" if wanted == "csv" and layout.delimiter == "\t" else f".{wanted}"


def write_jsonl(rows: Iterable[Row]) -> bytes:
    """Write one JSON object a line, in UTF-8."""
    return b"".join(_json_line(row) for row in rows)


def _json_line(row: Row) -> bytes:
    line = to_json(row) + "\n"
    try:
        return line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can only escape
        return to_json(row, escaped=True).encode() + b"\n"


def write_csv(rows: Iterable[Row], columns: Sequence[str], delimiter: str) -> bytes:
    """Write a header and the rows, in UTF-8; lists and the like as JSON."""
    lines = [_csv_line(columns, delimiter)]
    lines += (_csv_line([_cell(row.get(name)) for name in columns], delimiter) for row in rows)
    # What the input's encoding had no meaning for goes out as the bytes that came in.
    return "".join(lines).encode("utf-8", "surrogateescape")


def _csv_line(cells: Sequence[str], delimiter: str) -> str:
    """Write one row; a cell that holds any kind of line end is quoted.

    The csv module is sure to quote only the signs that end its own lines.
    """
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=delimiter or ",", lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return to_json(value)
    return str(value)


def write_parquet(table: Any) -> bytes:
    """Write a pyarrow table."""
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    stream = io.BytesIO()
    parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def as_table(rows: Sequence[Row], columns: Sequence[str]) -> Any:
    """Make a pyarrow table of rows whose values are strings."""
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    return arrow.table(
        {name: arrow.array([row[name] for row in rows], arrow.string()) for name in columns}
    )


def with_columns(table: Any, added: Sequence[Row], *, field: str, names: Sequence[str]) -> Any:
    """Add the columns `names` to a pyarrow table, in the types that they always have."""
    arrow = require("pyarrow", extra="data", purpose="writing Parquet")
    alternative = arrow.struct([("summary", arrow.string()), ("score", arrow.float64())])
    types = {
        "score": arrow.float64(),
        "alternatives": arrow.list_(alternative),
        field: arrow.string(),  # last, since it may be called like one that is not asked for
    }
    for name in names:
        values = arrow.array([row.get(name) for row in added], types[name])
        table = table.append_column(name, values)
    return table
