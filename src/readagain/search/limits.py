"""Limits in bytes of the printed text."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from readagain.counts import counted
from readagain.errors import ConfigError, ShapeError
from readagain.search.live import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Ints
from readagain.search.rules import Constraint

Word = TypeVar("Word")

# Near its limit a hypothesis can be offered many words that are too long; so many more are asked
# for. Beyond that it ends, at the price that the model puts on ending.
SPARE_CANDIDATES = 16


class PrintedBytes:
    """How many bytes each word takes in print, at most.

    A generated word is measured by the vocabulary, a copied one where it stands in its source.

    Args:
        generated: (V,) bytes of each vocabulary word.
        copied: (B, S) bytes of the word at each flat source position.
    """

    def __init__(self, *, generated: Ints, copied: Ints) -> None:
        if generated.ndim != 1 or copied.ndim != 2:
            raise ShapeError(
                f"bytes of generated words have shape {generated.shape}, of copied words "
                f"{copied.shape}; expected (V,) and (B, S)"
            )
        self.generated = generated.astype(np.int32)
        self.copied = copied.astype(np.int32)

    def of(self, document: Ints, ids: Ints, copied_from: Ints) -> Ints:
        """Measure words: documents (R,), ids and positions (R, n) -> bytes (R, n)."""
        as_generated = self.generated.take(ids, mode="clip")  # what is clipped is copied
        flat = document[:, None] * self.copied.shape[1] + copied_from
        as_copied = self.copied.reshape(-1).take(flat, mode="clip")
        return np.where(copied_from >= 0, as_copied, as_generated)


class ByteLengthConstraint(Constraint):
    """A printed summary has at least `minimum` and at most `maximum` bytes, and ends at a word.

    The maximum counts a space before every word but the first, the minimum none: printing joins
    some words without a space, and either promise holds whichever it does.

    Args:
        printed: the bytes of each word.
        minimum: the fewest bytes.
        maximum: the most bytes; None for no limit.
        forced: bytes of the words that every summary is forced to begin with, if it is.
    """

    def __init__(
        self,
        printed: PrintedBytes,
        *,
        minimum: int = 0,
        maximum: int | None = None,
        forced: Sequence[int] = (),
    ) -> None:
        if minimum < 0 or (maximum is not None and maximum < minimum):
            raise ConfigError(
                f"a summary of at least {counted(minimum, 'byte')} and at most {maximum}; "
                "expected 0 <= minimum <= maximum"
            )
        self.printed = printed
        self.minimum = minimum
        self.maximum = maximum
        self.forced = tuple(forced)

    def max_bans(self, max_words: int) -> int:
        """A margin: how many words are too long has no bound but the vocabulary."""
        return 0 if self.maximum is None else SPARE_CANDIDATES

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid the words that no longer fit."""
        if self.maximum is None:
            return None
        room = self.maximum - self._spent(live) - live.num_words  # one space before each word
        needed = self.printed.of(live.document, offered.ids, offered.copied_from)
        return needed > room[:, None]

    def bans_end(self, live: ActiveHypotheses) -> Bools | None:
        """Forbid ending before the minimum."""
        if self.minimum == 0:
            return None
        return self._spent(live) < self.minimum

    def _spent(self, live: ActiveHypotheses) -> Ints:
        """Add up the bytes of each row's words, without spaces: (R,)."""
        P = len(self.forced)
        chosen = self.printed.of(live.document, live.words[:, P:], live.copied_from[:, P:])
        spent: Ints = chosen.sum(axis=1) + sum(self.forced[: live.num_words])
        return spent


def cut_to_bytes(
    words: Sequence[Word], surface: Callable[[Sequence[Word]], str], max_bytes: int
) -> Sequence[Word]:
    """Drop words from the end until what is printed has at most `max_bytes` bytes.

    The exact last word on a limit, for callers whose printing no table of words can foresee.

    >>> cut_to_bytes(["air", "fares", "rise"], " ".join, 9)
    ['air', 'fares']
    """
    while words and len(surface(words).encode("utf-8", "surrogatepass")) > max_bytes:
        words = words[:-1]
    return words
