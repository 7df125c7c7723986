"""Decoding constraints: banned words, minimum and maximum length, forced first words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import ID, Bools, Candidates, Floats, Ints

SPARE_BYTE_CANDIDATES = 16
"""Number of additional candidates that the model returns if there is a maximum in bytes.

Near the maximum, many candidates can be too long. If all of them are, the hypothesis ends.
"""


class Constraint:
    """Base class of constraints, which bans nothing.

    A constraint does not change during a search. Its methods handle all hypotheses of a step at
    once.
    """

    def max_banned(self, max_words: int) -> int:
        """Return the maximum number of candidates that can be banned for one hypothesis.

        The hypothesis has fewer than `max_words` words.

        The search requests this many additional candidates from the model, so that enough allowed
        words remain to fill the beam.
        """
        return 0

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Return a mask of the banned candidates, (R, k), or None if no candidate is banned."""
        return None

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Return a mask of the hypotheses that must not end yet, (R,), or None if all may end."""
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


@dataclass(frozen=True, kw_only=True, eq=False)
class ByteLengthConstraint(Constraint):
    """Minimum and maximum number of bytes of the printed summary; words are never cut.

    The maximum counts a space before every word but the first, and the minimum counts no spaces, so
    both hold after detokenization, which may remove spaces.

    Args:
        vocab_bytes: (V,) maximum number of bytes of each generated word.
        source_bytes: (B, S) maximum number of bytes of the word copied from each flat source
            position.
        minimum: minimum number of bytes.
        maximum: maximum number of bytes, or None.
        prefix_bytes: number of bytes of each word of a forced prefix, which is the same for all
            documents and printed as the caller wrote it.
    """

    vocab_bytes: Ints
    source_bytes: Ints
    minimum: int = 0
    maximum: int | None = None
    prefix_bytes: Sequence[int] = ()

    def __post_init__(self) -> None:
        assert self.maximum is None or self.minimum <= self.maximum

    def max_banned(self, max_words: int) -> int:
        """Return `SPARE_BYTE_CANDIDATES`, since any number of words can be too long."""
        return 0 if self.maximum is None else SPARE_BYTE_CANDIDATES

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban words that would exceed the maximum."""
        if self.maximum is None:
            return None
        num_spaces = active.num_words  # with a candidate, there is one more word than spaces
        bytes_left = self.maximum - self._used_bytes(active) - num_spaces  # (R,)
        word_bytes = self.word_bytes(active.documents, candidates.ids, candidates.copied_from)
        return word_bytes > bytes_left[:, None]  # (R, k)

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Ban ending before the minimum length."""
        return None if self.minimum == 0 else self._used_bytes(active) < self.minimum

    def word_bytes(self, documents: Ints, ids: Ints, copied_from: Ints) -> Ints:
        """Return the number of bytes of each word, (R, n).

        `documents` is (R,). `ids` and `copied_from`, the flat source positions, are (R, n).
        """
        if_generated = self.vocab_bytes.take(ids, mode="clip")  # OOV words are always copied
        flat_positions = documents[:, None] * self.source_bytes.shape[1] + copied_from
        if_copied = self.source_bytes.reshape(-1).take(flat_positions, mode="clip")
        return np.where(copied_from >= 0, if_copied, if_generated)

    def _used_bytes(self, active: ActiveHypotheses) -> Ints:
        """Return the number of bytes of each hypothesis without spaces: (R,)."""
        num_forced = len(self.prefix_bytes)
        word_bytes = self.word_bytes(
            active.documents, active.ids[:, num_forced:], active.copied_from[:, num_forced:]
        )
        used: Ints = word_bytes.sum(axis=1) + sum(self.prefix_bytes[: active.num_words])
        return used


@dataclass(frozen=True)
class NoRepeatedNgram(Constraint):
    """No n-gram of `size` words occurs twice in a summary."""

    size: int

    def max_banned(self, max_words: int) -> int:
        """Return the maximum number of n-grams of a hypothesis, each of which may ban a word."""
        return max(0, max_words - self.size)

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban each word that has already followed an occurrence of the last `size` - 1 words."""
        if active.num_words < self.size:
            return None
        context_size = self.size - 1
        num_starts = active.num_words - context_size
        # (R, num_starts): whether the last `context_size` words also occur from each start on.
        matches = np.ones((len(active), num_starts), dtype=np.bool_)
        for offset in range(context_size):
            context_word = active.ids[:, num_starts + offset, None]
            matches &= active.ids[:, offset : offset + num_starts] == context_word
        starts = np.flatnonzero(matches.any(axis=0))
        if not len(starts):
            return None
        banned = np.zeros(candidates.ids.shape, dtype=np.bool_)
        for start in starts:
            next_word = active.ids[:, start + context_size, None]
            banned |= (candidates.ids == next_word) & matches[:, start, None]
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


