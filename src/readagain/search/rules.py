"""Rules: small objects that forbid some next words, or ending."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from readagain.counts import counted
from readagain.errors import ConfigError
from readagain.search.live import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Ints, SourceBatch


class Constraint:
    """Forbids nothing; a rule overrides what it has a say in.

    A rule is asked once per step about all rows together, and keeps no memory between steps.
    """

    def max_bans(self, max_words: int) -> int:
        """How many words it can forbid after one hypothesis of fewer than `max_words` words.

        Search asks the model for that many more candidates, so that a ban after the top-k loses
        nothing.
        """
        return 0

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Mark the candidates that must not come next, (R, k); None for none of them."""
        return None

    def bans_end(self, live: ActiveHypotheses) -> Bools | None:
        """Mark the rows that must not end yet, (R,); None for none of them."""
        return None


@dataclass(frozen=True, kw_only=True)
class LengthConstraint(Constraint):
    """A summary has at least `minimum` and at most `maximum` words.

    At the maximum every word is forbidden; that costs no candidates, since a row can end always.
    """

    minimum: int = 1
    maximum: int

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.maximum:
            raise ConfigError(
                f"a summary of at least {self.minimum} and at most "
                f"{counted(self.maximum, 'word')}; "
                "expected 0 <= minimum <= maximum"
            )

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid every word after the last."""
        if live.num_words < self.maximum:
            return None
        return np.ones(offered.ids.shape, dtype=np.bool_)

    def bans_end(self, live: ActiveHypotheses) -> Bools | None:
        """Forbid ending before the minimum."""
        if live.num_words >= self.minimum:
            return None
        return np.ones(len(live), dtype=np.bool_)


@dataclass(frozen=True)
class NoRepeatedNgram(Constraint):
    """No sequence of `size` words stands in a summary twice; of size 1: no word twice."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ConfigError(f"no repeated n-gram of {self.size} words; expected 1 or more")

    def max_bans(self, max_words: int) -> int:
        """One word for each n-gram that can end before the last word."""
        return max(0, max_words - self.size)

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid each word that once followed the last `size` - 1 words."""
        if live.num_words < self.size:
            return None
        context_size = self.size - 1
        num_starts = live.num_words - context_size
        recurs = np.ones((len(live), num_starts), dtype=np.bool_)  # the last words stood there
        for nth in range(context_size):
            last = live.words[:, num_starts + nth, None]
            recurs &= live.words[:, nth : nth + num_starts] == last
        starts = np.flatnonzero(recurs.any(axis=0))
        if not len(starts):
            return None
        banned = np.zeros(offered.ids.shape, dtype=np.bool_)
        for start in starts:
            follower = live.words[:, start + context_size, None]
            banned |= (offered.ids == follower) & recurs[:, start, None]
        return banned


class NoDoubledWord(Constraint):
    """No word follows itself: "the the" is a slip, whatever stands elsewhere."""

    def max_bans(self, max_words: int) -> int:
        """The last word alone."""
        return 1

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid the last word."""
        if live.num_words == 0:
            return None
        banned: Bools = offered.ids == live.last_ids[:, None]  # (R, k)
        return banned


class CopyLimit(Constraint):
    """No word is copied more often than it stands in the source; generating it is free.

    Args:
        sources: the batch that is searched.
    """

    def __init__(self, sources: SourceBatch) -> None:
        self.occurrences = _occurrences(sources)  # (B, S)

    def max_bans(self, max_words: int) -> int:
        """Only words that the summary has already."""
        return max(0, max_words - 1)

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid copying what has been used as often as the source has it."""
        if live.num_words == 0:
            return None
        used = np.zeros(offered.ids.shape, dtype=np.int16)
        for place in range(live.num_words):
            used += offered.ids == live.words[:, place, None]
        # Position -1, generated, reads the last column; it is not banned whatever stands there.
        available = self.occurrences[live.document[:, None], offered.copied_from]  # (R, k)
        return (offered.copied_from >= 0) & (used >= available)


class ConstraintList(Constraint):
    """Several rules as one: what any of them forbids is forbidden.

    Args:
        rules: the rules, in any order.
    """

    def __init__(self, rules: Sequence[Constraint]) -> None:
        self.rules = tuple(rules)

    def max_bans(self, max_words: int) -> int:
        """As many as all together."""
        return sum(rule.max_bans(max_words) for rule in self.rules)

    def banned_words(self, live: ActiveHypotheses, offered: Candidates) -> Bools | None:
        """Forbid what any rule forbids."""
        return _any_of([rule.banned_words(live, offered) for rule in self.rules])

    def bans_end(self, live: ActiveHypotheses) -> Bools | None:
        """Forbid ending where any rule does."""
        return _any_of([rule.bans_end(live) for rule in self.rules])


def _any_of(masks: Sequence[Bools | None]) -> Bools | None:
    given = [mask for mask in masks if mask is not None]
    return reduce(np.logical_or, given) if given else None


def _occurrences(sources: SourceBatch) -> Ints:
    """Count how often the word at each position stands in its own document: (B, S)."""
    ids = np.where(sources.source_valid, sources.source_ext_ids, -1)
    counts = np.zeros(ids.shape, dtype=np.int16)
    for position in range(ids.shape[1]):
        counts += ids == ids[:, position, None]
    return counts
