"""Take the summary that the beam agrees on, rather than its most probable one."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from readagain.search.model import Floats
from readagain.search.trace import Hypothesis

Measure = Literal["f1", "recall"]


def mbr_rerank(
    hypotheses: Sequence[Hypothesis], *, temperature: float, measure: Measure = "f1"
) -> list[Hypothesis]:
    """Order the summaries of one document by how much of their words the others share.

    This is minimum-risk decoding (Kumar and Byrne 2004) over an n-best list: a summary is worth
    its expected F1 of words, or its expected recall, against a summary drawn from the list, where
    each is drawn with a probability in proportion to exp(score / temperature). Those that miss the
    minimum length stay last, and equals keep their order.
    """
    if not hypotheses:
        return []
    agreed = _shared_words(hypotheses, measure) @ _votes(hypotheses, temperature)  # (K,)
    short = np.array([not each.keeps_minimum for each in hypotheses])
    return [hypotheses[k] for k in np.lexsort((-agreed, short))]


def _votes(hypotheses: Sequence[Hypothesis], temperature: float) -> Floats:
    """Share 1 among K summaries by their scores."""
    scores = np.array([each.score for each in hypotheses], dtype=np.float64)
    weights = np.exp((scores - scores.max()) / temperature)
    return np.asarray(weights / weights.sum())


def _shared_words(hypotheses: Sequence[Hypothesis], measure: Measure) -> Floats:
    """Compare every two of K summaries: (K, K), each row's words against each column's."""
    words = np.unique(np.concatenate([each.ids for each in hypotheses]))
    counts = np.stack([(each.ids[:, None] == words).sum(axis=0) for each in hypotheses])  # (K, U)
    shared = np.minimum(counts[:, None], counts[None]).sum(axis=2)  # (K, K)
    lengths = counts.sum(axis=1)
    if measure == "recall":
        return np.asarray(shared / np.maximum(lengths, 1))
    return np.asarray(2 * shared / np.maximum(lengths[:, None] + lengths, 1))
