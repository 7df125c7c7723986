"""Splitting of inputs into shards, the groups of consecutive rows that workers summarize.

A file is read in blocks of rows. The first shards of an input have one block each, so that small
inputs use all processors. Later shards have several blocks, so that large inputs have fewer files.
Only the input and the options determine the shards, so an interrupted job can be resumed.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from readagain.batch.locations import is_remote, local_copy
from readagain.errors import DataError
from readagain.formats.files import InputFile
from readagain.formats.parquet import pack_batch, unpack_table
from readagain.formats.records import BLOCK_BYTES, Block, InvalidRecord
from readagain.formats.texts import (
    RecordSchema,
    TextFormat,
    TextReadOptions,
    TextRecord,
    parse_block,
    read_blocks,
    read_schema,
)


@dataclass(frozen=True, kw_only=True)
class BatchInput:
    """One input file, or consecutive text files, each of which is one row."""

    number: int
    """Number of the input in its job, from 0."""
    files: tuple[InputFile, ...]
    format: TextFormat


BLOCK_ROWS = 1024
"""Maximum number of rows in a block."""
NUM_SMALL_SHARDS = 64
"""Number of shards of an input that have one block."""
LARGE_SHARD_BLOCKS = 16
"""Number of blocks in later shards; ten million rows in one file are then 671 shards."""


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """Options for reading inputs and splitting them into shards.

    A shard has at most about `BLOCK_BYTES`. Only preceding rows of the input determine where it
    starts, so rows can be added to an input without changing the shards before them.
    """

    read: TextReadOptions
    shard_rows: int | None = None
    """Number of rows of a shard; None for small shards first, then large ones."""
    added_fields: tuple[str, ...]
    """Fields that the job adds to each row; no input may have a field of this name."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Part of a shard: a block of rows of one file, for Parquet serialized to bytes."""

    location: str
    block: Block = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class BatchShard:
    """Consecutive unparsed rows of one input; can be pickled for another process."""

    input_number: int
    number: int
    """Number of the shard in the input, from 0."""
    schema: RecordSchema
    pieces: tuple[Piece, ...]
    input_bytes: int
    """Number of bytes of the input files that were read for this shard."""

    @property
    def name(self) -> str:
        """Stem of the shard's file names; sorted names are in the order of the input."""
        return f"part-{self.input_number:05d}-{self.number:06d}"

    @property
    def where(self) -> str:
        """Location of the rows, for messages."""
        first = self.pieces[0]
        if self.schema.format == "text":
            return f"{len(self.pieces)} files, starting with {first.location}"
        return f"{first.location}, starting with row {first.block.first}"

    @property
    def sha256(self) -> str:
        """Checksum of the schema, and of the unparsed rows and their locations."""
        digest = sha256(repr(self.schema).encode("utf-8", "surrogateescape"))
        for piece in self.pieces:
            for content in (os.fsencode(piece.location), *_row_contents(piece.block)):
                digest.update(len(content).to_bytes(8, "big") + content)
        return digest.hexdigest()

    def records(self, columns: Sequence[str] | None = None) -> Iterator[TextRecord | InvalidRecord]:
        """Parse the rows; `columns` are the columns of a Parquet file to parse (default: all)."""
        for piece in self.pieces:
            block = piece.block
            if self.schema.format == "parquet":
                table = unpack_table(block.payload)
                block = replace(block, payload=table.select(columns) if columns else table)
            for record in parse_block(block, Path(piece.location), self.schema):
                yield _restore_url(record, piece.location)


def _restore_url(record: TextRecord | InvalidRecord, location: str) -> TextRecord | InvalidRecord:
    """Restore the `//` of a URL, which `Path` collapses to `/`."""
    if not is_remote(location):
        return record
    where = record.where.replace(str(Path(location)), location, 1)
    if isinstance(record, TextRecord) and record.fields.keys() == {"file"}:
        return replace(record, where=where, fields={"file": location})
    return replace(record, where=where)


def _row_contents(block: Block) -> Iterator[bytes]:
    """Yield the rows of a block as bytes, for checksums and sizes; `repr` encodes other types."""
    if block.invalid is not None:
        yield os.fsencode(block.invalid.reason)
    for row in [block.payload] if isinstance(block.payload, bytes) else block.payload:
        yield row if isinstance(row, bytes) else repr(row).encode("utf-8", "surrogateescape")


def split_into_shards(source: BatchInput, options: SplitOptions) -> Iterator[BatchShard]:
    """Split an input into shards, of which one is in memory at a time."""
    split = _split_texts if source.format == "text" else _split_rows
    for number, (schema, pieces, input_bytes) in enumerate(split(source, options)):
        yield BatchShard(
            input_number=source.number,
            number=number,
            schema=schema,
            pieces=pieces,
            input_bytes=input_bytes,
        )


