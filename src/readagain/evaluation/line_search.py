"""Minimum error rate training: exact line searches over n-best lists.

Och 2003, "Minimum error rate training in statistical machine translation", section 5. The n-best
list of a document has its candidate summaries, and the search score of a candidate is base +
weights . features. A line search changes the weights to weights + step * direction, so the score of
each candidate is a straight line over the step. The best candidate of a document changes only at
steps where two lines cross. Between these steps, the mean metric of the best candidates is
constant, so trying one step of each interval finds the best step exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.scores import Numbers

Indices = NDArray[np.intp]

_NUM_RANDOM_STARTS = 8
_MAX_PASSES = 20
"""Maximum number of passes over all directions from one start."""
_TOLERANCE = 1e-9
"""Shorter intervals of steps, and smaller differences of the metric, are rounding errors."""


@dataclass(frozen=True)
class NBestLists:
    """Candidate summaries of D documents, up to K of each.

    Args:
        base: (D, K) scores without features, -inf where a document has fewer candidates.
        features: (D, K, F) feature values.
        metrics: (D, K) metric of each candidate, such as its ROUGE-1.
    """

    base: Numbers
    features: Numbers
    metrics: Numbers

    def value(self, weights: Numbers) -> float:
        """Return the mean metric of the highest-scoring candidates under (F,) weights."""
        best_candidates = (self.base + self.features @ weights).argmax(axis=1)  # (D,)
        return float(np.take_along_axis(self.metrics, best_candidates[:, None], axis=1).mean())


def best_weights(
    lists: NBestLists, start: Numbers, *, max_change: float, seed: int
) -> tuple[Numbers, float]:
    """Return the weights with the highest mean metric, and this mean.

    The line searches start from the (F,) weights `start` and from random weights around them. No
    weight moves away from `start` by more than `max_change`: with weights farther away, decoding
    would find candidates that are not in the lists.
    """
    rng = np.random.default_rng(seed)
    size = (_NUM_RANDOM_STARTS, len(start))
    starts = [start, *(start + rng.uniform(-max_change, max_change, size=size))]
    results = [_maximize(lists, weights, start, max_change, rng) for weights in starts]
    return max(results, key=lambda weights_and_value: weights_and_value[1])


def _maximize(
    lists: NBestLists,
    weights: Numbers,
    centre: Numbers,
    max_change: float,
    rng: np.random.Generator,
) -> tuple[Numbers, float]:
    """Improve weights by line searches along every axis and along random directions.

    The line searches are repeated until none of them improves the metric.

    Returns:
        (F,) weights, and their mean metric.
    """
    value = lists.value(weights)
    F = len(weights)
    for _ in range(_MAX_PASSES):
        value_before = value
        for direction in (*np.eye(F), *rng.normal(size=(F, F))):
            min_step, max_step = _step_range(weights, direction, centre, max_change)
            step = best_step(lists, weights, direction, min_step=min_step, max_step=max_step)
            new_weights = weights + step * direction
            if (new_value := lists.value(new_weights)) > value:
                weights, value = new_weights, new_value
        if value <= value_before:
            break
    return weights, value


def _step_range(
    weights: Numbers, direction: Numbers, centre: Numbers, max_change: float
) -> tuple[float, float]:
    """Return the lowest and highest step that keep every weight within `max_change` of `centre`."""
    is_changed = direction != 0
    bounds = centre + [[-max_change], [max_change]]  # (2, F)
    # Steps at which each of C changed weights reaches its bounds.
    steps = (bounds - weights)[:, is_changed] / direction[is_changed]  # (2, C)
    return float(steps.min(axis=0).max()), float(steps.max(axis=0).min())


def best_step(
    lists: NBestLists, weights: Numbers, direction: Numbers, *, min_step: float, max_step: float
) -> float:
    """Return the step for which weights + step * direction has the highest mean metric.

    The metric is constant on intervals of steps. Return the middle of the best interval; of several
    best intervals, the middle nearest to 0.

    Args:
        lists: n-best lists of D documents.
        weights: (F,) weights at step 0.
        direction: (F,) direction of the line.
        min_step: lowest step, usually negative.
        max_step: highest step.
    """
    heights = lists.base + lists.features @ weights  # (D, K) scores at step 0
    slopes = lists.features @ direction  # (D, K) change of the scores per step of 1
    metrics = np.zeros(len(heights))  # (D,) metrics of the current best candidates
    change_steps, metric_gains = [], []
    for documents, steps, candidates in highest_lines(heights, slopes, min_step, max_step):
        change_steps.append(steps)
        metric_gains.append(lists.metrics[documents, candidates] - metrics[documents])
        metrics[documents] = lists.metrics[documents, candidates]
    # Sort the changes of all documents by step. The first D are the best candidates at `min_step`;
    # the stable sort keeps them first, so the cumulative sum starts with their metrics.
    order = np.argsort(np.concatenate(change_steps), kind="stable")
    starts = np.concatenate(change_steps)[order]
    values = np.cumsum(np.concatenate(metric_gains)[order])
    ends = np.append(starts[1:], max_step)
    is_wide = ends - starts > _TOLERANCE
    if not is_wide.any():
        return 0.0
    is_best = is_wide & (values >= values[is_wide].max() - _TOLERANCE)
    middles = (starts + ends)[is_best] / 2
    return float(middles[np.abs(middles).argmin()])


def highest_lines(
    heights: Numbers, slopes: Numbers, min_step: float, max_step: float
) -> Iterator[tuple[Indices, Numbers, Indices]]:
    """Find the highest of K lines at every step of a range, for D documents at once.

    The first yield has the highest lines of all documents at `min_step`. Each later yield has the
    next change of every document whose highest line changes again.

    Args:
        heights: (D, K) values of the lines at step 0, -inf for missing lines.
        slopes: (D, K) slopes of the lines.
        min_step: first step.
        max_step: last step.

    Yields:
        Three arrays of equal length: indices of documents, the steps where their highest line
        changes, and the index of the new highest line.
    """
    D = len(heights)
    documents = np.arange(D)
    highest = _largest_or_steepest(heights + min_step * slopes, slopes)
    yield documents, np.full(D, min_step), highest
    while len(documents):
        # Only a steeper line can cross the highest one. C documents may have crossings.
        height = heights[documents, highest][:, None]  # (C, 1)
        extra_slope = slopes[documents] - slopes[documents, highest][:, None]  # (C, K)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = np.where(
                extra_slope > 0, (height - heights[documents]) / extra_slope, np.inf
            )  # (C, K)
        steps = crossings.min(axis=1)
        next_highest = _largest_or_steepest(-crossings, slopes[documents])
        has_change = steps < max_step
        documents, highest = documents[has_change], next_highest[has_change]
        if len(documents):
            yield documents, np.maximum(steps[has_change], min_step), highest


def _largest_or_steepest(values: Numbers, slopes: Numbers) -> Indices:
    """Return the (D,) index of the largest of K values; of equal ones, the steepest line."""
    is_largest = values == values.max(axis=1, keepdims=True)
    return np.asarray(np.where(is_largest, slopes, -np.inf).argmax(axis=1))
