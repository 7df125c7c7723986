"""Scores of hypotheses: log-probability, extractive features and length penalty."""

from dataclasses import dataclass

import numpy as np

from readagain.search.features import FeatureWeights
from readagain.search.model import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Score function of beam search.

    score = (log_prob + features) / num_scored ** length_penalty

    `num_scored` is the number of words including EOS, without the forced prefix.

    Args:
        length_penalty: exponent of the length; 0 for the total log-probability, 1 for the mean per
            word.
        diversity: penalty per rank among the continuations of the same hypothesis (Li, Monroe and
            Jurafsky 2016); used to select the beam, not part of the returned score.
        features: weights of the extractive features.
    """

    length_penalty: float = 0.0
    diversity: float = 0.0
    features: FeatureWeights = FeatureWeights()

    def scores(self, log_probs: Floats, num_scored: Ints) -> Floats:
        """Return the scores of hypotheses; the arguments are broadcast together."""
        scores: Floats = log_probs
        if self.length_penalty:
            scores = scores / num_scored**self.length_penalty
        return scores

    def upper_bounds(self, log_probs: Floats, num_scored: Ints, max_scored: Ints) -> Floats:
        """Return upper bounds on the scores that hypotheses can still reach.

        Log-probabilities only fall. So in the best case they stay as they are, and every further
        word has the largest feature bonus. If no bonus is positive, the score at the maximum length
        is the bound. Otherwise the bound is the largest score over all lengths.

        Args:
            log_probs: current log-probabilities including features.
            num_scored: number of scored words, including EOS, if the hypothesis ended now.
            max_scored: number of scored words at the maximum length.
        """
        max_bonus = self.features.max_bonus
        if not max_bonus:
            return self.scores(log_probs, max_scored)
        bounds = self.scores(log_probs, np.minimum(num_scored, max_scored))
        for num_further in range(1, int((max_scored - num_scored).max(initial=0)) + 1):
            length = np.minimum(num_scored + num_further, max_scored)
            total_bonus = (length - num_scored) * max_bonus
            scores = self.scores(log_probs + total_bonus, length)
            bounds = np.maximum(bounds, scores)
        return bounds
