"""Scores of hypotheses: log-probability, extractive features, length and coverage penalties."""

from dataclasses import dataclass

import numpy as np

from readagain.search.features import FeatureWeights
from readagain.search.model import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Score function of beam search.

    score = (log_prob + features) / num_scored ** length_penalty
            - coverage_penalty * over_attention

    `num_scored` is the number of words including EOS, without the forced prefix. `over_attention`
    is the sum, over source positions, of the attention beyond 1 that a position has received. A
    large sum is a sign of repetition (Gehrmann, Deng and Rush 2018, section 4.2).

    Args:
        length_penalty: exponent of the length; 0 for the total log-probability, 1 for the mean per
            word.
        coverage_penalty: weight of `over_attention`.
        diversity: penalty per rank among the continuations of the same hypothesis (Li, Monroe and
            Jurafsky 2016); used to select the beam, not part of the returned score.
        features: weights of the extractive features.
    """

    length_penalty: float = 0.0
    coverage_penalty: float = 0.0
    diversity: float = 0.0
    features: FeatureWeights = FeatureWeights()

    def scores(self, log_probs: Floats, num_scored: Ints, over_attention: Floats | None) -> Floats:
        """Return the scores of hypotheses; the arguments are broadcast together."""
        scores: Floats = log_probs
        if self.length_penalty:
            scores = scores / num_scored**self.length_penalty
        if over_attention is not None:
            scores = scores - self.coverage_penalty * over_attention
        return scores

    def upper_bounds(
        self,
        log_probs: Floats,
        num_scored: Ints,
        max_scored: Ints,
        over_attention: Floats | None,
    ) -> Floats:
        """Return upper bounds on the scores that hypotheses can still reach.

        Log-probabilities only fall and over-attention only grows. So in the best case both stay as
        they are, and every further word has the largest feature bonus. If no bonus is positive, the
        score at the maximum length is the bound. Otherwise the bound is the largest score over all
        lengths.

        Args:
            log_probs: current log-probabilities including features.
            num_scored: number of scored words, including EOS, if the hypothesis ended now.
            max_scored: number of scored words at the maximum length.
            over_attention: current over-attention, or None.
        """
        max_bonus = self.features.max_bonus
        if not max_bonus:
            return self.scores(log_probs, max_scored, over_attention)
        bounds = self.scores(log_probs, np.minimum(num_scored, max_scored), over_attention)
        for num_further in range(1, int((max_scored - num_scored).max(initial=0)) + 1):
            length = np.minimum(num_scored + num_further, max_scored)
            total_bonus = (length - num_scored) * max_bonus
            scores = self.scores(log_probs + total_bonus, length, over_attention)
            bounds = np.maximum(bounds, scores)
        return bounds


def sum_over_attention(coverage: Floats) -> Floats:
    """Return the sum of the attention beyond 1 that positions have received: (R, S) -> (R,).

    `cumsum` adds from left to right, so the result is bit-identical for any amount of padding.
    """
    excess = np.maximum(coverage - 1.0, 0.0)
    total: Floats = np.cumsum(excess, axis=1)[:, -1]
    return total
