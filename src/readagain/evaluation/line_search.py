"""Minimum-error-rate training: weights by exact line searches over lists of candidates.

Och 2003, "Minimum error rate training in statistical machine translation", section 5. A candidate
scores base + weights . features, so along a line of weights each is a straight line; the best one
of a document changes only where two of them cross, and the figure of a set is a step function
whose every step is known.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

RANDOM_STARTS = 8  # besides the given one
MAX_PASSES = 20  # over all directions from one start; a handful is usual
# How far a weight may move from its start: lists hold what a search near the start finds, and far
# from it another search would find other things.
REACH = 1.0
NARROWEST = 1e-9  # a stretch, or a gain, below this is rounding


@dataclass(frozen=True)
class Lists:
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


def best_weights(lists: Lists, start: Numbers, *, seed: int) -> tuple[Numbers, float]:
    """Find weights that choose candidates of the highest mean figure.

    Line searches along every weight and along random directions, over and over until none gains;
    from the given start and from random ones around it. Of equals the first wins.

    Args:
        lists: the candidates.
        start: (F,) weights to begin with.
        seed: of the random starts and directions; the same gives the same answer.
    """
    rng = np.random.default_rng(seed)
    F = len(start)
    starts = [start, *(start + rng.uniform(-REACH, REACH, size=(RANDOM_STARTS, F)))]
    found = [_climb(lists, each, start, rng) for each in starts]
    return max(found, key=lambda each: each[1])


def _climb(
    lists: Lists, weights: Numbers, centre: Numbers, rng: np.random.Generator
) -> tuple[Numbers, float]:
    value = lists.value(weights)
    for _ in range(MAX_PASSES):
        before = value
        for direction in (*np.eye(len(weights)), *rng.normal(size=(len(weights), len(weights)))):
            shortest, longest = _span(weights, direction, centre)
            step = best_step(lists, weights, direction, shortest=shortest, longest=longest)
            moved = weights + step * direction
            if (gained := lists.value(moved)) > value:
                weights, value = moved, gained
        if value <= before:
            break
    return weights, value


def _span(weights: Numbers, direction: Numbers, centre: Numbers) -> tuple[float, float]:
    """Return how far one can go back and on before a weight is out of reach of the centre."""
    moving = direction != 0
    ends = (centre + [[-REACH], [REACH]] - weights)[:, moving] / direction[moving]  # (2, moving)
    return float(ends.min(axis=0).max()), float(ends.max(axis=0).min())


def best_step(
    lists: Lists, weights: Numbers, direction: Numbers, *, shortest: float, longest: float
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
    value = 0.0
    crossings: list[float] = []
    changes: list[float] = []
    for document in range(len(heights)):
        real = np.flatnonzero(heights[document] > -np.inf)
        order, places = upper_envelope(heights[document, real], slopes[document, real])
        figures = lists.figures[document, real[order]]
        value += figures[0]
        crossings += places
        changes += np.diff(figures).tolist()
    sorting = np.argsort(crossings, kind="stable")
    borders = np.array(crossings)[sorting]
    values = value + np.concatenate([[0.0], np.cumsum(np.array(changes)[sorting])])
    starts = np.concatenate([[shortest], borders]).clip(shortest, longest)
    ends = np.concatenate([borders, [longest]]).clip(shortest, longest)
    is_wide = ends - starts > NARROWEST
    if not is_wide.any():
        return 0.0
    best = is_wide & (values >= values[is_wide].max() - NARROWEST)
    middles = (starts + ends)[best] / 2
    return float(middles[np.abs(middles).argmin()])


def upper_envelope(heights: Numbers, slopes: Numbers) -> tuple[list[int], list[float]]:
    """Find which of some straight lines is highest where, from left to right.

    Returns:
        The lines, and the n - 1 places where one gives way to the next.

    >>> upper_envelope(np.array([0.0, 1.0, 0.0]), np.array([-1.0, 0.0, 1.0]))
    ([0, 1, 2], [-1.0, 1.0])
    """
    lines: list[int] = []
    places: list[float] = []
    for line in np.lexsort((-heights, slopes)).tolist():
        if lines and slopes[line] == slopes[lines[-1]]:
            continue  # parallel and no higher
        while lines:
            last = lines[-1]
            place = float((heights[last] - heights[line]) / (slopes[line] - slopes[last]))
            if not places or place > places[-1]:
                places.append(place)
                break
            lines.pop()
            places.pop()
        lines.append(line)
    return lines, places
