"""Beam search with copying, over any model that can be stepped."""

from collections.abc import Sequence

import numpy as np

from readagain.counts import counted
from readagain.errors import ArgumentError, ConfigError, ShapeError, quoted
from readagain.search.expand import (
    Continuations,
    Selection,
    check_candidates,
    choose,
    score_options,
)
from readagain.search.features import SPARE_CANDIDATES, ExtractiveFeatures
from readagain.search.live import ActiveHypotheses
from readagain.search.model import Candidates, Floats, Ints, SourceBatch, State, StepModel
from readagain.search.prefix import ForcedPrefix
from readagain.search.ranking import in_order
from readagain.search.rules import Constraint, ConstraintList, LengthConstraint
from readagain.search.scoring import Scoring
from readagain.search.standing import FinishedScores
from readagain.search.trace import Expansion, FinishedHypotheses, Hypothesis, Trace


def beam_search(
    model: StepModel[State],
    sources: SourceBatch,
    *,
    beam_size: int,
    words: LengthConstraint,
    rules: Sequence[Constraint] = (),
    scoring: Scoring | None = None,
    n_best: int = 1,
    keep_attention: bool = False,
) -> list[list[Hypothesis]]:
    """Find the best summaries of every document.

    Each step keeps the best `beam_size` hypotheses of a document, ended ones included: one that
    ends is put aside, and the beam is narrower from then on. A document is done when its beam is
    empty, or when no live hypothesis can still pass the `n_best`-th ended one: going on would
    not change its answer. A beam of 1 is greedy search.

    Candidates are ordered by score, then by the rank of the hypothesis they follow, ending
    before words, then by probability, then by id. Nothing depends on the other documents.

    Args:
        model: whatever offers the next words.
        sources: the documents.
        beam_size: hypotheses of one document that are followed side by side.
        words: the fewest and the most words of a summary; the most bounds the steps, too.
        rules: further bans, and words that each summary must begin with (`ForcedPrefix`).
        scoring: how hypotheses are compared; by probability alone unless given.
        n_best: how many summaries of each document are wanted, at most `beam_size`.
        keep_attention: keep the attention weights for the trace.

    Returns:
        For each document up to `n_best` hypotheses, best first: fewer where the beam found
        fewer, none where the model gives ending no probability.

    Raises:
        ConfigError: where the sizes cannot be honoured together.
        ShapeError: where the model answers with other rows than it was asked about.
        ArtifactError: where it answers with NaN.
    """
    prefix = ForcedPrefix.among(rules, len(sources))
    _check_sizes(sources, beam_size=beam_size, words=words, n_best=n_best, prefix=prefix)
    if not len(sources):
        return []
    scoring = scoring or Scoring()
    rule = ConstraintList([words, *rules])
    k = beam_size + rule.max_bans(words.maximum)
    features = None
    if not scoring.features.are_zero:
        features = ExtractiveFeatures(sources, scoring.features)
        k += SPARE_CANDIDATES

    trace = Trace()
    standing = FinishedScores(len(sources), beam_size=beam_size, n_best=n_best)
    live = ActiveHypotheses.at_start(sources, has_coverage=scoring.coverage > 0)
    state = model.start(sources)
    while len(live):
        offered, state = model.step(state, live.last_ids, k)
        check_candidates(offered, live)
        offered = prefix.force(in_order(offered), live)
        added = None
        if features is not None:
            offered, added = features.weigh(live, offered, prefix)
        options = score_options(
            live, offered, added, rule=rule, prefix=prefix, scoring=scoring, beam_size=beam_size
        )
        choice = choose(live, options, standing.widths)
        ended = _put_aside(live, offered, options, choice, standing)
        kept = choice.grows
        if standing.may_settle:
            decisions = prefix.decisions(choice.documents, live.num_words + 2)  # a word, the end
            most_decisions = prefix.decisions(choice.documents, words.maximum + 1)
            reach = _reach(options, choice, scoring, decisions, most_decisions)
            kept = kept & ~standing.is_done(choice.documents, reach)[:, None]  # (D, K)
        places = choice.places[kept]
        grown = _grown(offered, options, places, keep_attention=keep_attention)
        trace.add(grown, ended)
        live = live.grow(
            grown.parents,
            grown.ids,
            grown.copied_from,
            options.log_probs.take(places),
            options.coverage,
        )
        if len(live):
            state = model.select(state, grown.parents)
    return trace.best(sources, n_best)


