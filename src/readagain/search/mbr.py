"""Minimum Bayes risk reranking of an n-best list (Kumar and Byrne 2004)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Floats

Utility = Literal["f1", "recall"]


def mbr_rerank(
    hypotheses: Sequence[Hypothesis], *, temperature: float, utility: Utility = "f1"
) -> list[Hypothesis]:
    """Sort the hypotheses of one document by their expected utility, which becomes their score.

    The expected utility of a hypothesis is a weighted mean of its unigram F1 or recall against
    every hypothesis of the list, itself included. The weights are proportional to
    exp(score / temperature). Hypotheses below the minimum length stay last, and ties keep their
    order.
    """
    if not hypotheses:
        return []
    scores = np.array([hypothesis.score for hypothesis in hypotheses], dtype=np.float64)
    weights = np.exp((scores - scores.max()) / temperature)
    expected = _utilities(hypotheses, utility) @ np.asarray(weights / weights.sum())  # (K,)
    is_short = np.array([not hypothesis.meets_min_length for hypothesis in hypotheses])
    order = np.lexsort((-expected, is_short))
    return [replace(hypotheses[index], score=float(expected[index])) for index in order]


def _utilities(hypotheses: Sequence[Hypothesis], utility: Utility) -> Floats:
    """Return the utility of each hypothesis (row) if another (column) is the reference: (K, K)."""
    words = np.unique(np.concatenate([hypothesis.ids for hypothesis in hypotheses]))
    counts = np.stack(
        [(hypothesis.ids[:, None] == words).sum(axis=0) for hypothesis in hypotheses]
    )  # (K, number of different words)
    overlaps = np.minimum(counts[:, None], counts[None]).sum(axis=2)  # (K, K)
    lengths = counts.sum(axis=1)
    if utility == "recall":
        return np.asarray(overlaps / np.maximum(lengths, 1))
    return np.asarray(2 * overlaps / np.maximum(lengths[:, None] + lengths, 1))
