"""Hugging Face datasets by name; needs the `datasets` package."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from readagain.corpus.readers.tables import table_format
from readagain.errors import DataError, MissingExtraError
from readagain.formats.records import BLOCK_RECORDS, Block, InvalidRecord, Record

PREFIX = "hf:"


class _DatasetReader:
    """Reader of a dataset as a stream of rows; `_load` describes the path."""

    def column_names(self, path: Path, encoding: str) -> list[str]:
        """Return the columns of the first row."""
        for row in _load(path):
            return list(row)
        raise DataError(f"{path}: the dataset has no rows")

    def read_blocks(
        self,
        path: Path,
        encoding: str,
        *,
        columns: Sequence[str] | None = None,
        records_per_block: int | None = None,
    ) -> Iterator[Block]:
        """Stream the dataset in blocks of rows."""
        first = 1
        rows: list[dict[str, object]] = []
        for row in _load(path):
            rows.append({name: row[name] for name in columns or row if name in row})
            if len(rows) == (records_per_block or BLOCK_RECORDS):
                yield Block(first=first, payload=rows, position=0)
                first, rows = first + len(rows), []
        if rows:
            yield Block(first=first, payload=rows, position=0)

    def parse_block(
        self, block: Block, path: Path, encoding: str
    ) -> Iterator[Record | InvalidRecord]:
        """Yield the rows with their numbers."""
        for number, fields in enumerate(block.payload, start=block.first):
            yield Record(number, fields)


def _load(path: Path) -> Any:
    """Open `hf:NAME`, `hf:NAME:SPLIT` or `hf:NAME:CONFIG:SPLIT` for streaming."""
    try:
        datasets = import_module("datasets")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{path}: reading Hugging Face datasets needs the package 'datasets', "
            "which is not installed; type: pip install datasets"
        ) from error
    name, *rest = str(path).removeprefix(PREFIX).split(":")
    if not name or len(rest) > 2:
        raise DataError(f"{path}: expected hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT")
    split = rest[-1] if rest else "train"
    config = rest[0] if len(rest) == 2 else None
    try:
        return datasets.load_dataset(name, config, split=split, streaming=True)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["no reason given"])[0]
        raise DataError(f"{path}: the dataset cannot be opened: {reason}") from error


FORMAT = table_format(
    "huggingface", "hf:NAME[[:CONFIG]:SPLIT], with the package 'datasets'", _DatasetReader()
)
