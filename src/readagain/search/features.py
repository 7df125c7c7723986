"""Extractive features: bonuses for words and n-grams of the source.

score = log p(summary | source) + sum over words of weights . features

Rush, Chopra and Weston 2015, section 5, extend ABS to ABS+ with these features. A feature depends
on a word, the source and at most the two previous words of the summary, so features work with any
`StepModel`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass
from itertools import accumulate, pairwise

import numpy as np

from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Floats, Ints, SourceBatch, take_columns

FEATURE_NAMES = ("unigram", "bigram", "trigram", "reordering")

SPARE_FEATURE_CANDIDATES = 100
"""Number of additional candidates that are requested from the model when features are used.

A bonus can raise the rank of a word. A word that is not among the candidates has a probability
below 1 / (beam_size + SPARE_FEATURE_CANDIDATES).
"""

_NO_ID = -1  # id of padding; equal to no word


@dataclass(frozen=True, kw_only=True)
class FeatureWeights:
    """Bonuses added to the score for each word of a summary.

    Args:
        unigram: for a word that occurs in the source.
        bigram: for a word that occurs in the source directly after the previous summary word.
        trigram: for a word that occurs in the source directly after the previous two summary words.
        reordering: for a word that occurs in the source before the previous summary word.
    """

    unigram: float = 0.0
    bigram: float = 0.0
    trigram: float = 0.0
    reordering: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether all weights are 0."""
        return not any(astuple(self))

    @property
    def max_bonus(self) -> float:
        """Largest bonus of one word; a trigram is also a bigram, and a bigram a unigram."""
        nested = accumulate((0.0, self.unigram, self.bigram, self.trigram))
        return max(nested) + max(0.0, self.reordering)


class ExtractiveFeatures:
    """Extractive features of candidates for the documents of a batch."""

    def __init__(self, sources: SourceBatch, weights: FeatureWeights) -> None:
        self._weights = np.array(astuple(weights))
        B, N, L = sources.source_ids.shape
        self._ids = np.where(sources.source_valid, sources.source_ext_ids, _NO_ID)  # (B, S)
        # (B, S) the words one and two positions before each position, in the same sentence.
        by_sentence = self._ids.reshape(B, N, L)
        self._previous = _shift_right(by_sentence, 1).reshape(B, N * L)
        self._second_previous = _shift_right(by_sentence, 2).reshape(B, N * L)
        self._first_positions = _first_positions(self._ids)  # (B, num_ids)

    def rerank(self, active: ActiveHypotheses, candidates: Candidates) -> tuple[Candidates, Floats]:
        """Sort candidates by log-probability plus feature bonus.

        Returns:
            The candidates in the new order, and the (R, k) bonus of each candidate.
        """
        bonuses = np.zeros(candidates.ids.shape)
        for weight, feature in zip(
            self._weights, self.compute(active, candidates.ids), strict=True
        ):
            bonuses += weight * feature
        # The stable sort keeps equal candidates in the order of their probabilities.
        order = np.argsort(-(candidates.log_probs + bonuses), axis=1, kind="stable")  # (R, k)
        return candidates.take(order), take_columns(bonuses, order)

    def compute(self, active: ActiveHypotheses, ids: Ints) -> tuple[Bools, Bools, Bools, Bools]:
        """Return which (R, k) candidate ids have each of `FEATURE_NAMES`: four masks, (R, k)."""
        documents, num_words = active.documents, active.num_words
        S, num_ids = self._ids.shape[1], self._first_positions.shape[1]
        table_ids = np.minimum(ids, num_ids - 1)
        first_positions = self._first_positions[documents[:, None], table_ids]  # (R, k)
        first_positions = np.where(ids < num_ids, first_positions, S)
        unigram = first_positions < S
        no_feature = np.zeros(ids.shape, dtype=np.bool_)
        if num_words == 0:
            return unigram, no_feature, no_feature, no_feature
        source, last_ids = self._ids[documents], active.ids[:, -1, None]  # (R, S), (R, 1)
        is_after_context: Bools = self._previous[documents] == last_ids  # (R, S)
        bigram = _occurs_at(ids, source, is_after_context)
        reordering = first_positions < _last_positions(source == last_ids)[:, None]
        if num_words == 1:
            return unigram, bigram, no_feature, reordering
        is_after_context &= self._second_previous[documents] == active.ids[:, -2, None]
        trigram = _occurs_at(ids, source, is_after_context)
        return unigram, bigram, trigram, reordering


def count_features(words: Sequence[Hashable], sentences: Sequence[Sequence[Hashable]]) -> Floats:
    """Return how many words of a summary have each feature: (4,), in the order of `FEATURE_NAMES`.

    >>> count_features("b c a".split(), ["a b c".split()]).tolist()
    [3.0, 1.0, 0.0, 1.0]
    """
    ngrams = {
        tuple(sentence[start : start + size])
        for size in (1, 2, 3)
        for sentence in sentences
        for start in range(len(sentence) - size + 1)
    }
    positions: dict[Hashable, list[int]] = {}
    for position, word in enumerate(word for sentence in sentences for word in sentence):
        positions.setdefault(word, []).append(position)
    counts = np.zeros(len(FEATURE_NAMES))
    for end in range(1, len(words) + 1):
        for size in (1, 2, 3):
            counts[size - 1] += end >= size and tuple(words[end - size : end]) in ngrams
    for previous, word in pairwise(words):
        if previous in positions and word in positions:
            counts[FEATURE_NAMES.index("reordering")] += (
                positions[word][0] < positions[previous][-1]
            )
    return counts


def _shift_right(ids: Ints, distance: int) -> Ints:
    """Shift each sentence to the right: (B, N, L) -> (B, N, L)."""
    shifted = np.full(ids.shape, _NO_ID - 1, dtype=ids.dtype)  # equal to no word and no padding
    shifted[:, :, distance:] = ids[:, :, :-distance]
    return shifted


def _first_positions(ids: Ints) -> Ints:
    """Return the first position of each id in each document, S if it is missing: (B, num_ids)."""
    B, S = ids.shape
    first = np.full((B, int(ids.max(initial=0)) + 1), S, dtype=np.int32)
    for position in range(S - 1, -1, -1):
        is_real = ids[:, position] != _NO_ID
        first[is_real, ids[is_real, position]] = position
    return first


def _last_positions(is_word: Bools) -> Ints:
    """Return the position of the last True in each row, -1 if there is none: (R, S) -> (R,)."""
    distance_to_end = is_word[:, ::-1].argmax(axis=1)
    return np.where(is_word.any(axis=1), is_word.shape[1] - 1 - distance_to_end, -1)


def _occurs_at(ids: Ints, source: Ints, is_marked: Bools) -> Bools:
    """Return which ids, (R, k), occur at one of the marked positions, (R, S), of the source.

    The loop compares with the first marked word of every row, then with the second, and so on.
    """
    occurs = np.zeros(ids.shape, dtype=np.bool_)
    positions_marked_first = np.argsort(~is_marked, axis=1, kind="stable")  # (R, S) positions
    for rank in range(int(is_marked.sum(axis=1).max(initial=0))):
        position = positions_marked_first[:, rank, None]
        is_word, word = take_columns(is_marked, position), take_columns(source, position)
        source_id = np.where(is_word, word, _NO_ID)  # (R, 1)
        occurs |= ids == source_id
    return occurs
