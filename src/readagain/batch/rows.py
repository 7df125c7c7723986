"""Rows with their summaries, written in the formats that a job can write."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from readagain.errors import ConfigError, require
from readagain.formats.texts import RecordSchema, TextFormat

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
