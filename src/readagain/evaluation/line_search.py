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

RANDOM_STARTS = 8  # besides the weights so far and none
MAX_PASSES = 20  # over all directions from one start; a handful is usual
BEYOND = 1.0  # how far behind the last crossing a step without an end is entered
LARGEST_WEIGHT = 100.0


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
    from the given start, from no weights, and from random ones around the start. Of equals the
    first wins.

    Args:
        lists: the candidates.
        start: (F,) weights to begin with.
        seed: of the random starts and directions; the same gives the same answer.
    """
    rng = np.random.default_rng(seed)
    F = len(start)
    starts = [start, np.zeros(F), *(start + rng.normal(size=(RANDOM_STARTS, F)))]
    found = [_climb(lists, each, rng) for each in starts]
    return max(found, key=lambda each: each[1])


def _climb(lists: Lists, weights: Numbers, rng: np.random.Generator) -> tuple[Numbers, float]:
    value = lists.value(weights)
    for _ in range(MAX_PASSES):
        before = value
        for direction in (*np.eye(len(weights)), *rng.normal(size=(len(weights), len(weights)))):
            moved = weights + best_step(lists, weights, direction) * direction
            moved = np.clip(moved, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            if (gained := lists.value(moved)) > value:
                weights, value = moved, gained
        if value <= before:
            break
    return weights, value


def best_step(lists: Lists, weights: Numbers, direction: Numbers) -> float:
    """Return how far to go along a direction: to the middle of the best step, the nearest one."""
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
    if not crossings:
        return 0.0
    sorting = np.argsort(crossings, kind="stable")
    ends = np.array(crossings)[sorting]
    values = value + np.concatenate([[0.0], np.cumsum(np.array(changes)[sorting])])
    starts = np.concatenate([[ends[0] - 2 * BEYOND], ends])
    ends = np.concatenate([ends, [ends[-1] + 2 * BEYOND]])
    is_wide = ends - starts > 1e-9
    best = is_wide & (values >= values[is_wide].max() - 1e-9)
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
