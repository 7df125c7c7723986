"""Reader of Hugging Face datasets; needs the package `datasets`."""

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from readagain.corpus.inputs import CorpusFormat, CorpusInput
from readagain.corpus.readers.tables import parse_rows
from readagain.errors import DataError, MissingExtraError, first_line
from readagain.formats.records import BLOCK_RECORDS, Block

PREFIX = "hf:"
"""Start of an argument that names a dataset."""


def _column_names(path: Path, encoding: str) -> list[str]:
    """Return the columns of the first row."""
    for row in _load(path):
        return list(row)
    raise DataError(f"{path}: the dataset has no rows")


def _read_blocks(source: CorpusInput) -> Iterator[Block]:
    """Stream the dataset in blocks of rows."""
    assert source.columns is not None
    columns = (source.columns.text, source.columns.headline)
    rows = ({name: row[name] for name in columns if name in row} for row in _load(source.path))
    first = 1
    while payload := list(islice(rows, BLOCK_RECORDS)):
        yield Block(first=first, payload=payload, position=0)
        first += len(payload)


def _load(path: Path) -> Any:
    """Open `hf:NAME`, `hf:NAME:SPLIT` or `hf:NAME:CONFIG:SPLIT` for streaming."""
    try:
        datasets = import_module("datasets")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{path}: reading Hugging Face datasets needs the package 'datasets', "
            "which is not installed; type: pip install datasets"
        ) from error
    name, *parameters = str(path).removeprefix(PREFIX).split(":")
    if not name or len(parameters) > 2:
        raise DataError(f"{path}: expected hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT")
    split = parameters[-1] if parameters else "train"
    config = parameters[0] if len(parameters) == 2 else None
    try:
        return datasets.load_dataset(name, config, split=split, streaming=True)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: the dataset cannot be opened: {first_line(error)}") from error


FORMAT = CorpusFormat(read_blocks=_read_blocks, parse_block=parse_rows, column_names=_column_names)
