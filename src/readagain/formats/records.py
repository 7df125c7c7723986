"""Records of an input file, and the blocks in which they are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

BLOCK_RECORDS = 8192
"""Maximum number of records in a block; a worker parses one block at a time."""
BLOCK_BYTES = 16 << 20
"""Size at which a block ends before it has `BLOCK_RECORDS` records, to limit memory."""
MAX_RECORD_BYTES = 1 << 20
"""Maximum size of a record; a file with a larger one probably has another format."""


class Record(NamedTuple):
    """A parsed record: its line or row number (from 1) and its fields."""

    number: int
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class InvalidRecord:
    """A record that cannot be used, with its location and the reason."""

    where: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Block:
    """Consecutive unparsed records of a file; another process may parse them."""

    first: int
    """Number of the first record or line, from 1."""
    payload: Any = field(repr=False)
    """Unparsed records; the type depends on the format and can be pickled."""
    position: int
    """Number of bytes of the file up to the end of this block."""
    columns: tuple[str, ...] = ()
    """Column names of CSV rows."""
    invalid: InvalidRecord | None = None
    """Why the only record of this block cannot be read; the payload is then empty."""


class TableFormat(Protocol):
    """A module that reads records with named columns."""

    def column_names(self, path: Path, encoding: str) -> list[str]:
        """Return the column names, or the keys of the first JSON object."""
        ...

    def read_blocks(
        self,
        path: Path,
        encoding: str,
        *,
        columns: Sequence[str] | None = None,
        records_per_block: int | None = None,
    ) -> Iterator[Block]:
        """Split a file into blocks without parsing the records.

        Args:
            path: the file.
            encoding: encoding of a text format.
            columns: the columns to read, if the format can skip the others.
            records_per_block: maximum number of records in a block (default: `BLOCK_RECORDS`).
        """
        ...

    def parse_block(
        self, block: Block, path: Path, encoding: str
    ) -> Iterator[Record | InvalidRecord]:
        """Parse the records of a block; `path` is only used in messages."""
        ...


def list_blocks(
    records: Sequence[Any], position: int, records_per_block: int | None = None
) -> Iterator[Block]:
    """Split the records of a document that was parsed as a whole into blocks.

    Args:
        records: all records.
        position: number of bytes of the file that were read for them.
        records_per_block: maximum number of records in a block (default: `BLOCK_RECORDS`).
    """
    size = records_per_block or BLOCK_RECORDS
    for start in range(0, len(records), size):
        payload = records[start : start + size]
        end = position * (start + len(payload)) // len(records)
        yield Block(first=start + 1, payload=payload, position=end)
