"""Decoding constraints: which words may follow a hypothesis, when it may end, how it starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import ID, Bools, Candidates, Ints, SourceBatch

SPARE_CANDIDATES = 16
"""Number of additional candidates that the model returns if there is a limit in bytes.

Near the limit, many candidates can be too long. If all of them are, the hypothesis ends.
"""


class Constraint:
    """Base class of constraints; it bans nothing.

    A constraint keeps no state. In each step it is evaluated once, for all hypotheses.
    """

    def max_banned(self, max_words: int) -> int:
        """Return the maximum number of banned words for a hypothesis shorter than `max_words`.

        The search requests this many additional candidates from the model, so that bans do not
        narrow the beam.
        """
        return 0

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Return the banned candidates, (R, k), or None if there are none."""
        return None

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Return the rows that must not end yet, (R,), or None if there are none."""
        return None


@dataclass(frozen=True, kw_only=True)
class LengthConstraint(Constraint):
    """Minimum and maximum number of words.

    At the maximum every word is banned. This needs no additional candidates, since EOS is always
    scored.
    """

    minimum: int = 1
    maximum: int

    def __post_init__(self) -> None:
        assert 0 <= self.minimum <= self.maximum

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban every word at the maximum length."""
        if active.num_words < self.maximum:
            return None
        return np.ones(candidates.ids.shape, dtype=np.bool_)

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Ban ending before the minimum length."""
        if active.num_words >= self.minimum:
            return None
        return np.ones(len(active), dtype=np.bool_)


class ByteLengthConstraint(Constraint):
    """Minimum and maximum number of printed bytes; words are never cut.

    The maximum counts a space before every word but the first, and the minimum counts no spaces, so
    both hold after detokenization, which may remove spaces.

    Args:
        generated: (V,) bytes of each vocabulary word, at most.
        copied: (B, S) bytes of the word at each flat source position, at most.
        minimum: minimum number of bytes.
        maximum: maximum number of bytes, or None.
        forced: bytes of each word of a forced prefix, which is printed as the caller wrote it.
    """

    def __init__(
        self,
        *,
        generated: Ints,
        copied: Ints,
        minimum: int = 0,
        maximum: int | None = None,
        forced: Sequence[int] = (),
    ) -> None:
        assert maximum is None or minimum <= maximum
        self.generated = generated.astype(np.int32)
        self.copied = copied.astype(np.int32)
        self.minimum = minimum
        self.maximum = maximum
        self.forced = tuple(forced)

    def max_banned(self, max_words: int) -> int:
        """Return `SPARE_CANDIDATES`, since any number of words can be too long."""
        return 0 if self.maximum is None else SPARE_CANDIDATES

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban words that would exceed the maximum."""
        if self.maximum is None:
            return None
        num_spaces = active.num_words
        num_left = self.maximum - self._num_used(active) - num_spaces  # (R,)
        num_needed = self.num_bytes(active.documents, candidates.ids, candidates.copied_from)
        return num_needed > num_left[:, None]  # (R, k)

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Ban ending before the minimum length."""
        return None if self.minimum == 0 else self._num_used(active) < self.minimum

    def num_bytes(self, documents: Ints, ids: Ints, copied_from: Ints) -> Ints:
        """Return the bytes of words, (R, n), from (R,) documents, (R, n) ids and positions."""
        as_generated = self.generated.take(ids, mode="clip")  # ids above V are always copied
        flat = documents[:, None] * self.copied.shape[1] + copied_from
        as_copied = self.copied.reshape(-1).take(flat, mode="clip")
        return np.where(copied_from >= 0, as_copied, as_generated)

    def _num_used(self, active: ActiveHypotheses) -> Ints:
        """Return the bytes of each row without spaces: (R,)."""
        start = len(self.forced)
        num_bytes = self.num_bytes(
            active.documents, active.ids[:, start:], active.copied_from[:, start:]
        )
        used: Ints = num_bytes.sum(axis=1) + sum(self.forced[: active.num_words])
        return used


@dataclass(frozen=True)
class NoRepeatedNgram(Constraint):
    """No n-gram of `size` words occurs twice in a summary."""

    size: int

    def max_banned(self, max_words: int) -> int:
        """Return the maximum number of earlier n-grams, each of which may ban a word."""
        return max(0, max_words - self.size)

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban each word that already followed the last `size` - 1 words."""
        if active.num_words < self.size:
            return None
        context_size = self.size - 1
        num_starts = active.num_words - context_size
        # (R, num_starts): whether the last `context_size` words also occur at each earlier start.
        matches = np.ones((len(active), num_starts), dtype=np.bool_)
        for offset in range(context_size):
            last = active.ids[:, num_starts + offset, None]
            matches &= active.ids[:, offset : offset + num_starts] == last
        starts = np.flatnonzero(matches.any(axis=0))
        if not len(starts):
            return None
        banned = np.zeros(candidates.ids.shape, dtype=np.bool_)
        for start in starts:
            following = active.ids[:, start + context_size, None]
            banned |= (candidates.ids == following) & matches[:, start, None]
        return banned