@dataclass(frozen=True)
class ConstraintList(Constraint):
    """Constraints that all apply."""

    constraints: Sequence[Constraint]

    def max_banned(self, max_words: int) -> int:
        """Return the sum over the constraints."""
        return sum(constraint.max_banned(max_words) for constraint in self.constraints)

    def banned_words(self, active: ActiveHypotheses, candidates: Candidates) -> Bools | None:
        """Ban the candidates that any constraint bans."""
        return _any_of(
            [constraint.banned_words(active, candidates) for constraint in self.constraints]
        )

    def banned_end(self, active: ActiveHypotheses) -> Bools | None:
        """Ban the end of the hypotheses that any constraint forbids to end."""
        return _any_of([constraint.banned_end(active) for constraint in self.constraints])


class ForcedPrefix:
    """Forced first words of the summary of each document.

    Forced words are not scored, and constraints do not apply to them.

    Args:
        ids: for each document the extended ids of its prefix, which may be empty and may contain
            UNK.
    """

    def __init__(self, ids: Sequence[Sequence[int]]) -> None:
        self.lengths: Ints = np.array([len(prefix) for prefix in ids], dtype=np.int64)
        self.max_length = int(self.lengths.max(initial=0))
        self.ids = np.zeros((len(ids), self.max_length), dtype=ID)
        for document, prefix in enumerate(ids):
            self.ids[document, : len(prefix)] = prefix

    def num_scored(self, documents: Ints, num_words: int) -> Ints:
        """Return the number of scored words, at least 1, in hypotheses of `num_words` words.

        EOS counts as a word. The result has the shape of `documents`.
        """
        return np.maximum(num_words - self.lengths[documents], 1)

    def is_forced(self, active: ActiveHypotheses) -> Bools | None:
        """Return a mask of the rows whose next word is forced, (R,), or None if there are none."""
        if self.max_length <= active.num_words:
            return None
        is_forced: Bools = self.lengths[active.documents] > active.num_words
        return is_forced

    def force(
        self, active: ActiveHypotheses, candidates: Candidates, bonuses: Floats | None
    ) -> tuple[Candidates, Floats | None]:
        """Replace the candidates of the rows whose next word is forced.

        The forced word has log-probability 0 and no bonus; every other candidate of the row has
        log-probability -inf.

        Args:
            active: R hypotheses.
            candidates: (R, k) candidates.
            bonuses: (R, k) feature bonuses; None if there are none.

        Returns:
            The candidates and their bonuses.
        """
        is_forced = self.lengths[active.documents] > active.num_words  # (R,)
        if not is_forced.any():
            return candidates, bonuses
        ids, copied_from = candidates.ids.copy(), candidates.copied_from.copy()
        log_probs, end_log_probs = candidates.log_probs.copy(), candidates.end_log_probs.copy()
        ids[is_forced, 0] = self.ids[active.documents[is_forced], active.num_words]
        copied_from[is_forced, 0] = -1
        log_probs[is_forced, 0] = 0.0
        log_probs[is_forced, 1:] = -np.inf
        end_log_probs[is_forced] = -np.inf
        forced = replace(
            candidates,
            ids=ids,
            log_probs=log_probs,
            copied_from=copied_from,
            end_log_probs=end_log_probs,
        )
        return forced, None if bonuses is None else np.where(is_forced[:, None], 0.0, bonuses)


def _any_of(masks: Sequence[Bools | None]) -> Bools | None:
    """Return the logical or of the masks that are not None, or None if all are."""
    not_none = [mask for mask in masks if mask is not None]
    return reduce(np.logical_or, not_none) if not_none else None
