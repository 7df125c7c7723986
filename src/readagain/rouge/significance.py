"""Significance tests of the difference between two systems on the same items.

Paired bootstrap (Koehn 2004, "Statistical significance tests for machine translation
evaluation") and approximate randomization (Noreen 1989; Riezler and Maxwell 2005). Both are
two-sided and count the observed difference as a sample, so that no p-value is 0.
"""

from dataclasses import dataclass

import numpy as np

from readagain.counts import pluralize
from readagain.errors import DataError
from readagain.rouge.corpus import Report
from readagain.rouge.options import SCORE_KINDS
from readagain.rouge.scores import Numbers

# Number of random numbers that are drawn at once, to bound memory.
_BLOCK = 4_000_000
# Tolerance for rounding: sums of the same numbers in another order may differ.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Difference of the means of two systems, with interval and p-values."""

    difference: float
    low: float
    """Lower end of the 95% bootstrap interval."""
    high: float
    p_bootstrap: float
    """Share of resampled differences that are at least |difference| away from `difference`."""
    p_randomization: float
    """Share of random swaps of the two outputs with a difference at least as large."""


def compare_reports(
    first: Report, second: Report, *, samples: int = 10_000, seed: int = 0
) -> dict[str, Comparison]:
    """Compare two systems by the score that their protocol reports, for each measure.

    Raises:
        DataError: if the protocols or the numbers of items differ.
    """
    if first.protocol != second.protocol:
        raise DataError(
            f"protocols differ: {_describe(first)} and {_describe(second)}; "
            "score both systems with the same protocol"
        )
    if len(first.item_scores) != len(second.item_scores):
        raise DataError(
            f"found {pluralize(len(first.item_scores), 'item')} for the first system and "
            f"{len(second.item_scores):,} for the second; expected the same items"
        )
    kind = SCORE_KINDS.index(first.protocol.main_score)
    return {
        measure: compare_scores(
            first.item_scores[:, column, kind],
            second.item_scores[:, column, kind],
            samples=samples,
            seed=seed,
        )
        for column, measure in enumerate(first.scores)
    }


def compare_scores(
    first: Numbers, second: Numbers, *, samples: int = 10_000, seed: int = 0
) -> Comparison:
    """Compare two systems by (I,) scores of the same items."""
    differences = first - second
    observed, num_items = float(differences.mean()), len(differences)
    resampling, swapping = np.random.default_rng(seed), np.random.default_rng(seed)
    resampled_blocks, swapped_blocks = [], []
    block_size = max(1, _BLOCK // num_items)
    for start in range(0, samples, block_size):
        shape = (min(block_size, samples - start), num_items)
        sampled_items = resampling.integers(num_items, size=shape)
        resampled_blocks.append(differences[sampled_items].mean(axis=1))
        is_swapped = swapping.integers(2, size=shape, dtype=np.int8)
        swapped_blocks.append(np.where(is_swapped, -differences, differences).mean(axis=1))
    resampled, swapped = np.concatenate(resampled_blocks), np.concatenate(swapped_blocks)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Comparison(
        difference=observed,
        low=float(low),
        high=float(high),
        p_bootstrap=_share_at_least(np.abs(resampled - observed), abs(observed)),
        p_randomization=_share_at_least(np.abs(swapped), abs(observed)),
    )


def _describe(report: Report) -> str:
    return f"{report.protocol.options.flags()} by {report.protocol.main_score}"


def _share_at_least(values: Numbers, threshold: float) -> float:
    """Return the share of values that reach the threshold, which counts as one more value."""
    reached = np.count_nonzero(values >= threshold - _ROUNDING)
    return float((1 + reached) / (1 + len(values)))
