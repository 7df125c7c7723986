"""The ranges a number may lie in, written beside the field they bound."""

import math
from dataclasses import dataclass
from typing import Protocol


class Range(Protocol):
    """What a bounded field declares in its `Annotated` type."""

    def admits(self, value: float) -> bool:
        """Say whether `value` lies in the range."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class AtLeast:
    """A smallest value that is still allowed."""

    minimum: float

    def admits(self, value: float) -> bool:
        """Say whether `value` reaches the minimum; nothing is endless."""
        return self.minimum <= value < math.inf

    def __str__(self) -> str:
        return f"{self.minimum:g} or more"


@dataclass(frozen=True)
class MoreThan:
    """A bound that is itself not allowed."""

    bound: float

    def admits(self, value: float) -> bool:
        """Say whether `value` lies above the bound; nothing is endless."""
        return self.bound < value < math.inf

    def __str__(self) -> str:
        return f"more than {self.bound:g}"


@dataclass(frozen=True)
class Between:
    """Two ends, both allowed."""

    low: float
    high: float

    def admits(self, value: float) -> bool:
        """Say whether `value` lies between the ends."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"
