"""Extractive features: how a summary's words stand in its source, weighed into the score.

score = log p(summary | source) + sum over words of weights . features

Rush, Chopra and Weston 2015, section 5, turn ABS into ABS+ by this; any model can be searched so.
Each feature is local: it looks at a word and the one or two before it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property

import numpy as np

from readagain.errors import ConfigError
from readagain.search.live import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Floats, Ints, SourceBatch
from readagain.search.prefix import ForcedPrefix

# The model is asked for so many more words, since one that it puts further back may win by what
# is added. A word that is not offered has a probability below 1 / (beam_size + this).
SPARE_CANDIDATES = 100

_NOWHERE = -1


@dataclass(frozen=True, kw_only=True)
class FeatureWeights:
    """What is added to the score of a summary for each of its words.

    Args:
        unigram: that stands in the source.
        bigram: that stands there behind the word before it.
        trigram: that stands there behind the two words before it.
        reordering: that stands there somewhere before the word before it.
    """

    unigram: float = 0.0
    bigram: float = 0.0
    trigram: float = 0.0
    reordering: float = 0.0

    def __post_init__(self) -> None:
        for name, value in zip(FEATURES, astuple(self), strict=True):
            if not np.isfinite(value):
                raise ConfigError(f"the weight of {name} is {value}; expected a finite number")

    @property
    def are_zero(self) -> bool:
        """Say whether they change nothing."""
        return not any(astuple(self))

    @cached_property  # asked for at every step
    def most(self) -> float:
        """The most that one word can add: a trigram is a bigram, and a bigram a unigram."""
        nested = np.cumsum([0.0, self.unigram, self.bigram, self.trigram])
        return float(nested.max()) + max(0.0, self.reordering)


FEATURES = ("unigram", "bigram", "trigram", "reordering")


class ExtractiveFeatures:
    """The features of words that may come next, for the documents of a batch.

    Args:
        sources: the batch that is searched.
        weights: what each feature adds.
    """

    def __init__(self, sources: SourceBatch, weights: FeatureWeights) -> None:
        self._weights = np.array(astuple(weights))
        valid = sources.source_valid
        B, N, L = sources.source_ids.shape
        self._ids = np.where(valid, sources.source_ext_ids, _NOWHERE)  # (B, S)
        # What stands before each position in its own sentence, and before that.
        by_sentence = self._ids.reshape(B, N, L)
        self._before = _shifted(by_sentence, 1).reshape(B, N * L)
        self._before_that = _shifted(by_sentence, 2).reshape(B, N * L)
        self._first = _first_positions(self._ids)  # (B, ids)

    def weigh(
        self, live: ActiveHypotheses, offered: Candidates, prefix: ForcedPrefix
    ) -> tuple[Candidates, Floats]:
        """Put candidates in the order of log-probability and features together.

        Args:
            live: the hypotheses.
            offered: their candidates; a forced word is not weighed.
            prefix: the forced words.

        Returns:
            The candidates in their new order, and (R, k) what the features add to each.
        """
        added = np.zeros(offered.ids.shape)
        for weight, feature in zip(self._weights, self.values(live, offered.ids), strict=True):
            added += weight * feature
        is_forced = prefix.is_forced(live)
        if is_forced is not None:
            added[is_forced] = 0.0
        # Equals stay in the order of their probabilities.
        order = np.argsort(-(offered.log_probs + added), axis=1, kind="stable")  # (R, k)
        weighed = replace(
            offered,
            ids=np.take_along_axis(offered.ids, order, axis=1),
            log_probs=np.take_along_axis(offered.log_probs, order, axis=1),
            copied_from=np.take_along_axis(offered.copied_from, order, axis=1),
        )
        return weighed, np.take_along_axis(added, order, axis=1)

    def values(self, live: ActiveHypotheses, ids: Ints) -> tuple[Bools, Bools, Bools, Bools]:
        """Mark the words that have each feature, in the order of `FEATURES`: (R, k) each."""
        document, num_words = live.document, live.num_words
        S, known = self._ids.shape[1], self._first.shape[1]
        first = self._first[document[:, None], np.minimum(ids, known - 1)]  # (R, k)
        first = np.where(ids < known, first, S)
        nothing = np.zeros(ids.shape, dtype=np.bool_)
        if num_words == 0:
            return first < S, nothing, nothing, nothing
        source, last = self._ids[document], live.words[:, -1, None]  # (R, S), (R, 1)
        follows: Bools = self._before[document] == last  # (R, S)
        bigram = _among(ids, source, follows)
        reordering = first < _last_positions(source == last)[:, None]
        if num_words == 1:
            return first < S, bigram, nothing, reordering
        follows &= self._before_that[document] == live.words[:, -2, None]
        trigram = _among(ids, source, follows)
        return first < S, bigram, trigram, reordering


def count_features(words: Sequence[Hashable], sentences: Sequence[Sequence[Hashable]]) -> Floats:
    """Add up the features of a whole summary, word by word: (4,) in the order of `FEATURES`.

    Args:
        words: the summary.
        sentences: the source, as far as it was read.

    >>> count_features("b c a".split(), ["a b c".split()]).tolist()
    [3.0, 1.0, 0.0, 1.0]
    """
    ngrams = {
        tuple(sentence[start : start + size])
        for size in (1, 2, 3)
        for sentence in sentences
        for start in range(len(sentence) - size + 1)
    }
    places: dict[Hashable, list[int]] = {}
    for place, word in enumerate(word for sentence in sentences for word in sentence):
        places.setdefault(word, []).append(place)
    counts = np.zeros(len(FEATURES))
    for end in range(1, len(words) + 1):
        for size in (1, 2, 3):
            counts[size - 1] += end >= size and tuple(words[end - size : end]) in ngrams
        if end >= 2 and words[end - 1] in places and words[end - 2] in places:
            counts[3] += places[words[end - 1]][0] < places[words[end - 2]][-1]
    return counts


def _shifted(ids: Ints, by: int) -> Ints:
    """Move each sentence to the right, (B, N, L), so that a position holds what stands before."""
    moved = np.full(ids.shape, _NOWHERE - 1, dtype=ids.dtype)
    moved[:, :, by:] = ids[:, :, :-by]
    return moved


def _first_positions(ids: Ints) -> Ints:
    """Tabulate where each id stands first in each document, (B, ids); S where it does not."""
    B, S = ids.shape
    first = np.full((B, int(ids.max(initial=0)) + 1), S, dtype=np.int32)
    for position in range(S - 1, -1, -1):
        is_real = ids[:, position] != _NOWHERE
        first[is_real, ids[is_real, position]] = position
    return first


def _last_positions(is_word: Bools) -> Ints:
    """Find the last True of each row: (R, S) -> (R,), -1 without one."""
    backwards = is_word[:, ::-1].argmax(axis=1)
    return np.where(is_word.any(axis=1), is_word.shape[1] - 1 - backwards, -1)


def _among(ids: Ints, source: Ints, is_meant: Bools) -> Bools:
    """Mark the ids, (R, k), that stand at one of the positions that are meant, (R, S)."""
    found = np.zeros(ids.shape, dtype=np.bool_)
    positions = np.argsort(~is_meant, axis=1, kind="stable")  # those that are meant come first
    for nth in range(int(is_meant.sum(axis=1).max(initial=0))):
        at = positions[:, nth, None]
        here = np.where(
            np.take_along_axis(is_meant, at, axis=1),
            np.take_along_axis(source, at, axis=1),
            _NOWHERE,
        )  # (R, 1)
        found |= ids == here
    return found
