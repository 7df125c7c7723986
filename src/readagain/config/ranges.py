"""The ranges a number may lie in, written beside the field they bound."""

import math
from dataclasses import dataclass
from typing import Protocol


class Range(Protocol):
    """What a bounded field declares in its `Annotated` type."""

    @property
    def minimum(self) -> float:
        """Lower end."""
        ...

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

    minimum: float

    def admits(self, value: float) -> bool:
        """Say whether `value` lies above the bound; nothing is endless."""
        return self.minimum < value < math.inf

    def __str__(self) -> str:
        return f"more than {self.minimum:g}"


@dataclass(frozen=True)
class Between:
    """Two ends, both allowed."""

    minimum: float
    high: float

    def admits(self, value: float) -> bool:
        """Say whether `value` lies between the ends."""
        return self.minimum <= value <= self.high

    def __str__(self) -> str:
        return f"{self.minimum:g} to {self.high:g}"
