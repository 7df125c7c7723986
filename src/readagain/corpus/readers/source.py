"""What a reader is given and what it hands on: one input, cut into blocks of records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from readagain.corpus.pair import Example, InvalidRecord

SplitName = Literal["train", "dev", "test"]

BLOCK_RECORDS = 8192
"""Records in a block; a block is what one worker handles at a time."""
BLOCK_BYTES = 16 << 20
"""A block ends early when its records reach this size, so that memory stays bounded."""
MAX_RECORD_BYTES = 1 << 20
"""The longest record taken for one; beyond it, a file is not what its name says."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Where in a record the text and the headline stand."""

    text: str
    headline: str


@dataclass(frozen=True, kw_only=True)
class CorpusInput:
    """One input: where it is, how it is read, and which split it belongs to."""

    format: str
    paths: tuple[Path, ...]
    """The file with the texts first; parallel formats add their headline files."""
    origin: str
    """The argument that named it; pairs are counted by origin."""
    split: SplitName = "train"
    columns: Columns | None = None
    encoding: str = "utf-8"
    is_text_tokenized: bool = False
    is_headline_tokenized: bool = False

    @property
    def path(self) -> Path:
        """The file named in messages."""
        return self.paths[0]


@dataclass(frozen=True, kw_only=True)
class Block:
    """Consecutive records of one source: cut cheaply by one process, parsed by another."""

    first: int
    """Number of the first record or line, from 1."""
    payload: Any = field(repr=False)
    """What the format's own `records` understands; must survive pickling."""
    position: int
    """Bytes of the source that lie behind the end of this block."""


@dataclass(frozen=True, kw_only=True)
class CorpusFormat:
    """A public format: its name, one line about it, and its two halves."""

    name: str
    title: str
    blocks: Callable[[CorpusInput], Iterator[Block]]
    records: Callable[[CorpusInput, Block], Iterator[Example | InvalidRecord]]
    column_names: Callable[[Path, str], list[str]] | None = None
    """Names the columns of a file in an encoding; None where a format has no columns."""
