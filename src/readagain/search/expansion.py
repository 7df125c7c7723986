"""Expansion step of beam search: score the continuations of each hypothesis, select the best."""

from dataclasses import dataclass
from math import isnan

import numpy as np

from readagain.errors import ArtifactError
from readagain.search.constraints import ForcedPrefix
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Floats, Ints, take_columns
from readagain.search.scoring import Scoring

END_COLUMN = 0  # EOS comes before the words, so that it wins a tie


@dataclass(frozen=True, kw_only=True)
class Continuations:
    """Possible continuations of R hypotheses, one per row: EOS (column 0) or one of n words.

    Args:
        log_probs: (R, 1 + n) total log-probability of the hypothesis with the continuation,
            including feature bonuses; -inf if the continuation is not allowed.
        scores: (R, 1 + n) score of the hypothesis with the continuation.
        ranking_scores: (R, 1 + n) scores minus the diversity penalty; they select the beam.
        dead_ends: (F,) rows without any allowed word that are too short to end.
        dead_end_scores: (F,) scores of these rows if they end nevertheless.
    """

    log_probs: Floats
    scores: Floats
    ranking_scores: Floats
    dead_ends: Ints
    dead_end_scores: Floats


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Selected continuations of each document, best first.

    Args:
        documents: (D,) documents that have active rows.
        indices: (D, K) flat indices into the (R, 1 + n) continuations.
        is_end: (D, K) True where the continuation is EOS.
        is_word: (D, K) True where the continuation is a word. If fewer than K continuations were
            selected, the other entries are False in both masks, and their indices are meaningless.
    """

    documents: Ints
    indices: Ints
    is_end: Bools
    is_word: Bools


def check_candidates(candidates: Candidates, active: ActiveHypotheses) -> None:
    """Check that no log-probability is NaN.

    Raises:
        ArtifactError: if one is.
    """
    for log_probs in (candidates.log_probs, candidates.end_log_probs):
        if isnan(log_probs.min(initial=0.0)):  # the minimum is NaN if any value is
            document = active.documents[np.nonzero(np.isnan(log_probs))[0][0]]
            raise ArtifactError(
                f"model output: NaN at word {active.num_words + 1} of document {document} of "
                "the batch; the weights are damaged, or the computation overflows"
            )


def sort_candidates(candidates: Candidates) -> Candidates:
    """Sort every row by descending log-probability, and equal log-probabilities by ascending id.

    Models return sorted candidates, so usually only ties need sorting.
    """
    log_probs = candidates.log_probs
    if not (log_probs[:, 1:] >= log_probs[:, :-1]).any():
        return candidates
    return candidates.take(np.lexsort((candidates.ids, -log_probs), axis=1))


def take_allowed(
    candidates: Candidates, bonuses: Floats | None, banned: Bools | None, count: int
) -> tuple[Candidates, Floats | None]:
    """Return candidates whose first `count` columns have the first allowed words of each row.

    Args:
        candidates: (R, k) sorted candidates.
        bonuses: (R, k) feature bonuses; None if there are none.
        banned: (R, k) mask of banned words; None if all words are allowed.
        count: number of words that the beam needs.

    Returns:
        The candidates and their bonuses. A row with fewer than `count` allowed words is filled up
        with words of log-probability -inf.
    """
    if banned is None or not banned[:, :count].any():
        return candidates, bonuses
    columns = np.argsort(banned, axis=1, kind="stable")[:, :count]  # allowed words first
    allowed = candidates.take(columns)
    allowed.log_probs[take_columns(banned, columns)] = -np.inf
    return allowed, None if bonuses is None else take_columns(bonuses, columns)


def score_continuations(
    active: ActiveHypotheses,
    candidates: Candidates,
    bonuses: Floats | None = None,
    *,
    end_is_banned: Bools | None,
    prefix: ForcedPrefix,
    scoring: Scoring,
    beam_size: int,
) -> Continuations:
    """Score EOS and the best words of each row.

    The candidates must be sorted. `bonuses` are their (R, k) feature bonuses. `end_is_banned`,
    (R,), marks the rows that must not end yet. At most `beam_size` words of a row are scored, since
    a beam has no room for more.
    """
    n = min(candidates.ids.shape[1], beam_size)
    num_scored = prefix.num_scored(active.documents, active.num_words + 1)[:, None]  # (R, 1) words

    log_probs = np.empty((len(active), 1 + n))
    log_probs[:, END_COLUMN] = candidates.end_log_probs
    log_probs[:, 1:] = candidates.log_probs[:, :n]
    if bonuses is not None:
        log_probs[:, 1:] += bonuses[:, :n]
    log_probs += active.log_probs[:, None]
    scores = scoring.scores(log_probs, num_scored)
    dead_ends, dead_end_scores = _ban_end(end_is_banned, log_probs, scores)
    ranking_scores = scores
    if scoring.diversity:
        ranking_scores = scores.copy()
        ranking_scores[:, 1:] -= scoring.diversity * np.arange(n, dtype=np.float64)
    return Continuations(
        log_probs=log_probs,
        scores=scores,
        ranking_scores=ranking_scores,
        dead_ends=dead_ends,
        dead_end_scores=dead_end_scores,
    )


def select_continuations(
    active: ActiveHypotheses, continuations: Continuations, num_to_select: Ints
) -> Selection:
    """Select the best continuations of every document.

    All continuations of a document are put into one row of a table, padded to the document with
    the most hypotheses. One sort then ranks the continuations of all documents.

    `num_to_select`, (B,), is the number of continuations for each document of the batch.
    """
    is_first = np.ones(len(active), dtype=np.bool_)  # (R,)
    is_first[1:] = active.documents[1:] != active.documents[:-1]
    first_rows = np.flatnonzero(is_first)  # (D,)
    num_rows = np.append(first_rows[1:], len(active)) - first_rows  # (D,)
    documents = active.documents[first_rows]
    ranking_scores = continuations.ranking_scores
    D, max_rows, num_columns = len(documents), int(num_rows.max()), ranking_scores.shape[1]
    if len(active) != D * max_rows:
        ranking_scores = np.full((D * max_rows, num_columns), -np.inf)
        offsets = np.arange(len(active)) - np.repeat(first_rows, num_rows)
        padded_rows = np.repeat(np.arange(D), num_rows) * max_rows + offsets  # (R,)
        ranking_scores[padded_rows] = continuations.ranking_scores
    ranking_scores = ranking_scores.reshape(D, max_rows * num_columns)

    num_to_select = num_to_select[documents]
    K = min(int(num_to_select.max()), ranking_scores.shape[1])
    # The stable sort keeps equal scores in the order of the hypotheses, and EOS before words.
    best = np.argsort(-ranking_scores, axis=1, kind="stable")[:, :K]  # (D, K)
    is_selected = take_columns(ranking_scores, best) > -np.inf
    is_selected &= np.arange(K) < num_to_select[:, None]
    is_end = is_selected & (best % num_columns == END_COLUMN)
    return Selection(
        documents=documents,
        indices=best + (first_rows * num_columns)[:, None],
        is_end=is_end,
        is_word=is_selected & ~is_end,
    )


def _ban_end(banned: Bools | None, log_probs: Floats, scores: Floats) -> tuple[Ints, Floats]:
    """Set the end column of the (R, 1 + n) tables to -inf where ending is banned, in place.

    Returns:
        (F,) rows that have no continuation left, and (F,) their scores with EOS.
    """
    dead_ends: Ints = np.empty(0, dtype=np.intp)
    dead_end_scores: Floats = np.empty(0)
    if banned is None:
        return dead_ends, dead_end_scores
    has_no_word = scores[:, 1] == -np.inf  # words are sorted, so the first is the best
    if has_no_word.any():
        dead_ends = np.flatnonzero(has_no_word & banned & (scores[:, END_COLUMN] > -np.inf))
        dead_end_scores = scores[dead_ends, END_COLUMN]
    log_probs[banned, END_COLUMN] = scores[banned, END_COLUMN] = -np.inf
    return dead_ends, dead_end_scores