def read_input_schema(path: Path, location: str, options: SplitOptions) -> RecordSchema:
    """Read the schema of a file; messages name `location`.

    Raises:
        DataError: if the file has no text column, or already has a field that the job adds.
    """
    try:
        schema = read_schema(path, options.read)
    except DataError as error:
        raise _rename_path(error, path, location) from error
    if schema.format == "csv" and schema.columns.count("") > 1:
        raise DataError(f"{location}: two columns have no name; name or remove them")
    for name in options.added_fields:
        if name in schema.columns:
            raise DataError(
                f"{location}: has a field '{name}' already; set another field for the summary"
            )
    return schema


_Split = Iterator[tuple[RecordSchema, tuple[Piece, ...], int]]
"""Schema, pieces and input bytes of each shard."""


def _split_rows(source: BatchInput, options: SplitOptions) -> _Split:
    (file,) = source.files
    if not file.bytes and source.format != "parquet":  # an empty Parquet file is damaged
        return
    with local_copy(file.location) as path:
        schema = read_input_schema(path, file.location, options)
        max_rows = options.shard_rows or BLOCK_ROWS
        start = 0  # position of the shard in the file
        try:
            for blocks in _group_blocks(read_blocks(path, schema, max_rows), options):
                end = blocks[-1].position  # `position` is the end of a block
                pieces = tuple(
                    Piece(location=file.location, block=_name_location(block, path, file.location))
                    for block in blocks
                )
                yield schema, pieces, end - start
                start = end
        except DataError as error:
            raise _rename_path(error, path, file.location) from error


def _rename_path(error: DataError, path: Path, location: str) -> DataError:
    """Return an error that names `location` and not `path`, its temporary copy."""
    return type(error)(*(str(value).replace(str(path), location) for value in error.args))


def _name_location(block: Block, path: Path, location: str) -> Block:
    """Return a block whose invalid records name `location` and not `path`, the temporary copy."""
    if str(path) == location:
        return block

    def rename(row: Any) -> Any:
        if isinstance(row, InvalidRecord):
            return replace(row, where=row.where.replace(str(path), location, 1))
        return row

    is_packed = isinstance(block.payload, bytes)
    payload = block.payload if is_packed else [rename(row) for row in block.payload]
    return replace(block, payload=payload, invalid=rename(block.invalid))


def _group_blocks(blocks: Iterator[Block], options: SplitOptions) -> Iterator[list[Block]]:
    """Group the blocks of an input into shards; serialize record batches of Parquet."""
    group: list[Block] = []
    size = num_shards = 0
    for block in blocks:
        if hasattr(block.payload, "schema"):  # a record batch of pyarrow
            block = replace(block, payload=pack_batch(block.payload))
        num_bytes = sum(map(len, _row_contents(block)))
        if group and size + num_bytes > BLOCK_BYTES:
            yield group
            group, size, num_shards = [], 0, num_shards + 1
        group.append(block)
        size += num_bytes
        is_small_shard = options.shard_rows is not None or num_shards < NUM_SMALL_SHARDS
        if len(group) == (1 if is_small_shard else LARGE_SHARD_BLOCKS):
            yield group
            group, size, num_shards = [], 0, num_shards + 1
    if group:
        yield group


def _split_texts(source: BatchInput, options: SplitOptions) -> _Split:
    schema = read_schema(Path(source.files[0].location), options.read)
    pieces: list[Piece] = []
    size = input_bytes = num_shards = 0
    for file in source.files:
        block = _read_text(file.location, schema)
        pieces.append(Piece(location=file.location, block=block))
        size += len(block.payload)
        input_bytes += file.bytes
        is_small_shard = num_shards < NUM_SMALL_SHARDS
        max_rows = options.shard_rows or BLOCK_ROWS * (1 if is_small_shard else LARGE_SHARD_BLOCKS)
        if len(pieces) == max_rows or size >= BLOCK_BYTES:
            yield schema, tuple(pieces), input_bytes
            pieces, size, input_bytes = [], 0, 0
            num_shards += 1
    if pieces:
        yield schema, tuple(pieces), input_bytes


def _read_text(location: str, schema: RecordSchema) -> Block:
    """Read a text file; a file that cannot be decompressed is an invalid row."""
    with local_copy(location) as path:
        try:
            return next(read_blocks(path, schema))
        except DataError as error:
            reason = str(error).removeprefix(f"{path}: ")
            return Block(first=1, payload=b"", position=0, invalid=InvalidRecord(location, reason))
