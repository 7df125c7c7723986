"""Examples and the inputs that they are read from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from readagain.formats.records import Block, InvalidRecord

SplitName = Literal["train", "dev", "test"]
SPLITS: tuple[SplitName, ...] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its headline, not normalized.

    If a text has several human summaries, as in DUC, `references` has all of them and `headline`
    is the first. `full_headline` is the headline before the reader removed words from it; the
    filters use it.
    """

    text: str
    headline: str
    references: tuple[str, ...] = ()
    full_headline: str = ""


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
    """The file with the texts first; line-aligned formats add their headline files."""
    origin: str
    """The argument (file, folder or pattern) that names this input, and perhaps others.

    Examples are counted by origin.
    """
    split: SplitName = "train"
    columns: Columns | None = None
    encoding: str = "utf-8"
    is_text_tokenized: bool = False
    is_headline_tokenized: bool = False

    @property
    def path(self) -> Path:
        """The file named in messages."""
        return self.paths[0]

    @property
    def description(self) -> str:
        """How the input is read, shown so that users notice a wrong detection."""
        parts = [f"{self.path}: {self.format}"]
        if self.columns:
            parts.append(f"'{self.columns.text}' and '{self.columns.headline}'")
        if self.is_text_tokenized:
            parts.append("tokenized as in Gigaword")
        return ", ".join([*parts, f"for {self.split}"])


@dataclass(frozen=True, kw_only=True)
class CorpusFormat:
    """Functions that read one format, and what is known about its texts."""

    read_blocks: Callable[[CorpusInput], Iterator[Block]]
    parse_block: Callable[[CorpusInput, Block], Iterator[Example | InvalidRecord]]
    column_names: Callable[[Path, str], list[str]] | None = None
    """Function from path and encoding to the column names; None if users cannot choose columns."""
    is_text_tokenized: bool = False
    """Whether all texts are tokenized as in Gigaword: space-separated, one sentence per line."""
    is_headline_tokenized: bool = False
