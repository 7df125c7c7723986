"""Expansion step of beam search: score the continuations of each hypothesis, select the best."""

from dataclasses import dataclass, replace
from math import isnan
from typing import TypeVar

import numpy as np

from readagain.errors import ArtifactError
from readagain.search.constraints import Constraint, ForcedPrefix
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Floats, Ints
from readagain.search.scoring import Scoring, over_attention

END_COLUMN = 0  # EOS comes before the words, so that it is preferred in a tie

Table = TypeVar("Table", Ints, Floats, Bools)


@dataclass(frozen=True, kw_only=True)
class Continuations:
    """Possible continuations of R hypotheses: EOS (column 0) or one of n words.

    Args:
        columns: (R, n) index of each word among the k candidates; None for the first n.
        log_probs: (R, 1 + n) total log-probability including features; -inf where not allowed.
        scores: (R, 1 + n) scores.
        ranking: (R, 1 + n) scores minus the diversity penalty, by which the beam is selected.
        dead_ends: (F,) rows without an allowed word that are below the minimum length.
        dead_end_scores: (F,) their scores with EOS.
        coverage: (R, S) coverage including this step, or None if there is no coverage penalty.
        over_attention: (R,) total attention beyond 1 per source position, or None if there is no
            coverage penalty.
    """

    columns: Ints | None
    log_probs: Floats
    scores: Floats
    ranking: Floats
    dead_ends: Ints
    dead_end_scores: Floats
    coverage: Floats | None
    over_attention: Floats | None


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Selected continuations of each document, best first.

    Args:
        documents: (D,) documents that have active rows.
        indices: (D, K) flat indices into the (R, 1 + n) continuations.
        is_end, is_word: (D, K) True where a hypothesis ends or gets a word; the index is
            meaningless where both are False.
    """

    documents: Ints
    indices: Ints
    is_end: Bools
    is_word: Bools


def check_candidates(candidates: Candidates, active: ActiveHypotheses) -> None:
    """Check that the output of a model has no NaN.

    Raises:
        ArtifactError: for NaN.
    """
    for log_probs in (candidates.log_probs, candidates.end_log_probs):
        if isnan(log_probs.min(initial=0.0)):  # the minimum is NaN if any value is
            document = active.documents[np.nonzero(np.isnan(log_probs))[0][0]]
            raise ArtifactError(
                f"model output: NaN at word {active.num_words + 1} of document {document} of "
                "the batch; the weights are damaged, or the computation overflows"
            )


def sort_candidates(candidates: Candidates) -> Candidates:
    """Sort every row by descending log-probability, ties by ascending id.

    Models return sorted candidates, so only rows with ties or in another order are sorted again.
    """
    log_probs, ids = candidates.log_probs, candidates.ids
    unsorted = log_probs[:, 1:] >= log_probs[:, :-1]
    if not unsorted.any():
        return candidates
    rows = np.flatnonzero(unsorted.any(axis=1))
    order = np.lexsort((ids[rows], -log_probs[rows]), axis=1)
    return replace(
        candidates,
        ids=_reorder_rows(ids, rows, order),
        log_probs=_reorder_rows(log_probs, rows, order),
        copied_from=_reorder_rows(candidates.copied_from, rows, order),
    )


def score_continuations(
    active: ActiveHypotheses,
    candidates: Candidates,
    bonuses: Floats | None = None,
    *,
    constraint: Constraint,
    prefix: ForcedPrefix,
    scoring: Scoring,
    beam_size: int,
) -> Continuations:
    """Score the continuations of each row that the constraints allow.

    Candidates must be sorted; `bonuses` are (R, k) feature bonuses. At most `beam_size` words of a
    row are scored, since a beam has no room for more.
    """
    columns, missing = find_allowed(active, candidates, constraint, prefix, beam_size)
    n = min(candidates.ids.shape[1], beam_size)
    num_scored = prefix.num_scored(active.documents, active.num_words + 1)[:, None]  # (R, 1)
    coverage = excess = None
    if active.coverage is not None:
        coverage = active.coverage + candidates.attention  # (R, S)
        excess = over_attention(coverage)[:, None]  # (R, 1)

    log_probs = np.empty((len(active), 1 + n))
    word_log_probs = log_probs[:, 1:]
    log_probs[:, END_COLUMN] = candidates.end_log_probs
    word_log_probs[:] = _select_columns(candidates.log_probs, columns, n)
    if bonuses is not None:
        word_log_probs += _select_columns(bonuses, columns, n)
    log_probs += active.log_probs[:, None]
    if missing is not None:
        word_log_probs[missing] = -np.inf
    scores = scoring.scores(log_probs, num_scored, excess)
    dead_ends, dead_end_scores = _ban_end(constraint.banned_end(active), log_probs, scores)
    ranking = scores
    if scoring.diversity:
        ranking = scores.copy()
        ranking[:, 1:] -= scoring.diversity * np.arange(n, dtype=np.float64)
    return Continuations(
        columns=columns,
        log_probs=log_probs,
        scores=scores,
        ranking=ranking,
        dead_ends=dead_ends,
        dead_end_scores=dead_end_scores,
        coverage=coverage,
        over_attention=None if excess is None else excess[:, 0],
    )


def find_allowed(
    active: ActiveHypotheses,
    candidates: Candidates,
    constraint: Constraint,
    prefix: ForcedPrefix,
    count: int,
) -> tuple[Ints | None, Bools | None]:
    """Find the first `count` allowed candidates of each row.

    Returns:
        (R, n) columns of the candidates in order, n at most `count`, and (R, n) True where a row
        has fewer allowed words and the column is invalid. None, None if the first `count`
        candidates of every row are allowed.
    """
    banned = constraint.banned_words(active, candidates)
    if banned is None:
        return None, None
    is_forced = prefix.is_forced(active)
    if is_forced is not None:
        banned[is_forced] = False
    if not banned[:, :count].any():
        return None, None
    allowed_first = np.argsort(banned, axis=1, kind="stable")[:, :count]
    return allowed_first, take_columns(banned, allowed_first)


def select_continuations(
    active: ActiveHypotheses, continuations: Continuations, beam_widths: Ints
) -> Selection:
    """Select the best continuations of every document.

    The continuations of a document are put into one row, so that one sort ranks those of all
    documents. D documents have up to W rows, each with C continuations.

    `beam_widths`, (B,), is the number of continuations to select for each document of the batch.
    """
    first_rows, num_rows = _row_ranges(active.documents)
    documents = active.documents[first_rows]
    ranking = continuations.ranking
    D, W, C = len(documents), int(num_rows.max()), ranking.shape[1]
    if len(active) != D * W:  # pad narrow beams to the widest
        ranking = np.full((D * W, C), -np.inf)
        offsets = np.arange(len(active)) - np.repeat(first_rows, num_rows)
        ranking[np.repeat(np.arange(D), num_rows) * W + offsets] = continuations.ranking
    ranking = ranking.reshape(D, W * C)

    beam_widths = beam_widths[documents]
    K = min(int(beam_widths.max()), W * C)
    # The stable sort keeps equal scores in the order of the hypotheses, and EOS before words.
    best = np.argsort(-ranking, axis=1, kind="stable")[:, :K]  # (D, K)
    is_real = take_columns(ranking, best) > -np.inf
    if D > 1:
        is_real &= np.arange(K) < beam_widths[:, None]
    is_end = is_real & (best % C == END_COLUMN)
    return Selection(
        documents=documents,
        indices=best + (first_rows * C)[:, None],
        is_end=is_end,
        is_word=is_real ^ is_end,
    )


def take_columns(table: Table, columns: Ints) -> Table:
    """Return columns of each row: (R, k) table, (R, n) columns -> (R, n).

    It is faster than numpy's take_along_axis.
    """
    R, k = table.shape
    taken: Table = table.take(columns + np.arange(0, R * k, k)[:, None])
    return taken


def _reorder_rows(table: Table, rows: Ints, order: Ints) -> Table:
    """Return a copy in which some rows have their columns in another order."""
    result = table.copy()
    result[rows] = take_columns(table[rows], order)
    return result


def _select_columns(table: Floats, columns: Ints | None, count: int) -> Floats:
    """Return columns of each row, or the first `count` if `columns` is None: (R, k) -> (R, n)."""
    return table[:, :count] if columns is None else take_columns(table, columns)


def _ban_end(banned: Bools | None, log_probs: Floats, scores: Floats) -> tuple[Ints, Floats]:
    """Set the end column of the (R, 1 + n) tables to -inf where ending is banned, in place.

    Returns:
        (F,) rows that have no continuation left, and (F,) the scores with which they would end.
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


def _row_ranges(documents: Ints) -> tuple[Ints, Ints]:
    """Return the first row, (D,), and the number of rows, (D,), of each document."""
    R = len(documents)
    is_first = np.ones(R, dtype=np.bool_)
    is_first[1:] = documents[1:] != documents[:-1]
    first_rows = np.flatnonzero(is_first)
    return first_rows, np.append(first_rows[1:], R) - first_rows
