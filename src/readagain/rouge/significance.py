"""Is one system better than another? Two tests on the same items.

Paired bootstrap (Koehn 2004, "Statistical significance tests for machine translation
evaluation") and approximate randomisation (Noreen 1989; Riezler and Maxwell 2005). Both are
two-sided, and count the observed difference as one of the samples, so that no p-value is 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from readagain.counts import counted
from readagain.errors import DataError
from readagain.rouge.options import FIGURES
from readagain.rouge.report import Report
from readagain.rouge.scores import Numbers

# Random numbers made at a time, to bound memory.
_BLOCK = 4_000_000
# Sums of equal numbers in another order differ in the last bits; they count as equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The mean of one system minus the mean of another, and how sure we can be of it."""

    difference: float
    low: float
    """Lower end of the 95% bootstrap interval of the difference."""
    high: float
    p_bootstrap: float
    """How often the difference of a resampled corpus strays from the observed one by its size."""
    p_randomization: float
    """How often swapping the two outputs of random items makes a difference as large."""


def compare_reports(
    first: Report, second: Report, *, samples: int = 10_000, seed: int = 0
) -> dict[str, Comparison]:
    """Compare the headline figure of two systems, measure by measure.

    Raises:
        DataError: if the reports are of different protocols, or not of as many items.
    """
    if first.protocol != second.protocol:
        raise DataError(
            f"the first system was scored with {_how(first)}, the second with {_how(second)}; "
            "score both by one protocol"
        )
    if len(first.item_scores) != len(second.item_scores):
        raise DataError(
            f"{counted(len(first.item_scores), 'item')} of the first system, "
            f"{len(second.item_scores):,} of the second; expected the same items"
        )
    figure = FIGURES.index(first.protocol.headline)
    return {
        measure: compare_scores(
            first.item_scores[:, column, figure],
            second.item_scores[:, column, figure],
            samples=samples,
            seed=seed,
        )
        for column, measure in enumerate(first.scores)
    }


def compare_scores(
    first: Numbers, second: Numbers, *, samples: int = 10_000, seed: int = 0
) -> Comparison:
    """Compare two systems by their (I,) scores of the same items."""
    differences = first - second
    observed = float(differences.mean())
    resampled = np.concatenate(list(_resampled_means(differences, samples, seed)))
    swapped = np.concatenate(list(_swapped_means(differences, samples, seed)))
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Comparison(
        difference=observed,
        low=float(low),
        high=float(high),
        p_bootstrap=_share_at_least(np.abs(resampled - observed), abs(observed)),
        p_randomization=_share_at_least(np.abs(swapped), abs(observed)),
    )


def _how(report: Report) -> str:
    return f"{report.protocol.options.flags()} by {report.protocol.headline}"


def _resampled_means(differences: Numbers, samples: int, seed: int) -> Iterator[Numbers]:
    generator = np.random.default_rng(seed)
    size = len(differences)
    for rows in _blocks(samples, size):
        yield differences[generator.integers(size, size=(rows, size))].mean(axis=1)


def _swapped_means(differences: Numbers, samples: int, seed: int) -> Iterator[Numbers]:
    generator = np.random.default_rng(seed)
    size = len(differences)
    for rows in _blocks(samples, size):
        is_swapped = generator.integers(2, size=(rows, size), dtype=np.int8)
        yield np.where(is_swapped, -differences, differences).mean(axis=1)


def _blocks(samples: int, size: int) -> Iterator[int]:
    rows = max(1, _BLOCK // size)
    for start in range(0, samples, rows):
        yield min(rows, samples - start)


def _share_at_least(values: Numbers, threshold: float) -> float:
    reached = np.count_nonzero(values >= threshold - _ROUNDING)
    return float((1 + reached) / (1 + len(values)))
