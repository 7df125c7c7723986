"""Parquet tables, through pyarrow."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.source import BLOCK_RECORDS, Block, CorpusFormat, CorpusInput
from readagain.errors import DataError, first_line, require

# What pyarrow raises over values: its own errors are kinds of these; text and dates bring theirs.
_UNREADABLE = (OSError, ValueError, OverflowError, NotImplementedError)


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Cut the table into record batches of the two columns that matter."""
    assert source.columns is not None
    return row_blocks(source.path, [source.columns.text, source.columns.headline])


def row_blocks(
    path: Path, columns: Sequence[str] | None = None, max_records: int | None = None
) -> Iterator[Block]:
    """Cut a table into record batches of these columns, or of all of them."""
    parquet = _pyarrow_parquet(path)
    first, size = 1, path.stat().st_size
    with _open(parquet, path) as table:
        num_rows = table.metadata.num_rows
        batches = table.iter_batches(batch_size=max_records or BLOCK_RECORDS, columns=columns)
        while True:
            try:
                batch = next(batches, None)
            except _UNREADABLE as error:
                raise _damaged(path, error) from error
            if batch is None:
                return
            done = first - 1 + batch.num_rows
            yield Block(first=first, payload=batch, position=size * done // max(num_rows, done))
            first += batch.num_rows


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Take text and headline out of each row."""
    assert source.columns is not None
    for number, row in enumerate(rows(block, source.path), start=block.first):
        yield (
            row
            if isinstance(row, InvalidRecord)
            else pick_pair(row, source.columns, source.path, number)
        )


def rows(block: Block, path: Path) -> Iterator[dict[str, Any] | InvalidRecord]:
    """Yield the rows of a record batch or a table; one that Python cannot hold is bad alone.

    Strings in a Parquet file need not be UTF-8, nor its dates within the years of Python.
    """
    try:
        found = block.payload.to_pylist()
    except _UNREADABLE:
        found = [_row(block, place, path) for place in range(block.payload.num_rows)]
    yield from found


def _row(block: Block, place: int, path: Path) -> dict[str, Any] | InvalidRecord:
    try:
        (row,) = block.payload.slice(place, 1).to_pylist()
    except _UNREADABLE as error:
        reason = first_line(error)
        return InvalidRecord(f"{path}:{block.first + place}", f"a value cannot be read: {reason}")
    return dict(row)


def column_names(path: Path, encoding: str) -> list[str]:
    """Return the names of the table's columns."""
    with _open(_pyarrow_parquet(path), path) as table:
        return list(table.schema_arrow.names)


def _pyarrow_parquet(path: Path) -> ModuleType:
    return require("pyarrow.parquet", extra="data", purpose=f"{path}: reading Parquet")


def _open(parquet: ModuleType, path: Path):  # type: ignore[no-untyped-def]
    try:
        return parquet.ParquetFile(path)
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> DataError:
    reason = first_line(error)
    return DataError(f"{path}: not a whole Parquet file ({reason}); copy it again")


FORMAT = CorpusFormat(
    name="parquet",
    title="Parquet tables",
    blocks=blocks,
    records=records,
    column_names=column_names,
)
