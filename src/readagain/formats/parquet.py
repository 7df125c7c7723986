"""Parquet tables, with pyarrow."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from readagain.errors import DataError, first_line, require
from readagain.formats.files import MAX_EXPANSION, expansion_error, named_errors
from readagain.formats.parquet_pages import read_chunk_sizes
from readagain.formats.records import BLOCK_BYTES, BLOCK_RECORDS, Block, InvalidRecord, Record

# Errors that pyarrow raises, also for invalid strings and dates; KeyError for unknown time zones.
# MemoryError is included, since a damaged file may request any amount of memory.
_ERRORS = (
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    IndexError,
    KeyError,
    MemoryError,
)
_ENCRYPTED = ("Could not read encrypted", "Cannot decrypt")
"""Parts of the messages of pyarrow for encrypted files and columns."""

TOO_LARGE = f"a row of more than {BLOCK_BYTES:,} bytes; shorten its values"
MAX_COLUMNS = 10_000
"""Maximum number of columns of a file, counting those in structures; 10,000 take 90 MB."""
MAX_BLOCK_VALUES = 1 << 21
"""Maximum number of values in a block of several rows, to limit memory: missing values are stored
in almost no bytes."""


def column_names(path: Path, encoding: str) -> list[str]:
    """Return the names of the columns."""
    with _open_table(path) as (table, _):
        return list(table.schema_arrow.names)


def read_blocks(
    path: Path,
    encoding: str,
    *,
    columns: Sequence[str] | None = None,
    records_per_block: int | None = None,
) -> Iterator[Block]:
    """Split a table into blocks; the payload is a record batch of at most `BLOCK_BYTES`.

    A small file can contain a million rows with the same long value, stored once in a dictionary.
    Strings are therefore read as dictionaries, and decoded only if the decoded size is within the
    limit. A single row above the limit becomes an `InvalidRecord`.
    """
    first = 1
    with _open_table(path) as (table, schema):
        size = path.stat().st_size
        num_rows = max(table.metadata.num_rows, 1)
        fields = schema if columns is None else [schema.field(name) for name in columns]
        groups = list(range(table.num_row_groups))
        # pyarrow cannot join nested strings of two row groups, which have different dictionaries.
        is_nested = any(_pyarrow().types.is_nested(field.type) for field in fields)
        max_rows = min(
            records_per_block or BLOCK_RECORDS, MAX_BLOCK_VALUES // max(len(table.schema), 1)
        )
        batches = (
            table.iter_batches(max_rows, row_groups=part, columns=columns)
            for part in ([[group] for group in groups] if is_nested else [groups])
        )
        for batch in chain.from_iterable(batches):
            for piece in _split(batch):
                last = first - 1 + piece.num_rows
                is_too_large = _decoded_batch_bytes(piece) > BLOCK_BYTES
                yield Block(
                    first=first,
                    payload=_decode(piece.slice(0, 0) if is_too_large else piece, fields),
                    position=min(size * last // num_rows, size),  # estimated from the row number
                    invalid=InvalidRecord(f"{path}:{first}", TOO_LARGE) if is_too_large else None,
                )
                first = last + 1


def parse_block(block: Block, path: Path, encoding: str) -> Iterator[Record | InvalidRecord]:
    """Yield the rows of a record batch or a table.

    Strings in a Parquet file may be invalid UTF-8, and dates may be outside Python's range; only
    the rows with such values are invalid.
    """
    if block.invalid is not None:
        yield block.invalid
        return
    try:
        rows = block.payload.to_pylist()
    except _ERRORS:
        for index in range(block.payload.num_rows):
            number = block.first + index
            try:
                (row,) = block.payload.slice(index, 1).to_pylist()
            except _ERRORS as error:
                zone = "unknown time zone " if isinstance(error, KeyError) else ""
                reason = f"invalid value: {zone}{first_line(error)}"
                yield InvalidRecord(f"{path}:{number}", reason, row_values(block.payload, index))
            else:
                yield Record(number, dict(row))
        return
    for number, row in enumerate(rows, start=block.first):
        yield Record(number, row)


def row_values(table: Any, index: int) -> dict[str, Any]:
    """Return the values of a row of a table or record batch, with None for invalid values.

    A string that is not UTF-8 is decoded; its invalid bytes become lone surrogates.
    """
    values: dict[str, Any] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        try:
            values[name] = column[index].as_py()
        except _ERRORS:
            try:
                content = column[index].cast(_pyarrow().binary()).as_py()
                values[name] = content.decode("utf-8", "surrogateescape")
            except _ERRORS:
                values[name] = None
    return values


def _split(batch: Any) -> Iterator[Any]:
    """Halve a batch until each piece has at most `BLOCK_BYTES` after decoding, or one row."""
    if batch.num_rows <= 1 or _decoded_batch_bytes(batch) <= BLOCK_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _split(batch.slice(0, half))
    yield from _split(batch.slice(half))


def _decoded_batch_bytes(batch: Any) -> int:
    return sum(map(_decoded_bytes, batch.columns))


def _decoded_bytes(array: Any) -> int:
    """Return the size of an array after its dictionaries are decoded."""
    arrow = _pyarrow()
    if arrow.types.is_dictionary(array.type):
        compute = import_module("pyarrow.compute")
        values = array.dictionary
        if not (arrow.types.is_string(values.type) or arrow.types.is_binary(values.type)):
            return int(array.nbytes)
        lengths = compute.binary_length(values).cast(arrow.int64()).take(array.indices)
        return int(compute.sum(lengths).as_py() or 0)
    if arrow.types.is_map(array.type):  # `flatten` does not support maps with dictionaries
        entry = arrow.struct([array.type.key_field, array.type.item_field])
        array = array.cast(arrow.list_(entry))
    if arrow.types.is_nested(array.type):
        children = array.flatten()
        return sum(map(_decoded_bytes, children if isinstance(children, list) else [children]))
    return int(array.nbytes)


def _decode(batch: Any, fields: Any) -> Any:
    """Decode dictionaries to the types in the schema of the file, except for string views."""
    arrow = _pyarrow()
    fields = [_without_views(field) for field in fields]
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, fields, strict=True)
    ]
    return arrow.RecordBatch.from_arrays(columns, schema=arrow.schema(fields))


def _without_views(field: Any) -> Any:
    """Return a field with strings in place of string views, to which pyarrow cannot cast."""
    arrow = _pyarrow()
    types, type = arrow.types, field.type
    if types.is_string_view(type):
        type = arrow.string()
    elif types.is_binary_view(type):
        type = arrow.binary()
    elif types.is_struct(type):
        type = arrow.struct([_without_views(child) for child in type])
    elif types.is_map(type):
        type = arrow.map_(_without_views(type.key_field), _without_views(type.item_field))
    elif types.is_fixed_size_list(type):
        type = arrow.list_(_without_views(type.value_field), type.list_size)
    elif types.is_large_list(type):
        type = arrow.large_list(_without_views(type.value_field))
    elif types.is_list(type):
        type = arrow.list_(_without_views(type.value_field))
    return field.with_type(type)


@contextmanager
def _open_table(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield an open Parquet file that reads strings as dictionaries, and its original schema."""
    parquet = require("pyarrow.parquet", extra="data", purpose=f"{path}: reading Parquet")
    with named_errors(path):
        path.open("rb").close()  # gives a clearer error message than pyarrow
    try:
        with parquet.ParquetFile(path) as table:
            if len(table.schema) > MAX_COLUMNS:
                raise DataError(
                    f"{path}: more than {MAX_COLUMNS:,} columns; keep only those that you need"
                )
            columns = [table.schema.column(index) for index in range(len(table.schema))]
            string_columns = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
            schema = table.schema_arrow
            _check_expansion(table, path)
        with parquet.ParquetFile(path, read_dictionary=string_columns) as table:
            yield table, schema
    except _ERRORS as error:
        if any(message in str(error) for message in _ENCRYPTED):
            raise DataError(f"{path}: an encrypted Parquet file; decrypt it first") from error
        # pyarrow raises an OSError for strings in a delta encoding.
        if isinstance(error, NotImplementedError) or "Not yet implemented" in str(error):
            raise DataError(
                f"{path}: not supported by the Parquet reader ({first_line(error)}); convert it to "
                "JSONL"
            ) from error
        raise DataError(
            f"{path}: damaged or incomplete Parquet file ({first_line(error)}); copy it again"
        ) from error


