"""Records of an input file, and the blocks in which they are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from readagain.errors import ArgumentError, DataError

SET_ENCODING = "convert the file or set {encoding} (for example cp1252)"
"""Advice for bytes that cannot be decoded; braces as in `ArgumentError`."""

T = TypeVar("T")

BLOCK_RECORDS = 8192
"""Maximum number of records in a block; a worker parses one block at a time."""
BLOCK_BYTES = 16 << 20
"""Size at which a block ends even if it has fewer than `BLOCK_RECORDS` records, to limit memory."""
MAX_RECORD_BYTES = 1 << 20
"""Maximum size of a record; a file with a larger record probably has another format."""


class Record(NamedTuple):
    """A parsed record: its line or row number (from 1) and its fields."""

    number: int
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class InvalidRecord:
    """A record that cannot be used, with its location and the reason."""

    where: str
    reason: str
    """What is wrong; `{encoding}` stands for the name of this argument."""
    content: Any = None
    """The fields, cells or line of the record; None if it is too large or is an entire file."""

    def format_reason(self, format_name: Callable[[str], str] = str) -> str:
        """Return the reason; `format_name` formats the name of the argument `encoding`."""
        return self.reason.replace("{encoding}", format_name("encoding"))

    def as_row(self) -> dict[str, Any]:
        """Return file, row, reason and content, as in the files of skipped records."""
        file, _, row = self.where.rpartition(":")
        is_numbered = bool(file) and row.isdecimal()
        return {
            "file": file if is_numbered else self.where,
            "row": int(row) if is_numbered else 1,
            "reason": self.format_reason(),
            "content": self.content,
        }


OnError = Literal["stop", "skip"]
"""What to do with an invalid record: raise an error, or skip and report it."""


class InputError(ArgumentError, DataError):
    """Invalid input; the message names an argument with which it can be read or skipped."""


def invalid_record_error(
    record: InvalidRecord, advice: str = "; or skip such records with {on_error}=skip"
) -> InputError:
    """Return the error for an invalid record; `advice` is added to its reason."""
    # Braces in the reason are text, such as the name of a column, except `{encoding}`.
    reason = record.reason.replace("{", "{{").replace("}", "}}")
    reason = reason.replace("{{encoding}}", "{encoding}")
    return InputError(f"{{0}}: {reason}{advice}", record.where)


def valid_records(
    records: Iterable[T | InvalidRecord],
    on_error: OnError,
    on_skip: Callable[[InvalidRecord], None] = lambda record: None,
) -> Iterator[T]:
    """Yield the valid records; call `on_skip` with each invalid record that is skipped.

    Raises:
        InputError: at the first invalid record, if `on_error` is "stop".
    """
    for record in records:
        if not isinstance(record, InvalidRecord):
            yield record
        elif on_error == "stop":
            raise invalid_record_error(record)
        else:
            on_skip(record)


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
    """Set if the only record of this block cannot be read; the payload is then empty."""


class TableFormat(Protocol):
    """A module that reads records with named columns."""

    def column_names(self, path: Path, encoding: str) -> list[str] | None:
        """Return the column names, or the keys of the first JSON object; None without records."""
        ...

    def read_blocks(
        self,
        path: Path,
        encoding: str,
        *,
        columns: Sequence[str] | None = None,
        records_per_block: int | None = None,
    ) -> Iterator[Block]:
        """Split a file into blocks of at most `records_per_block` without parsing the records.

        `columns` are the columns to read (default: all). Formats that must parse all columns ignore
        it.
        """
        ...

    def parse_block(
        self, block: Block, path: Path, encoding: str
    ) -> Iterator[Record | InvalidRecord]:
        """Parse the records of a block; `path` is only used in messages."""
        ...


def split_into_blocks(records: Sequence[Any], position: int) -> Iterator[Block]:
    """Split parsed records into blocks, for formats that are parsed as a whole.

    `position` is the number of bytes of the file that were read for all records.
    """
    for start in range(0, len(records), BLOCK_RECORDS):
        payload = records[start : start + BLOCK_RECORDS]
        end = position * (start + len(payload)) // len(records)
        yield Block(first=start + 1, payload=payload, position=end)
