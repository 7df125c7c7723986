"""Beam search with the decoding settings of a model, and reranking of its n-best lists."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from readagain.config.schema import DecodeSpec
from readagain.search.beam import beam_search
from readagain.search.constraints import (
    Constraint,
    ForcedPrefix,
    LengthConstraint,
    NoDoubledWord,
    NoRepeatedNgram,
)
from readagain.search.features import FeatureWeights
from readagain.search.hypotheses import Hypothesis, sort_hypotheses
from readagain.search.model import Floats, SourceBatch, State, StepModel
from readagain.search.scoring import Scoring


def decode_sources(
    model: StepModel[State],
    sources: SourceBatch,
    decode: DecodeSpec,
    *,
    n_best: int = 1,
    constraints: Sequence[Constraint] = (),
    prefix: ForcedPrefix | None = None,
) -> list[list[Hypothesis]]:
    """Find the best summaries of each document with the decoding settings `decode`, best first.

    `constraints` are added to those of `decode`. The limits in bytes of `decode` are not applied,
    since they need the printed words: pass them as a `ByteLengthConstraint`.
    """
    model_constraints: list[Constraint] = []
    if decode.no_repeat_ngram:
        model_constraints += [NoRepeatedNgram(decode.no_repeat_ngram), NoDoubledWord()]
    is_reranked = decode.consensus or decode.word_reward
    n_best_lists = beam_search(
        model,
        sources,
        beam_size=decode.beam_size,
        length=LengthConstraint(minimum=decode.min_words, maximum=decode.max_words),
        constraints=[*model_constraints, *constraints],
        prefix=prefix,
        scoring=Scoring(
            length_penalty=decode.length_penalty,
            diversity=decode.diversity,
            features=FeatureWeights(
                unigram=decode.unigram_bonus,
                bigram=decode.bigram_bonus,
                trigram=decode.trigram_bonus,
                reordering=decode.reordering_bonus,
            ),
        ),
        n_best=decode.beam_size if is_reranked else n_best,
    )
    if decode.word_reward:
        n_best_lists = [reward_words(hypotheses, decode.word_reward) for hypotheses in n_best_lists]
    if decode.consensus:
        n_best_lists = [
            mbr_rerank(hypotheses, temperature=decode.consensus, utility=decode.consensus_by)
            for hypotheses in n_best_lists
        ]
    return [hypotheses[:n_best] for hypotheses in n_best_lists]


def reward_words(hypotheses: Sequence[Hypothesis], reward: float) -> list[Hypothesis]:
    """Add `reward` per word to the scores of a document's hypotheses and sort them by score.

    The reward applies to finished hypotheses only, so it does not change the search. Hypotheses
    below the minimum length stay last, and ties keep their order.
    """
    return sort_hypotheses(
        replace(hypothesis, score=hypothesis.score + reward * len(hypothesis))
        for hypothesis in hypotheses
    )


def mbr_rerank(
    hypotheses: Sequence[Hypothesis], *, temperature: float, utility: Literal["f1", "recall"] = "f1"
) -> list[Hypothesis]:
    """Sort the hypotheses of one document by their expected utility, which becomes their score.

    This is minimum Bayes risk reranking (Kumar and Byrne 2004).
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
    return sort_hypotheses(
        replace(hypothesis, score=score)
        for hypothesis, score in zip(hypotheses, expected.tolist(), strict=True)
    )


def _utilities(hypotheses: Sequence[Hypothesis], utility: str) -> Floats:
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
