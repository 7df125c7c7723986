"""Minimum-error-rate training: weights by exact line searches over lists of candidates.

Och 2003, "Minimum error rate training in statistical machine translation", section 5. A candidate
scores base + weights . features, so along a line of weights each is a straight line; the best one
of a document changes only where two of them cross, and the figure of a set is a step function
whose every step is known.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

RANDOM_STARTS = 8  # besides the given one
MAX_PASSES = 20  # over all directions from one start; a handful is usual
NARROWEST = 1e-9  # a stretch, or a gain, below this is rounding


@dataclass(frozen=True)
class NBestLists:
    """The candidates of D documents, K at the most; places without one have a base of -inf.

    Args:
        base: (D, K) scores without features.
        features: (D, K, F) what the weights are multiplied with.
        figures: (D, K) what each is worth in the end.
    """

    base: Numbers
    features: Numbers
    figures: Numbers

    def value(self, weights: Numbers) -> float:
        """Return the mean figure of what these weights choose."""
        chosen = (self.base + self.features @ weights).argmax(axis=1)
        return float(np.take_along_axis(self.figures, chosen[:, None], axis=1).mean())


def best_weights(
    lists: NBestLists, start: Numbers, *, reach: float, seed: int
) -> tuple[Numbers, float]:
    """Find weights that choose candidates of the highest mean figure.

    Line searches along every weight and along random directions, over and over until none gains;
    from the given start and from random ones around it. Of equals the first wins.

    Args:
        lists: the candidates.
        start: (F,) weights to begin with.
        reach: how far a weight may move from its start: lists hold what a search near the start
            finds, and far from it another search would find other things.
        seed: of the random starts and directions; the same gives the same answer.
    """
    rng = np.random.default_rng(seed)
    F = len(start)
    starts = [start, *(start + rng.uniform(-reach, reach, size=(RANDOM_STARTS, F)))]
    found = [_climb(lists, each, start, reach, rng) for each in starts]
    return max(found, key=lambda each: each[1])


def _climb(
    lists: NBestLists, weights: Numbers, centre: Numbers, reach: float, rng: np.random.Generator
) -> tuple[Numbers, float]:
    value = lists.value(weights)
    for _ in range(MAX_PASSES):
        before = value
        for direction in (*np.eye(len(weights)), *rng.normal(size=(len(weights), len(weights)))):
            shortest, longest = _span(weights, direction, centre, reach)
            step = best_step(lists, weights, direction, shortest=shortest, longest=longest)
            moved = weights + step * direction
            if (gained := lists.value(moved)) > value:
                weights, value = moved, gained
        if value <= before:
            break
    return weights, value


def _span(
    weights: Numbers, direction: Numbers, centre: Numbers, reach: float
) -> tuple[float, float]:
    """Return how far one can go back and on before a weight is out of reach of the centre."""
    moving = direction != 0
    ends = (centre + [[-reach], [reach]] - weights)[:, moving] / direction[moving]  # (2, moving)
    return float(ends.min(axis=0).max()), float(ends.max(axis=0).min())


def best_step(
    lists: NBestLists, weights: Numbers, direction: Numbers, *, shortest: float, longest: float
) -> float:
    """Return how far to go along a direction: to the middle of the best stretch, the nearest one.

    Args:
        lists: the candidates.
        weights: where the line begins.
        direction: along which it runs.
        shortest: how far to go at the least; below 0 to go back.
        longest: how far to go at the most.
    """
    heights = lists.base + lists.features @ weights  # (D, K)
    slopes = lists.features @ direction  # (D, K)
    figures = np.zeros(len(heights))  # of the leader so far
    places, gains = [], []
    for documents, at, leaders in leaders_along(heights, slopes, shortest, longest):
        places.append(at)
        gains.append(lists.figures[documents, leaders] - figures[documents])
        figures[documents] = lists.figures[documents, leaders]
    # The first leaders stand at the beginning, so their figures come first in the sum.
    order = np.argsort(np.concatenate(places), kind="stable")
    starts = np.concatenate(places)[order]
    values = np.cumsum(np.concatenate(gains)[order])
    ends = np.append(starts[1:], longest)
    is_wide = ends - starts > NARROWEST
    if not is_wide.any():
        return 0.0
    best = is_wide & (values >= values[is_wide].max() - NARROWEST)
    middles = (starts + ends)[best] / 2
    return float(middles[np.abs(middles).argmin()])


def leaders_along(
    heights: Numbers, slopes: Numbers, shortest: float, longest: float
) -> Iterator[tuple[Places, Numbers, Places]]:
    """Follow which of K straight lines is highest in each of D documents, all at once.

    Args:
        heights: (D, K) of the lines at 0; -inf for a line that is none.
        slopes: (D, K) how steep they are.
        shortest: where to begin.
        longest: where to end.

    Yields:
        Documents, the place in each where the leader changes, and the new leader; first all
        documents with their leader at the beginning.
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
        places = crossings.min(axis=1)
        goes_on = places < longest
        overtaking = _steepest(-crossings, slopes[documents])
        documents, leaders, places = documents[goes_on], overtaking[goes_on], places[goes_on]
        if len(documents):
            yield documents, np.maximum(places, shortest), leaders


def _steepest(values: Numbers, slopes: Numbers) -> Places:
    """Find the largest value of each row; of equals the one with the steepest line."""
    is_largest = values == values.max(axis=1, keepdims=True)
    return np.asarray(np.where(is_largest, slopes, -np.inf).argmax(axis=1))