def _check_expansion(table: Any, path: Path) -> None:
    """Check the decompressed and decoded sizes of all pages, before pyarrow reads one.

    Raises:
        DataError: if the file expands to much more than its size.
    """
    columns = [table.schema.column(index) for index in range(len(table.schema))]
    num_bytes = 0
    groups = read_chunk_sizes(path)
    if len(groups) != table.num_row_groups:
        raise ValueError("another number of row groups than pyarrow reads")
    for group in groups:
        if len(group) != len(columns):
            raise ValueError("a row group without all columns")
        for column, chunk in zip(columns, group, strict=True):
            width = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
            # Equal values may be stored once. Rows of other columns are read in small batches.
            is_wide = column.max_repetition_level > 0 or width > 8
            decoded_bytes = chunk.num_values * width if is_wide else 0
            num_bytes += max(chunk.uncompressed_bytes, decoded_bytes)
    if num_bytes > MAX_EXPANSION * path.stat().st_size + BLOCK_BYTES:
        raise expansion_error(path)


def pack_batch(batch: Any) -> bytes:
    """Serialize a record batch in Arrow's stream format.

    Pickle is not used, because a pickled slice of a batch contains the whole batch.
    """
    stream = io.BytesIO()
    with _pyarrow().ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return stream.getvalue()


def unpack_table(packed: bytes) -> Any:
    """Return the rows that `pack_batch` serialized, as a pyarrow table."""
    return _pyarrow().ipc.open_stream(packed).read_all()


def write_parquet(table: Any) -> bytes:
    """Return the bytes of a Parquet file."""
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    stream = io.BytesIO()
    parquet.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def join_parquet(files: Iterable[bytes], joined: BinaryIO) -> None:
    """Write the rows of several Parquet files with equal columns to one file, as row groups."""
    parquet = require("pyarrow.parquet", extra="data", purpose="writing Parquet")
    tables = (parquet.read_table(io.BytesIO(content)) for content in files)
    first = next(tables)
    with parquet.ParquetWriter(joined, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def make_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """Return a pyarrow table of rows whose values are strings."""
    arrow = _pyarrow()
    return arrow.table(
        {name: arrow.array([row[name] for row in rows], arrow.string()) for name in columns}
    )


def _pyarrow() -> ModuleType:
    return require("pyarrow", extra="data", purpose="reading and writing Parquet")
