"""Hugging Face datasets by name, where the `datasets` package is installed."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.columns import pick_pair
from readagain.corpus.readers.source import BLOCK_RECORDS, Block, CorpusFormat, CorpusInput
from readagain.errors import DataError, MissingExtraError

PREFIX = "hf:"


def blocks(source: CorpusInput) -> Iterator[Block]:
    """Stream the dataset and cut its rows."""
    assert source.columns is not None
    columns = (source.columns.text, source.columns.headline)
    rows: list[dict[str, object]] = []
    number = 0
    for number, row in enumerate(_load(source.path), start=1):
        rows.append({name: row[name] for name in columns if name in row})
        if len(rows) == BLOCK_RECORDS:
            yield Block(first=number - len(rows) + 1, payload=rows, position=0)
            rows = []
    if rows:
        yield Block(first=number - len(rows) + 1, payload=rows, position=0)


def records(source: CorpusInput, block: Block) -> Iterator[Example | InvalidRecord]:
    """Take text and headline out of each row."""
    assert source.columns is not None
    for number, record in enumerate(block.payload, start=block.first):
        yield pick_pair(record, source.columns, source.path, number)


def column_names(path: Path, encoding: str) -> list[str]:
    """Return the column names of the dataset's first row."""
    for row in _load(path):
        return list(row)
    raise DataError(f"{path}: the dataset has no rows")


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


FORMAT = CorpusFormat(
    name="huggingface",
    title="hf:NAME[:CONFIG][:SPLIT], with the package 'datasets'",
    blocks=blocks,
    records=records,
    column_names=column_names,
)
