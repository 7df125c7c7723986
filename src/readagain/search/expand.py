"""One step of a search: which words, or the end, come next in which hypotheses."""

from dataclasses import dataclass

import numpy as np

from readagain.errors import ArtifactError, ShapeError
from readagain.search.allowed import first_allowed
from readagain.search.live import Live
from readagain.search.model import Bools, Candidates, Floats, Ints
from readagain.search.prefix import ForcedPrefix
from readagain.search.ranking import at_columns, best_columns
from readagain.search.rules import Rule
from readagain.search.scoring import Scoring, over_attention

END_COLUMN = 0  # ending stands before the k words, so that it wins a tie with them


@dataclass(frozen=True, kw_only=True)
class Options:
    """What R live hypotheses can do next: end (column 0), or go on with one of n words.

    Args:
        candidates: (R, n) which of the k candidates each word is.
        log_probs: (R, 1 + n) of the longer hypothesis, with what features add; -inf where it is
            not allowed.
        scores: (R, 1 + n) its score.
        ranking: (R, 1 + n) what it is chosen by: the score, less what diversity takes off.
        end_scores: (R,) the score of ending, allowed or not.
        coverage: (R, S) attention that each position has received, this step included; None
            when no penalty looks at it.
        over_attention: (R,) what the coverage penalty weighs, or None.
    """

    candidates: Ints
    log_probs: Floats
    scores: Floats
    ranking: Floats
    end_scores: Floats
    coverage: Floats | None
    over_attention: Floats | None

    @property
    def is_stuck(self) -> Bools:
        """Mark the rows in which nothing is allowed: (R,)."""
        stuck: Bools = self.log_probs[:, END_COLUMN] == -np.inf
        stuck &= self.log_probs[:, 1] == -np.inf  # words are in order: none, if not the first
        return stuck


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen of the options, by document and within one best first.

    Args:
        documents: (D,) the documents that have live rows.
        rows: (D, K) the row that is continued.
        columns: (D, K) how: 0 by ending, 1 + j by word j.
        ends, grows: (D, K) True where a hypothesis ends or gets a word; elsewhere the place is
            empty.
    """

    documents: Ints
    rows: Ints
    columns: Ints
    ends: Bools
    grows: Bools


def check_candidates(candidates: Candidates, live: Live) -> None:
    """Refuse an answer that is not about the rows that were asked about, or is not numbers."""
    R = len(live)
    shapes = [
        candidates.ids.shape,
        candidates.log_probs.shape,
        candidates.copied_from.shape,
    ]
    if (
        len(set(shapes)) > 1
        or candidates.ids.shape[0] != R
        or candidates.end_log_probs.shape != (R,)
    ):
        raise ShapeError(
            f"the model was asked about {R} rows and answered with ids {shapes[0]}, log_probs "
            f"{shapes[1]}, copied_from {shapes[2]}, end_log_probs "
            f"{candidates.end_log_probs.shape}; expected {R} rows of equal width"
        )
    for log_probs in (candidates.log_probs, candidates.end_log_probs):
        is_nan = np.isnan(log_probs)
        if is_nan.any():
            document = live.document[np.nonzero(is_nan)[0][0]]
            raise ArtifactError(
                f"the model gives NaN for word {live.num_words + 1} of document {document} of "
                "its batch; its weights are damaged or overflow"
            )


def score_options(
    live: Live,
    offered: Candidates,
    added: Floats | None = None,
    *,
    rule: Rule,
    prefix: ForcedPrefix,
    scoring: Scoring,
    beam_size: int,
) -> Options:
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
    end_banned = rule.bans_end(live)
    decisions = prefix.decisions(live.document, live.num_words + 1)[:, None]  # (R, 1)
    coverage = live.coverage_with(offered.attention)  # (R, S)
    over = None if coverage is None else over_attention(coverage)[:, None]  # (R, 1)

    log_probs = np.empty((len(live), 1 + candidates.shape[1]))
    log_probs[:, END_COLUMN] = offered.end_log_probs
    log_probs[:, 1:] = at_columns(offered.log_probs, candidates)
    if added is not None:
        log_probs[:, 1:] += at_columns(added, candidates)
    log_probs += live.log_probs[:, None]
    end_scores = scoring.scores(log_probs[:, :1].copy(), decisions, over)[:, 0]
    log_probs[:, 1:][missing] = -np.inf
    if end_banned is not None:
        log_probs[end_banned, END_COLUMN] = -np.inf
    scores = scoring.scores(log_probs, decisions, over)
    ranking = scores
    if scoring.diversity:
        ranking = scores.copy()
        ranking[:, 1:] -= scoring.sibling_penalties(candidates.shape[1])
    return Options(
        candidates=candidates,
        log_probs=log_probs,
        scores=scores,
        ranking=ranking,
        end_scores=end_scores,
        coverage=coverage,
        over_attention=None if over is None else over[:, 0],
    )


def choose(live: Live, options: Options, widths: Ints) -> Choice:
    """Keep the best options of every document, as many as its beam is wide.

    Args:
        live: the hypotheses.
        options: what each can do.
        widths: (B,) how many hypotheses each document of the batch may still follow or end.
    """
    is_first = np.ones(len(live), dtype=np.bool_)  # rows stand by document
    is_first[1:] = live.document[1:] != live.document[:-1]
    first_rows = np.flatnonzero(is_first)
    counts = np.append(first_rows[1:], len(live)) - first_rows
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
    parents, columns = np.divmod(best, C)
    is_real = at_columns(ranking, best) > -np.inf
    is_real &= np.arange(K) < widths[:, None]
    return Choice(
        documents=documents,
        rows=first_rows[:, None] + np.where(is_real, parents, 0),
        columns=columns,
        ends=is_real & (columns == END_COLUMN),
        grows=is_real & (columns != END_COLUMN),
    )
