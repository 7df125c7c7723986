"""Beam search with the decoding settings of a model."""

from collections.abc import Sequence
from dataclasses import replace

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
from readagain.search.hypotheses import Hypothesis
from readagain.search.mbr import mbr_rerank
from readagain.search.model import SourceBatch, State, StepModel
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
    rewarded = [
        replace(hypothesis, score=hypothesis.score + reward * len(hypothesis))
        for hypothesis in hypotheses
    ]
    return sorted(
        rewarded, key=lambda hypothesis: (not hypothesis.meets_min_length, -hypothesis.score)
    )
