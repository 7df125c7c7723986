"""Minimum error rate training: exact line searches over n-best lists.

Och 2003, "Minimum error rate training in statistical machine translation", section 5. The score of
a candidate is base + weights . features, so along a line in the space of weights it is a linear
function of the step. The best candidate of a document changes only where two of these lines cross,
so the mean metric of a data set is a step function.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

RANDOM_STARTS = 8
"""Number of random starts in addition to the given one."""
MAX_PASSES = 20
"""Maximum number of passes over all directions from one start."""
MIN_WIDTH = 1e-9
"""Smaller intervals and gains are rounding errors."""


@dataclass(frozen=True)
class NBestLists:
    """Up to K candidates of D documents; missing ones have a base of -inf.

    Args:
        base: (D, K) scores without features.
        features: (D, K, F) feature values.
        metrics: (D, K) metric of each candidate.
    """

    base: Numbers
    features: Numbers
    metrics: Numbers

    def value(self, weights: Numbers) -> float:
        """Return the mean metric of the candidates that the weights select."""
        indices = (self.base + self.features @ weights).argmax(axis=1)  # (D,)
        return float(np.take_along_axis(self.metrics, indices[:, None], axis=1).mean())


def best_weights(
    lists: NBestLists, start: Numbers, *, max_change: float, seed: int
) -> tuple[Numbers, float]:
    """Return the weights with the highest mean metric, and this mean.

    Line searches along every axis and along random directions are repeated until none improves,
    from the given (F,) start and from random ones around it. No weight moves away from its start by
    more than `max_change`: with weights farther away, decoding would find candidates that are not
    in the lists.
    """
    rng = np.random.default_rng(seed)
    F = len(start)
    starts = [start, *(start + rng.uniform(-max_change, max_change, size=(RANDOM_STARTS, F)))]
    maxima = [_maximize(lists, weights, start, max_change, rng) for weights in starts]
    return max(maxima, key=lambda maximum: maximum[1])


def _maximize(
    lists: NBestLists,
    weights: Numbers,
    centre: Numbers,
    max_change: float,
    rng: np.random.Generator,
) -> tuple[Numbers, float]:
    """Repeat line searches from one start until none improves the metric."""
    value = lists.value(weights)
    for _ in range(MAX_PASSES):
        before = value
        for direction in (*np.eye(len(weights)), *rng.normal(size=(len(weights), len(weights)))):
            shortest, longest = _step_range(weights, direction, centre, max_change)
            step = best_step(lists, weights, direction, shortest=shortest, longest=longest)
            new_weights = weights + step * direction
            if (new_value := lists.value(new_weights)) > value:
                weights, value = new_weights, new_value
        if value <= before:
            break
    return weights, value


def _step_range(
    weights: Numbers, direction: Numbers, centre: Numbers, max_change: float
) -> tuple[float, float]:
    """Return the range of steps that keeps every weight within `max_change` of the centre."""
    changes = direction != 0
    bounds = centre + [[-max_change], [max_change]]  # (2, F)
    ends = (bounds - weights)[:, changes] / direction[changes]  # (2, number of changing weights)
    return float(ends.min(axis=0).max()), float(ends.max(axis=0).min())


def best_step(
    lists: NBestLists, weights: Numbers, direction: Numbers, *, shortest: float, longest: float
) -> float:
    """Return the step to the middle of the best interval along a direction, nearest to 0.

    The line starts at (F,) weights; a negative step goes back.
    """
    heights = lists.base + lists.features @ weights  # (D, K)
    slopes = lists.features @ direction  # (D, K)
    metrics = np.zeros(len(heights))  # metric of the current best candidates
    positions, gains = [], []
    for documents, changes, leaders in highest_lines(heights, slopes, shortest, longest):
        positions.append(changes)
        gains.append(lists.metrics[documents, leaders] - metrics[documents])
        metrics[documents] = lists.metrics[documents, leaders]
    # The sort is stable, so the sum starts with the metrics of the first best candidates.
    order = np.argsort(np.concatenate(positions), kind="stable")
    starts = np.concatenate(positions)[order]
    values = np.cumsum(np.concatenate(gains)[order])
    ends = np.append(starts[1:], longest)
    is_wide = ends - starts > MIN_WIDTH
    if not is_wide.any():
        return 0.0
    best = is_wide & (values >= values[is_wide].max() - MIN_WIDTH)
    middles = (starts + ends)[best] / 2
    return float(middles[np.abs(middles).argmin()])


def highest_lines(
    heights: Numbers, slopes: Numbers, shortest: float, longest: float
) -> Iterator[tuple[Indices, Numbers, Indices]]:
    """Find which of K lines is highest between two positions, for D documents at once.

    `heights` are the (D, K) values of the lines at 0, -inf for missing lines.

    Yields:
        Documents, the positions where their highest line changes, and the new highest lines;
        first all documents at the first position.
    """
    D = len(heights)
    documents = np.arange(D)
    leaders = _steepest(heights + shortest * slopes, slopes)
    yield documents, np.full(D, shortest), leaders
    while len(documents):
        height = heights[documents, leaders][:, None]
        rise = slopes[documents] - slopes[documents, leaders][:, None]  # (D, K)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.where(rise > 0, (height - heights[documents]) / rise, np.inf)
        positions = crossings.min(axis=1)
        has_next = positions < longest
        overtaking = _steepest(-crossings, slopes[documents])
        documents, leaders = documents[has_next], overtaking[has_next]
        positions = positions[has_next]
        if len(documents):
            yield documents, np.maximum(positions, shortest), leaders


def _steepest(values: Numbers, slopes: Numbers) -> Indices:
    """Return the index of the largest value of each row; ties go to the steepest line."""
    is_largest = values == values.max(axis=1, keepdims=True)
    return np.asarray(np.where(is_largest, slopes, -np.inf).argmax(axis=1))
