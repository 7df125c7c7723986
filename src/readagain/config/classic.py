"""What a summarizer without a network is: a title, a citation, and its limit."""

from dataclasses import dataclass
from typing import Annotated

from readagain.config.ranges import AtLeast

Size = Annotated[int, AtLeast(1)]


@dataclass(frozen=True, kw_only=True)
class PrefixSpec:
    """The first bytes of a text."""

    title: str
    paper: str
    max_bytes: Size = 75
    """How many bytes of UTF-8 are taken."""


@dataclass(frozen=True, kw_only=True)
class LeadSpec:
    """The first sentence of a text."""

    title: str
    paper: str


@dataclass(frozen=True, kw_only=True)
class TopiarySpec:
    """Topic words, then a trimmed sentence."""

    title: str
    paper: str
    max_bytes: Size = 75
    """Longest summary in bytes of UTF-8."""


ClassicSpec = PrefixSpec | LeadSpec | TopiarySpec
