"""The candidates that rules leave, and no more of them than a beam can use."""

import numpy as np

from readagain.search.live import ActiveHypotheses
from readagain.search.model import ID, Bools, Candidates, Ints
from readagain.search.prefix import ForcedPrefix
from readagain.search.ranking import at_columns
from readagain.search.rules import Constraint

# Of many rows rules look at this many candidates more than the beam needs before they look at all:
# rows with more bans are few, and cost a second look. Of few rows they look at all at once: there
# the calls cost more than the work.
SLACK = 4
FEW_ROWS = 32


def first_allowed(
    live: ActiveHypotheses, offered: Candidates, rule: Constraint, prefix: ForcedPrefix, count: int
) -> tuple[Ints | None, Bools | None]:
    """Find the first `count` candidates of each row that the rules leave.

    A beam of `count` hypotheses takes no more than these behind any one of them, so all that
    follows can work on `count` columns instead of k.

    Returns:
        (R, n) columns of the candidates in their order, n at most `count`; and (R, n) True where
        a row has fewer allowed words and the column must not be used. None, None where every row
        is left its first `count` candidates.
    """
    k = offered.ids.shape[1]
    near = k if len(live) <= FEW_ROWS else min(k, count + SLACK)
    banned = _banned(live, offered, near, rule, prefix)
    if banned is None or not banned[:, :count].any():
        return None, None
    columns = np.arange(min(k, count))[None].repeat(len(live), axis=0)
    missing = np.zeros(columns.shape, dtype=np.bool_)
    touched = np.flatnonzero(banned.any(axis=1))
    columns[touched], missing[touched] = _allowed_first(banned[touched], count)
    lacking = touched[missing[touched].any(axis=1)]
    if near < k and len(lacking):
        banned = _banned(live.take(lacking), offered.take(lacking), k, rule, prefix)
        if banned is not None:
            columns[lacking], missing[lacking] = _allowed_first(banned, count)
    return columns, missing


def _banned(
    live: ActiveHypotheses, offered: Candidates, near: int, rule: Constraint, prefix: ForcedPrefix
) -> Bools | None:
    """Ask the rules about the first `near` candidates; a forced word is beyond their reach."""
    if near < offered.ids.shape[1]:
        offered = Candidates(
            ids=offered.ids[:, :near].astype(ID),
            log_probs=offered.log_probs[:, :near],
            copied_from=offered.copied_from[:, :near].astype(ID),
            end_log_probs=offered.end_log_probs,
            attention=offered.attention,
        )
    banned = rule.banned_words(live, offered)
    is_forced = prefix.is_forced(live)
    if banned is not None and is_forced is not None:
        banned[is_forced] = False
    return banned


def _allowed_first(banned: Bools, count: int) -> tuple[Ints, Bools]:
    """Put the columns that are not banned before those that are, each kind in its order."""
    order = np.argsort(banned, axis=1, kind="stable")[:, :count]
    return order, at_columns(banned, order)
