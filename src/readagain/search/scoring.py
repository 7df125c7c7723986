"""The score of a hypothesis: log-probability, features, length normalisation, coverage."""

from dataclasses import dataclass

import numpy as np

from readagain.errors import ConfigError
from readagain.search.features import FeatureWeights
from readagain.search.model import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How hypotheses are compared.

    score = (log_prob + features) / decisions ** length_exponent - coverage * over_attention

    Features are what the words add by standing in the source (`features.py`). The decisions are
    the words that were chosen and END, without a forced prefix. Over-attention is what the source
    positions received beyond 1 in total, which is how a summary that says the same thing twice
    shows (Gehrmann, Deng and Rush 2018, section 4.2).

    Args:
        length_exponent: 0 compares probabilities, 1 means per word; between them is allowed.
        coverage: weight of the penalty on attending to a position more than once.
        diversity: taken off, while choosing, for every better word after the same hypothesis
            (Li, Monroe and Jurafsky 2016), so that a beam keeps several beginnings. The score
            that is reported has none of it.
        features: what each extractive feature adds.
    """

    length_exponent: float = 0.0
    coverage: float = 0.0
    diversity: float = 0.0
    features: FeatureWeights = FeatureWeights()

    def __post_init__(self) -> None:
        for name in ("length_exponent", "coverage", "diversity"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected 0 or more")

    def scores(self, log_probs: Floats, decisions: Ints, over_attention: Floats | None) -> Floats:
        """Score hypotheses, element by element; what is given once per row is broadcast."""
        scores: Floats = log_probs
        if self.length_exponent:
            scores = scores / decisions**self.length_exponent
        if over_attention is not None:
            scores = scores - self.coverage * over_attention
        return scores

    def bounds(
        self,
        log_probs: Floats,
        decisions: Ints,
        most_decisions: Ints,
        over_attention: Floats | None,
    ) -> Floats:
        """Bound the scores that hypotheses can still reach.

        Log-probabilities only fall and over-attention only grows, so the best that can happen is
        that both stay as they are while every further word adds the most that features can. Where
        they can add nothing, the length divides by the most; otherwise every length is tried.

        Args:
            log_probs: of the words so far, with what features added.
            decisions: if it ended now.
            most_decisions: if it went on as long as it may.
            over_attention: so far, or None.
        """
        most = self.features.most
        if not most:
            return self.scores(log_probs, most_decisions, over_attention)
        reach = self.scores(log_probs, np.minimum(decisions, most_decisions), over_attention)
        for further in range(1, int((most_decisions - decisions).max(initial=0)) + 1):
            length = np.minimum(decisions + further, most_decisions)
            added = (length - decisions) * most
            reach = np.maximum(reach, self.scores(log_probs + added, length, over_attention))
        return reach

    def sibling_penalties(self, num_words: int) -> Floats:
        """Weigh down each allowed word by the number of those before it: (n,)."""
        return self.diversity * np.arange(num_words, dtype=np.float64)


def over_attention(coverage: Floats) -> Floats:
    """Add up what positions received beyond 1: (R, S) -> (R,).

    Added from left to right, so that padding changes not even the last bit.
    """
    excess = np.maximum(coverage - 1.0, 0.0)
    total: Floats = np.cumsum(excess, axis=1)[:, -1]
    return total
