"""The total order of candidates, and the best of them."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from readagain.search.model import Bools, Candidates, Floats, Ints

FEW_ROWS = 4
Table = TypeVar("Table", Ints, Floats, Bools)


def at_columns(table: Table, columns: Ints) -> Table:
    """Take some columns of each row, (R, k) at (R, n): faster than numpy's take_along_axis."""
    R, k = table.shape
    taken: Table = table.take(columns + np.arange(0, R * k, k)[:, None])
    return taken


def in_order(candidates: Candidates) -> Candidates:
    """Sort every row by falling log-probability, equals by rising id.

    Models offer their words sorted; only rows with equals, or out of order, cost something here.
    """
    log_probs, ids = candidates.log_probs, candidates.ids
    unsettled = log_probs[:, 1:] >= log_probs[:, :-1]
    if not unsettled.any():
        return candidates
    rows = np.flatnonzero(unsettled.any(axis=1))
    order = np.lexsort((ids[rows], -log_probs[rows]), axis=1)
    return replace(
        candidates,
        ids=_reordered(ids, rows, order),
        log_probs=_reordered(log_probs, rows, order),
        copied_from=_reordered(candidates.copied_from, rows, order),
    )


def _reordered(table: Table, rows: Ints, order: Ints) -> Table:
    """Copy a table with some of its rows in another order."""
    result = table.copy()
    result[rows] = at_columns(table[rows], order)
    return result


def best_columns(scores: Floats, count: int) -> Ints:
    """Find the `count` largest scores of every row, best first, equals from left to right.

    A partition finds the border, a sort puts the few that pass it in order; sorting whole rows
    took four times as long. A few rows are sorted whole: there the calls cost more than the work.

    Args:
        scores: (D, C) with C >= count; -inf is allowed, NaN is not.
        count: how many of each row.

    Returns:
        (D, count) columns.
    """
    D, C = scores.shape
    if D <= FEW_ROWS:
        columns: Ints = (-scores).argsort(axis=1, kind="stable")[:, :count]
        return columns
    border = np.partition(scores, C - count, axis=1)[:, C - count, None]  # (D, 1)
    passes = scores >= border
    surplus = passes.sum(axis=1) > count
    if surplus.any():
        passes[surplus] = _first_at_border(scores[surplus], border[surplus], count)
    columns = np.nonzero(passes)[1].reshape(D, count)
    order = np.argsort(-at_columns(scores, columns), axis=1, kind="stable")
    return at_columns(columns, order)


def _first_at_border(scores: Floats, border: Floats, count: int) -> Bools:
    """Mark what lies above the border, and from the left as many at it as there is room for."""
    above = scores > border
    at_border = scores == border
    room = count - above.sum(axis=1, keepdims=True)
    first: Bools = above | (at_border & (np.cumsum(at_border, axis=1) <= room))
    return first
