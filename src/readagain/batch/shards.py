"""Sources cut into shards: the rows that a worker does at a time, always cut the same way."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from readagain.batch.files import at_hand, is_remote
from readagain.batch.sources import BatchInput, CutOptions, settle
from readagain.errors import DataError
from readagain.formats.parquet import pack_batch, unpack_table
from readagain.formats.records import BLOCK_BYTES, Block, InvalidRecord
from readagain.formats.texts import RecordSchema, TextRecord, parse_block, read_blocks, read_schema


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Consecutive rows of one file; those of a Parquet file are packed into bytes."""

    location: str
    block: Block = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class BatchShard:
    """Consecutive rows of one source, not parsed yet; it can be sent to another process."""

    source: int
    number: int
    layout: RecordSchema
    pieces: tuple[Piece, ...]
    input_bytes: int
    """How much of the input files was read for it, as they lie on the disk."""

    @property
    def name(self) -> str:
        """What its files are called; in the order of these names rows follow the input."""
        return f"part-{self.source:05d}-{self.number:06d}"

    @property
    def where(self) -> str:
        """Say for a message where its rows stand."""
        first = self.pieces[0]
        if self.layout.format == "text":
            return f"{len(self.pieces)} files from {first.location} on"
        return f"{first.location}, from row {first.block.first} on"

    @property
    def sha256(self) -> str:
        """Return a checksum of its rows, before they are parsed, and of where they stand."""
        digest = sha256()
        for piece in self.pieces:
            for part in (os.fsencode(piece.location), *_bytes_of(piece.block)):
                digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

    def records(self, columns: Sequence[str] | None = None) -> Iterator[TextRecord | InvalidRecord]:
        """Parse the rows; of a Parquet file with these columns alone, if they are given."""
        for piece in self.pieces:
            block = piece.block
            if self.layout.format == "parquet":
                table = unpack_table(block.payload)
                block = replace(block, payload=table.select(columns) if columns else table)
            for found in parse_block(block, Path(piece.location), self.layout):
                yield _renamed(found, piece.location)


def _renamed(found: TextRecord | InvalidRecord, location: str) -> TextRecord | InvalidRecord:
    """Call an address by its own name again, where `Path` made one slash of two."""
    if not is_remote(location):
        return found
    where = found.where.replace(str(Path(location)), location, 1)
    if isinstance(found, TextRecord) and found.fields.keys() == {"file"}:
        return replace(found, where=where, fields={"file": location})
    return replace(found, where=where)


def cut_source(source: BatchInput, options: CutOptions) -> Iterator[BatchShard]:
    """Cut a source into shards, holding one at a time; the cuts depend on the input alone.

    Raises:
        DataError: when a file cannot be read, or not to its end.
    """
    cuts = _cut_texts(source, options) if source.format == "text" else _cut_rows(source, options)
    for number, (layout, pieces, input_bytes) in enumerate(cuts):
        yield BatchShard(
            source=source.number,
            number=number,
            layout=layout,
            pieces=pieces,
            input_bytes=input_bytes,
        )


_Cut = tuple[RecordSchema, tuple[Piece, ...], int]


def _cut_rows(source: BatchInput, options: CutOptions) -> Iterator[_Cut]:
    (file,) = source.files
    if not file.bytes and source.format != "parquet":  # which has a footer if it is whole
        return
    with at_hand(file.location) as path:
        layout = settle(path, file.location, options)
        before = 0
        for block in read_blocks(path, layout, options.shard_rows):
            if layout.format == "parquet":
                block = replace(block, payload=pack_batch(block.payload))
            piece = Piece(location=file.location, block=block)
            yield layout, (piece,), block.position - before
            before = block.position


def _cut_texts(source: BatchInput, options: CutOptions) -> Iterator[_Cut]:
    layout = read_schema(Path(source.files[0].location), options.read)
    pieces: list[Piece] = []
    held = read = 0
    for file in source.files:
        block = _text_block(file.location, layout)
        pieces.append(Piece(location=file.location, block=block))
        held += len(block.payload)
        read += file.bytes
        if len(pieces) == options.shard_rows or held >= BLOCK_BYTES:
            yield layout, tuple(pieces), read
            pieces, held, read = [], 0, 0
    if pieces:
        yield layout, tuple(pieces), read


def _text_block(location: str, layout: RecordSchema) -> Block:
    """Read a text; one that cannot be decompressed spoils its own row alone."""
    with at_hand(location) as path:
        try:
            return next(read_blocks(path, layout))
        except DataError as error:
            reason = str(error).removeprefix(f"{path}: ")
            return Block(first=1, payload=b"", position=0, invalid=InvalidRecord(location, reason))


def _bytes_of(block: Block) -> Iterator[bytes]:
    """Yield the content of a block for a checksum; lines and packed tables are bytes."""
    if block.invalid is not None:
        yield os.fsencode(block.invalid.reason)
    rows = [block.payload] if isinstance(block.payload, bytes) else block.payload
    for row in rows:
        yield row if isinstance(row, bytes) else repr(row).encode("utf-8", "surrogateescape")
