"""From input files to sources: what is read from its beginning to its end by one reader."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from readagain.batch.files import InputFile, is_remote
from readagain.errors import DataError
from readagain.formats.texts import (
    RecordSchema,
    TextFormat,
    TextReadOptions,
    read_schema,
    text_format,
)


@dataclass(frozen=True, kw_only=True)
class BatchInput:
    """One input file; or text files that follow each other, each of which is one row."""

    number: int
    files: tuple[InputFile, ...]
    format: TextFormat


@dataclass(frozen=True, kw_only=True)
class CutOptions:
    """How sources are read and cut."""

    read: TextReadOptions
    shard_rows: int
    added_fields: tuple[str, ...]
    """Fields that the output adds, and that no input may have therefore."""


def group_sources(files: Iterable[InputFile], options: TextReadOptions) -> list[BatchInput]:
    """Make each file a source, and text files that follow each other one source together."""

    def kind(file: InputFile) -> TextFormat:
        return options.format or text_format(Path(file.location))

    groups: list[tuple[TextFormat, tuple[InputFile, ...]]] = []
    for found, members in groupby(files, kind):
        if found == "text":
            groups.append((found, tuple(members)))
        else:
            groups.extend((found, (file,)) for file in members)
    return [
        BatchInput(number=number, files=members, format=found)
        for number, (found, members) in enumerate(groups)
    ]


def check_layouts(sources: Iterable[BatchInput], options: CutOptions) -> None:
    """Notice before any work what is wrong with the columns of files that are here.

    Files that are elsewhere are looked at when they are read, since that means to copy them.
    """
    for source in sources:
        for file in source.files:
            if (file.bytes or source.format == "parquet") and not is_remote(file.location):
                settle(Path(file.location), file.location, options)


def settle(path: Path, location: str, options: CutOptions) -> RecordSchema:
    """Settle how a file is read; `location` is what messages call it.

    Raises:
        DataError: when it has no column for the text, or one that the output would overwrite.
    """
    try:
        layout = read_schema(path, options.read)
    except DataError as error:
        raise DataError(str(error).replace(str(path), location)) from error
    if layout.format == "csv" and layout.columns.count("") > 1:
        raise DataError(f"{location}: two columns have no name; name them, or leave them out")
    for name in options.added_fields:
        if name in layout.columns:
            raise DataError(
                f"{location}: has a field '{name}' already; "
                "name another for the summary with --field"
            )
    return layout