class NoDoubledWord(Constraint):
    """No word directly follows itself ("the the")."""

    def max_banned(self, max_words: int) -> int:
        """Return 1, for the last word."""
        return 1

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban the last word."""
        if active.num_words == 0:
            return None
        banned: Bools = candidates.ids == active.last_ids[:, None]  # (R, k)
        return banned


class CopyLimit(Constraint):
    """No word is copied more often than it occurs in the source; generation is not limited."""

    def __init__(self, sources: SourceBatch) -> None:
        self.occurrences = _occurrences(sources)  # (B, S)

    def max_banned(self, max_words: int) -> int:
        """Return the maximum number of earlier words, each of which may be banned."""
        return max(0, max_words - 1)

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban copying a word that already occurs as often in the summary as in the source."""
        if active.num_words == 0:
            return None
        used = np.zeros(candidates.ids.shape, dtype=np.int16)
        for position in range(active.num_words):
            used += candidates.ids == active.ids[:, position, None]
        # Position -1 (generated) reads the last column; the result is masked below.
        available = self.occurrences[active.documents[:, None], candidates.copied_from]  # (R, k)
        return (candidates.copied_from >= 0) & (used >= available)


class ConstraintList(Constraint):
    """Conjunction of several constraints."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        self.constraints = tuple(constraints)

    def max_banned(self, max_words: int) -> int:
        """Return the sum over the constraints."""
        return sum(each.max_banned(max_words) for each in self.constraints)

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban what any constraint bans."""
        return _any_of([each.banned_words(active, candidates) for each in self.constraints])

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Ban ending where any constraint does."""
        return _any_of([each.banned_end(active) for each in self.constraints])


class ForcedPrefix:
    """Words with which the summary of each document starts; they are not scored.

    Constraints do not apply to forced words.

    Args:
        ids: for each document the extended ids of its prefix, which may be empty. UNK is allowed.
    """

    def __init__(self, ids: Sequence[Sequence[int]]) -> None:
        self.lengths: Ints = np.array([len(prefix) for prefix in ids], dtype=np.int64)
        self.max_length = int(self.lengths.max(initial=0))
        self.ids = np.zeros((len(ids), self.max_length), dtype=ID)
        for document, prefix in enumerate(ids):
            self.ids[document, : len(prefix)] = prefix

    def num_scored(self, documents: Ints, num_words: int) -> Ints:
        """Return how many of the first `num_words` words, EOS included, are scored; at least 1.

        The shape is that of `documents`, (R,), or (1,) if no document has a prefix.
        """
        if not self.max_length:
            return np.array([num_words])
        return np.maximum(num_words - self.lengths[documents], 1)

    def is_forced(self, active: ActiveHypotheses) -> Bools | None:
        """Return the rows that are still within their prefix, (R,), or None if there are none."""
        if self.max_length <= active.num_words:
            return None
        forced: Bools = self.lengths[active.documents] > active.num_words
        return forced

    def force(self, candidates: Candidates, active: ActiveHypotheses) -> Candidates:
        """Replace the candidates of rows within their prefix by the forced word."""
        forced = self.is_forced(active)
        if forced is None:
            return candidates
        ids, copied_from = candidates.ids.copy(), candidates.copied_from.copy()
        log_probs, end_log_probs = candidates.log_probs.copy(), candidates.end_log_probs.copy()
        ids[forced, 0] = self.ids[active.documents[forced], active.num_words]
        copied_from[forced, 0] = -1
        log_probs[forced, 0] = 0.0
        log_probs[forced, 1:] = -np.inf
        end_log_probs[forced] = -np.inf
        return replace(
            candidates,
            ids=ids,
            log_probs=log_probs,
            copied_from=copied_from,
            end_log_probs=end_log_probs,
        )


def _any_of(masks: Sequence[Bools | None]) -> Bools | None:
    present = [mask for mask in masks if mask is not None]
    return reduce(np.logical_or, present) if present else None


def _occurrences(sources: SourceBatch) -> Ints:
    """Count the occurrences of the word at each position in its document: (B, S)."""
    ids = np.where(sources.source_valid, sources.source_ext_ids, -1)
    counts = np.zeros(ids.shape, dtype=np.int16)
    for position in range(ids.shape[1]):
        counts += ids == ids[:, position, None]
    return counts
