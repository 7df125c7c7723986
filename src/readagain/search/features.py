"""Extractive features: how a summary's words stand in its source, weighed into the score.

score = log p(summary | source) + sum over words of weights . features

Rush, Chopra and Weston 2015, section 5, turn ABS into ABS+ by this; any model can be searched so.
Each feature is local: it looks at a word and the one or two before it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np

from readagain.errors import ConfigError
from readagain.search.live import Live
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

    @property
    def most(self) -> float:
        """The most that one word can add: a trigram is a bigram, and a bigram a unigram."""
        nested = np.cumsum([0.0, self.unigram, self.bigram, self.trigram])
        return float(nested.max()) + max(0.0, self.reordering)


FEATURES = ("unigram", "bigram", "trigram", "reordering")


class SourceFeatures:
    """The features of words that may come next, for the documents of a batch.

    Args:
        sources: the batch that is searched.
        weights: what each feature adds.
    """

    def __init__(self, sources: SourceBatch, weights: FeatureWeights) -> None:
        self.weights = weights
        valid = sources.source_valid
        B, N, L = sources.source_ids.shape
        self._ids = np.where(valid, sources.source_ext_ids, _NOWHERE)  # (B, S)
        # What stands before each position in its own sentence, and before that.
        by_sentence = self._ids.reshape(B, N, L)
        self._before = _shifted(by_sentence, 1).reshape(B, N * L)
        self._before_that = _shifted(by_sentence, 2).reshape(B, N * L)

    def weigh(
        self, live: Live, offered: Candidates, prefix: ForcedPrefix
    ) -> tuple[Candidates, Floats]:
        """Put candidates in the order of log-probability and features together.

        Args:
            live: the hypotheses.
            offered: their candidates; a forced word is not weighed.
            prefix: the forced words.

        Returns:
            The candidates in their new order, and (R, k) what the features add to each.
        """
        added = self.values(live, offered.ids) @ np.array(astuple(self.weights))  # (R, k)
        added[prefix.is_forced(live)] = 0.0
        order = np.lexsort((offered.ids, -(offered.log_probs + added)), axis=1)  # (R, k)
        weighed = replace(
            offered,
            ids=np.take_along_axis(offered.ids, order, axis=1),
            log_probs=np.take_along_axis(offered.log_probs, order, axis=1),
            copied_from=np.take_along_axis(offered.copied_from, order, axis=1),
        )
        return weighed, np.take_along_axis(added, order, axis=1)

    def values(self, live: Live, ids: Ints) -> Floats:
        """Return the features of words that may come next: (R, k) ids -> (R, k, 4) of 0 and 1."""
        source = self._ids[live.document]  # (R, S)
        stands = ids[:, :, None] == source[:, None, :]  # (R, k, S)
        features = np.zeros((*ids.shape, len(FEATURES)))
        features[:, :, 0] = stands.any(axis=2)
        if live.num_words >= 1:
            last = live.words[:, -1, None]  # (R, 1)
            follows: Bools = self._before[live.document] == last  # (R, S)
            features[:, :, 1] = (stands & follows[:, None]).any(axis=2)
            features[:, :, 3] = (stands & _before_last(source == last)[:, None]).any(axis=2)
            if live.num_words >= 2:
                follows &= self._before_that[live.document] == live.words[:, -2, None]
                features[:, :, 2] = (stands & follows[:, None]).any(axis=2)
        return features


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


def _before_last(is_word: Bools) -> Bools:
    """Mark the positions before the last True of each row: (R, S)."""
    so_far = np.cumsum(is_word, axis=1)
    return np.asarray(so_far < so_far[:, -1:])
