"""Beam search with copying over any step model."""

from collections.abc import Sequence

import numpy as np

from readagain.search.constraints import (
    Constraint,
    ConstraintList,
    ForcedPrefix,
    LengthConstraint,
)
from readagain.search.expansion import (
    Continuations,
    Selection,
    check_candidates,
    score_continuations,
    select_continuations,
    sort_candidates,
)
from readagain.search.features import SPARE_CANDIDATES, ExtractiveFeatures
from readagain.search.hypotheses import (
    ActiveHypotheses,
    Expansion,
    FinishedHypotheses,
    FinishedScores,
    Hypothesis,
    SearchTrace,
)
from readagain.search.model import Candidates, Floats, Ints, SourceBatch, State, StepModel
from readagain.search.scoring import Scoring


def beam_search(
    model: StepModel[State],
    sources: SourceBatch,
    *,
    beam_size: int,
    length: LengthConstraint,
    constraints: Sequence[Constraint] = (),
    prefix: ForcedPrefix | None = None,
    scoring: Scoring | None = None,
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    """Find the best summaries of every document.

    Each step keeps the best `beam_size` hypotheses of a document, finished ones included, so the
    number of active hypotheses shrinks as others end. The search of a document ends when none is
    active, or when no active hypothesis can still enter the n-best list. A beam size of 1 is greedy
    search.

    Ties between scores are broken by the rank of the hypothesis; then EOS comes before words, and
    words are ordered by probability and id. The result does not depend on the other documents of
    the batch.

    Args:
        model: model of the next word.
        sources: documents.
        beam_size: hypotheses per document.
        length: limits on the number of words; the maximum also bounds the number of steps.
        constraints: further constraints.
        prefix: words with which each summary starts, no more than the maximum length.
        scoring: score function (default: log-probability).
        n_best: summaries to return per document, at most `beam_size`.

    Returns:
        For each document up to `n_best` hypotheses, best first. There are fewer if the search found
        fewer, and none if the probability of EOS is 0.

    Raises:
        ArtifactError: if the model returns NaN.
    """
    prefix = prefix or ForcedPrefix([()] * len(sources))
    assert 1 <= n_best <= beam_size
    assert prefix.max_length <= length.maximum
    if not len(sources):
        return []
    scoring = scoring or Scoring()
    constraint = ConstraintList([length, *constraints])
    k = beam_size + constraint.max_banned(length.maximum)
    features = None
    if not scoring.features.is_zero:
        features = ExtractiveFeatures(sources, scoring.features)
        k += SPARE_CANDIDATES

    trace = SearchTrace()
    finished = FinishedScores(len(sources), beam_size=beam_size, n_best=n_best)
    active = ActiveHypotheses.initial(sources, has_coverage=scoring.coverage_penalty > 0)
    state = model.start(sources)
    while len(active):
        candidates, state = model.step(state, active.last_ids, k)
        check_candidates(candidates, active)
        candidates = prefix.force(sort_candidates(candidates), active)
        bonuses = None
        if features is not None:
            candidates, bonuses = features.rerank(active, candidates, prefix)
        continuations = score_continuations(
            active,
            candidates,
            bonuses,
            constraint=constraint,
            prefix=prefix,
            scoring=scoring,
            beam_size=beam_size,
        )
        selection = select_continuations(active, continuations, finished.beam_widths)
        ended = _finish(active, candidates, continuations, selection, finished)
        is_kept = selection.is_word
        if finished.has_full_list:
            # Drop the hypotheses of documents whose n-best list can no longer change.
            documents = selection.documents
            num_scored = prefix.num_scored(documents, active.num_words + 2)  # with a word and EOS
            max_scored = prefix.num_scored(documents, length.maximum + 1)
            max_scores = _max_scores(continuations, selection, scoring, num_scored, max_scored)
            is_kept = is_kept & ~finished.is_done(documents, max_scores)[:, None]  # (D, K)
        indices = selection.indices[is_kept]
        expansion = _expand(candidates, continuations, indices)
        trace.add(expansion, ended)
        active = active.extend(
            expansion, continuations.log_probs.take(indices), continuations.coverage
        )
        if len(active):
            state = model.select(state, expansion.parents)
    return trace.n_best(sources, n_best)


def _finish(
    active: ActiveHypotheses,
    candidates: Candidates,
    continuations: Continuations,
    selection: Selection,
    finished: FinishedScores,
) -> list[FinishedHypotheses]:
    """Add the hypotheses that end to `finished`; return them and the dead ends.

    Dead ends (see `Continuations`) are below the minimum length, so they are not added.
    """
    groups = []
    if selection.is_end.any():
        scores = continuations.scores.take(selection.indices, mode="clip")  # (D, K)
        finished.add(selection.documents, selection.is_end, scores)
        rows = selection.indices[selection.is_end] // continuations.scores.shape[1]
        groups.append((rows, scores[selection.is_end], True))
    if len(continuations.dead_ends):
        groups.append((continuations.dead_ends, continuations.dead_end_scores, False))
    return [
        FinishedHypotheses(
            documents=active.documents[rows],
            rows=rows,
            end_log_probs=candidates.end_log_probs[rows],
            scores=scores,
            meets_min_length=np.full(len(rows), meets_min_length),
        )
        for rows, scores, meets_min_length in groups
    ]


def _max_scores(
    continuations: Continuations,
    selection: Selection,
    scoring: Scoring,
    num_scored: Ints,
    max_scored: Ints,
) -> Floats:
    """Return an upper bound on the final scores of the selected words of each document: (D,)."""
    over_attention = continuations.over_attention
    if over_attention is not None:
        rows = selection.indices // continuations.scores.shape[1]
        over_attention = over_attention.take(rows, mode="clip")  # (D, K)
    log_probs = continuations.log_probs.take(selection.indices, mode="clip")  # (D, K)
    bounds = scoring.upper_bounds(
        log_probs, num_scored[:, None], max_scored[:, None], over_attention
    )
    max_scores: Floats = np.where(selection.is_word, bounds, -np.inf).max(axis=1)
    return max_scores


def _expand(candidates: Candidates, continuations: Continuations, indices: Ints) -> Expansion:
    """Return the selected words and their parent rows as copies, since models may reuse arrays."""
    rows, columns = np.divmod(indices, continuations.scores.shape[1])
    columns -= 1  # column 0 is EOS
    if continuations.columns is not None:
        columns = continuations.columns[rows, columns]
    flat_indices = rows * candidates.ids.shape[1] + columns
    return Expansion(
        parents=rows,
        ids=candidates.ids.take(flat_indices),
        copied_from=candidates.copied_from.take(flat_indices),
        log_probs=candidates.log_probs.take(flat_indices),
        attention=np.array(candidates.attention, dtype=np.float32),
    )
