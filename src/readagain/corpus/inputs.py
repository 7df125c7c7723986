"""Examples, and descriptions of the inputs and formats that they are read from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from readagain.errors import ArgumentError, DataError
from readagain.formats.records import Block, InvalidRecord

SplitName = Literal["train", "dev", "test"]
SPLITS: tuple[SplitName, ...] = ("train", "dev", "test")


class TooFewPairsError(ArgumentError, DataError):
    """Inputs with too few pairs; `dropped` has the reasons for which pairs were dropped."""

    def __init__(self, message: str, *values: object, dropped: str = "") -> None:
        super().__init__(message, *values)
        self.dropped = dropped


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its headline, not normalized."""

    text: str
    headline: str
    references: tuple[str, ...] = ()
    """All headlines of a text with several, as in DUC; `headline` is the first of them."""
    full_headline: str = ""
    """Headline for the filters, if the reader removed words from `headline`; otherwise empty."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Names of the text and headline columns."""

    text: str
    headline: str


@dataclass(frozen=True, kw_only=True)
class CorpusInput:
    """One input: its files, how to read them, and its split."""

    format: str
    paths: tuple[Path, ...]
    """The file with the texts; line-aligned formats have their headline files after it."""
    origin: str
    """The file, folder or pattern that the user gave and that led to this input.

    All inputs of a folder have the same origin. Reports count examples by origin.
    """
    split: SplitName = "train"
    columns: Columns | None = None
    encoding: str = "utf-8"
    is_text_tokenized: bool = False
    """Whether texts are tokenized as in Gigaword: space-separated, one sentence per line."""
    is_headline_tokenized: bool = False

    @property
    def path(self) -> Path:
        """The file with the texts; error messages contain its name."""
        return self.paths[0]

    @property
    def description(self) -> str:
        """How the input is read; commands print it, so that users notice a wrong format."""
        parts = [f"{self.path}: {self.format}"]
        if self.columns:
            parts.append(f"'{self.columns.text}' and '{self.columns.headline}'")
        if self.is_text_tokenized:
            parts.append("tokenized as in Gigaword")
        return ", ".join([*parts, f"for {self.split}"])


@dataclass(frozen=True, kw_only=True)
class CorpusFormat:
    """Functions that read one format, and properties of its texts."""

    read_blocks: Callable[[CorpusInput], Iterator[Block]]
    """Function that splits an input into blocks, which workers parse."""
    parse_block: Callable[[CorpusInput, Block], Iterator[Example | InvalidRecord]]
    column_names: Callable[[Path, str], list[str] | None] | None = None
    """Function from path and encoding to column names, which returns None without records; None if
    users cannot choose columns."""
    is_text_tokenized: bool = False
    """Whether the texts of all inputs in this format are tokenized."""
    is_headline_tokenized: bool = False
