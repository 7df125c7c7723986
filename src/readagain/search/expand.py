"""One step of a search: which words, or the end, come next in which hypotheses."""

from dataclasses import dataclass
from math import isnan

import numpy as np

from readagain.errors import ArtifactError, ShapeError
from readagain.search.allowed import first_allowed
from readagain.search.live import ActiveHypotheses
from readagain.search.model import Bools, Candidates, Floats, Ints
from readagain.search.prefix import ForcedPrefix
from readagain.search.ranking import at_columns, best_columns
from readagain.search.rules import Constraint
from readagain.search.scoring import Scoring, over_attention

END_COLUMN = 0  # ending stands before the k words, so that it wins a tie with them
NO_ROWS: Ints = np.empty(0, dtype=np.intp)
NO_SCORES: Floats = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class Continuations:
    """What R live hypotheses can do next: end (column 0), or go on with one of n words.

    Args:
        candidates: (R, n) which of the k candidates each word is; None for the first n.
        log_probs: (R, 1 + n) of the longer hypothesis, with what features add; -inf where it is
            not allowed.
        scores: (R, 1 + n) its score.
        ranking: (R, 1 + n) what it is chosen by: the score, less what diversity takes off.
        stuck: (F,) the rows that could only end, and that rules do not let end.
        stuck_scores: (F,) their scores if they ended all the same.
        coverage: (R, S) attention that each position has received, this step included; None
            when no penalty looks at it.
        over_attention: (R,) what the coverage penalty weighs, or None.
    """

    candidates: Ints | None
    log_probs: Floats
    scores: Floats
    ranking: Floats
    stuck: Ints
    stuck_scores: Floats
    coverage: Floats | None
    over_attention: Floats | None


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What was chosen of the options, by document and within one best first.

    Args:
        documents: (D,) the documents that have live rows.
        places: (D, K) which of the options, counted through all rows; anything where none is.
        ends, grows: (D, K) True where a hypothesis ends or gets a word; elsewhere the place is
            empty.
    """

    documents: Ints
    places: Ints
    ends: Bools
    grows: Bools


def check_candidates(candidates: Candidates, live: ActiveHypotheses) -> None:
    """Refuse an answer that is not about the rows that were asked about, or is not numbers."""
    R = len(live)
    shape = candidates.ids.shape
    if (
        not shape == candidates.log_probs.shape == candidates.copied_from.shape
        or shape[0] != R
        or candidates.end_log_probs.shape != (R,)
    ):
        raise ShapeError(
            f"the model was asked about {R} rows and answered with ids {shape}, log_probs "
            f"{candidates.log_probs.shape}, copied_from {candidates.copied_from.shape}, "
            f"end_log_probs {candidates.end_log_probs.shape}; expected {R} rows of equal width"
        )
    for log_probs in (candidates.log_probs, candidates.end_log_probs):
        if isnan(log_probs.min(initial=0.0)):  # where one is NaN, so is the smallest
            document = live.document[np.nonzero(np.isnan(log_probs))[0][0]]
            raise ArtifactError(
                f"the model gives NaN for word {live.num_words + 1} of document {document} of "
                "its batch; its weights are damaged or overflow"
            )


def score_options(
    live: ActiveHypotheses,
    offered: Candidates,
    added: Floats | None = None,
    *,
    rule: Constraint,
    prefix: ForcedPrefix,
    scoring: Scoring,
    beam_size: int,
) -> Continuations:
    """Score what may follow each row.

    Args:
        live: the hypotheses.
        offered: their candidates, in order.
        added: (R, k) what features add to each, or None.
        rule: what is forbidden; a forced word is beyond its reach.
        prefix: the forced words.
        scoring: how hypotheses are compared.
        beam_size: the most words that can be chosen behind one row.
    """
    candidates, missing = first_allowed(live, offered, rule, prefix, beam_size)
    n = min(offered.ids.shape[1], beam_size)
    decisions = prefix.decisions(live.document, live.num_words + 1)[:, None]  # (R, 1)
    coverage = live.coverage_with(offered.attention)  # (R, S)
    over = None if coverage is None else over_attention(coverage)[:, None]  # (R, 1)

    log_probs = np.empty((len(live), 1 + n))
    of_words = log_probs[:, 1:]
    log_probs[:, END_COLUMN] = offered.end_log_probs
    of_words[:] = _taken(offered.log_probs, candidates, n)
    if added is not None:
        of_words += _taken(added, candidates, n)
    log_probs += live.log_probs[:, None]
    if missing is not None:
        of_words[missing] = -np.inf
    scores = scoring.scores(log_probs, decisions, over)
    stuck, stuck_scores = _forbid_end(rule.bans_end(live), log_probs, scores)
    ranking = scores
    if scoring.diversity:
        ranking = scores.copy()
        ranking[:, 1:] -= scoring.sibling_penalties(n)
    return Continuations(
        candidates=candidates,
        log_probs=log_probs,
        scores=scores,
        ranking=ranking,
        stuck=stuck,
        stuck_scores=stuck_scores,
        coverage=coverage,
        over_attention=None if over is None else over[:, 0],
    )


def _taken(table: Floats, columns: Ints | None, count: int) -> Floats:
    """Take some columns of each row, the first `count` unless given: (R, k) -> (R, n)."""
    return table[:, :count] if columns is None else at_columns(table, columns)


def _forbid_end(banned: Bools | None, log_probs: Floats, scores: Floats) -> tuple[Ints, Floats]:
    """Take ending out of (R, 1 + n) options in place, where rules forbid it.

    Returns:
        (F,) the rows in which nothing is left, and (F,) what ending would have scored there.
    """
    stuck, stuck_scores = NO_ROWS, NO_SCORES
    if banned is None:
        return stuck, stuck_scores
    has_no_word = scores[:, 1] == -np.inf  # words are in order: none, if not the first
    if has_no_word.any():
        stuck = np.flatnonzero(has_no_word & banned & (scores[:, END_COLUMN] > -np.inf))
        stuck_scores = scores[stuck, END_COLUMN]
    log_probs[banned, END_COLUMN] = scores[banned, END_COLUMN] = -np.inf
    return stuck, stuck_scores


def choose(live: ActiveHypotheses, options: Continuations, widths: Ints) -> Selection:
    """Keep the best options of every document, as many as its beam is wide.

    Args:
        live: the hypotheses.
        options: what each can do.
        widths: (B,) how many hypotheses each document of the batch may still follow or end.
    """
    first_rows, counts = _beams(live.document)
    documents = live.document[first_rows]
    D, W, C = len(documents), int(counts.max()), options.ranking.shape[1]
    ranking = options.ranking
    if len(live) != D * W:  # narrower beams than the widest are filled up with nothing
        ranking = np.full((D * W, C), -np.inf)
        within = np.arange(len(live)) - np.repeat(first_rows, counts)
        ranking[np.repeat(np.arange(D), counts) * W + within] = options.ranking
    ranking = ranking.reshape(D, W * C)

    widths = widths[documents]
    K = min(int(widths.max()), W * C)
    best = best_columns(ranking, K)  # (D, K)
    is_real = at_columns(ranking, best) > -np.inf
    if D > 1:
        is_real &= np.arange(K) < widths[:, None]
    ends = is_real & (best % C == END_COLUMN)
    return Selection(
        documents=documents,
        places=best + (first_rows * C)[:, None],
        ends=ends,
        grows=is_real ^ ends,
    )


def _beams(document: Ints) -> tuple[Ints, Ints]:
    """Find the first row of each document, (D,), and how many it has, of rows that stand by it."""
    R = len(document)
    if document[0] == document[-1]:
        return np.zeros(1, dtype=np.intp), np.array([R])
    is_first = np.ones(R, dtype=np.bool_)
    is_first[1:] = document[1:] != document[:-1]
    first_rows = np.flatnonzero(is_first)
    return first_rows, np.append(first_rows[1:], R) - first_rows
