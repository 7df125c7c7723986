"""Beam search over any `StepModel`."""

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
    take_allowed,
)
from readagain.search.features import SPARE_FEATURE_CANDIDATES, ExtractiveFeatures
from readagain.search.finished import FinishedHypotheses
from readagain.search.hypotheses import ActiveHypotheses, Hypothesis
from readagain.search.model import Floats, Ints, SourceBatch, State, StepModel
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

    Each step extends every active hypothesis and keeps the best `beam_size` hypotheses of each
    document. Finished hypotheses keep their place in the beam, so fewer stay active as others end.
    The search of a document ends when it has no active hypothesis, or when none of them can still
    enter its n-best list. A beam size of 1 is greedy search.

    Equal scores are ordered by the rank of the hypothesis that is extended, then EOS before words,
    then words by probability and id. The result does not depend on the other documents of the
    batch.

    Args:
        model: model that returns the most probable next words.
        sources: documents.
        beam_size: maximum number of hypotheses per document.
        length: limits on the number of words; the maximum also bounds the number of steps.
        constraints: further constraints.
        prefix: forced first words of each summary, at most `length.maximum` (default: none).
        scoring: score function (default: log-probability).
        n_best: maximum number of summaries to return per document, at most `beam_size`.

    Returns:
        The best hypotheses of each document, best first. There are none if the probability of EOS
        is always 0.

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
    num_candidates = beam_size + constraint.max_banned(length.maximum)
    features = None
    if not scoring.features.is_zero:
        features = ExtractiveFeatures(sources, scoring.features)
        num_candidates += SPARE_FEATURE_CANDIDATES

    finished = FinishedHypotheses(sources, beam_size=beam_size, n_best=n_best)
    active = ActiveHypotheses.initial(len(sources))
    state = model.start(sources)
    while len(active):
        candidates, state = model.step(state, active.last_ids, num_candidates)
        check_candidates(candidates, active)
        candidates, bonuses = sort_candidates(candidates), None
        if features is not None:
            candidates, bonuses = features.rerank(active, candidates)
        banned = constraint.banned_words(active, candidates)
        candidates, bonuses = take_allowed(candidates, bonuses, banned, beam_size)
        candidates, bonuses = prefix.force(active, candidates, bonuses)
        continuations = score_continuations(
            active,
            candidates,
            bonuses,
            end_is_banned=constraint.banned_end(active),
            prefix=prefix,
            scoring=scoring,
            beam_size=beam_size,
        )
        selection = select_continuations(active, continuations, finished.remaining_beam_sizes)
        finished.add(active, candidates, continuations, selection)
        stays_active = selection.is_word
        if finished.has_full_list:
            # Drop the hypotheses of documents whose n-best list can no longer change.
            documents = selection.documents
            num_scored = prefix.num_scored(documents, active.num_words + 2)  # one more word and EOS
            max_scored = prefix.num_scored(documents, length.maximum + 1)
            max_scores = _bound_scores(continuations, selection, scoring, num_scored, max_scored)
            is_done = finished.is_done(documents, max_scores)  # (D,)
            stays_active = stays_active & ~is_done[:, None]  # (D, K)
        indices = selection.indices[stays_active]  # (R',) one per row of the next step
        rows, columns = np.divmod(indices, continuations.scores.shape[1])
        log_probs = continuations.log_probs.take(indices)
        active = active.extend(candidates, rows, columns - 1, log_probs)  # column 0 is EOS
        if len(active):
            state = model.select(state, rows)
    return finished.n_best_lists()


def _bound_scores(
    continuations: Continuations,
    selection: Selection,
    scoring: Scoring,
    num_scored: Ints,
    max_scored: Ints,
) -> Floats:
    """Return an upper bound on the final scores of the active hypotheses of each document: (D,).

    `num_scored`, (D,), is the number of scored words of a hypothesis that ends in the next step;
    `max_scored`, (D,), the number at the maximum length.
    """
    log_probs = continuations.log_probs.take(selection.indices, mode="clip")  # (D, K)
    bounds = scoring.upper_bounds(log_probs, num_scored[:, None], max_scored[:, None])
    max_scores: Floats = np.where(selection.is_word, bounds, -np.inf).max(axis=1)
    return max_scores