def check_n_best(n_best: int, beam_size: int) -> None:
    """Check that a beam can find as many summaries of a document as are wanted.

    Raises:
        ConfigError: when it cannot.
    """
    is_whole = isinstance(n_best, int | np.integer) and not isinstance(n_best, bool)
    if not is_whole or not 1 <= n_best <= beam_size:
        raise ArgumentError(
            "{n_best} is {0}; expected 1 to {1}, the width of the beam", quoted(n_best), beam_size
        )


def _check_sizes(
    sources: SourceBatch,
    *,
    beam_size: int,
    words: LengthConstraint,
    n_best: int,
    prefix: ForcedPrefix,
) -> None:
    if beam_size < 1:
        raise ConfigError(f"beam_size is {beam_size}; expected 1 or more")
    check_n_best(n_best, beam_size)
    if len(prefix.lengths) != len(sources):
        raise ShapeError(
            f"there are prefixes for {len(prefix.lengths)} documents and {len(sources)} "
            "documents; expected one prefix, which may be empty, for each"
        )
    if prefix.longest > words.maximum:
        raise ConfigError(
            f"a summary must begin with {counted(prefix.longest, 'word')} and have at "
            f"most {words.maximum}; allow more words, or force fewer"
        )


def _put_aside(
    live: ActiveHypotheses,
    offered: Candidates,
    options: Continuations,
    choice: Selection,
    standing: FinishedScores,
) -> list[FinishedHypotheses]:
    """Put aside what was chosen to end, and note it; and, apart, what is stuck.

    A row is stuck that no word may follow before its summary has reached the minimum length.
    """
    aside = []
    if choice.ends.any():
        scores = options.scores.take(choice.places, mode="clip")  # (D, K)
        standing.add(choice.documents, choice.ends, scores)
        rows = choice.places[choice.ends] // options.scores.shape[1]
        aside.append((rows, scores[choice.ends], True))
    if len(options.stuck):
        aside.append((options.stuck, options.stuck_scores, False))
    return [
        FinishedHypotheses(
            document=live.document[rows],
            rows=rows,
            end_log_probs=offered.end_log_probs[rows],
            scores=scores,
            keeps_minimum=np.full(len(rows), keeps_minimum),
        )
        for rows, scores, keeps_minimum in aside
    ]


def _reach(
    options: Continuations,
    choice: Selection,
    scoring: Scoring,
    decisions: Ints,
    most_decisions: Ints,
) -> Floats:
    """Bound the scores that what has grown in each document can still reach: (D,)."""
    over = options.over_attention
    if over is not None:
        over = over.take(choice.places // options.scores.shape[1], mode="clip")
    log_probs = options.log_probs.take(choice.places, mode="clip")  # (D, K)
    bounds = scoring.bounds(log_probs, decisions[:, None], most_decisions[:, None], over)
    reach: Floats = np.where(choice.grows, bounds, -np.inf).max(axis=1)
    return reach


def _grown(
    offered: Candidates, options: Continuations, places: Ints, *, keep_attention: bool
) -> Expansion:
    """Note which words were put behind which rows; in copies, as models may reuse their arrays."""
    rows, columns = np.divmod(places, options.scores.shape[1])
    columns -= 1  # the first is ending
    if options.candidates is not None:
        columns = options.candidates[rows, columns]
    at = rows * offered.ids.shape[1] + columns
    return Expansion(
        parents=rows,
        ids=offered.ids.take(at),
        copied_from=offered.copied_from.take(at),
        log_probs=offered.log_probs.take(at),
        attention=np.array(offered.attention, dtype=np.float32) if keep_attention else None,
    )
