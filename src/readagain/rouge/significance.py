"""Significance tests of the difference between two systems on the same items.

Paired bootstrap (Koehn 2004, "Statistical significance tests for machine translation
evaluation") and approximate randomization (Noreen 1989; Riezler and Maxwell 2005). Both tests are
two-sided. Both count the observed difference as one of the samples, so no p-value is 0.
"""

from dataclasses import dataclass

import numpy as np

from readagain.errors import DataError, pluralize
from readagain.rouge.corpus import Report
from readagain.rouge.options import SCORE_KINDS
from readagain.rouge.scores import Numbers

_NUM_SAMPLES = 10_000
_DRAWS_PER_BLOCK = 4_000_000
"""Number of random numbers that are drawn at once, to bound memory."""
_TOLERANCE = 1e-9
"""Tolerance for rounding errors, which depend on the order in which numbers are added."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Difference between the mean scores of two systems, with interval and p-values."""

    difference: float
    """Mean score of the first system minus that of the second."""
    low: float
    """Lower end of the 95% bootstrap interval."""
    high: float
    """Upper end of the 95% bootstrap interval."""
    p_bootstrap: float
    """Share of bootstrap differences that are at least |difference| away from `difference`."""
    p_randomization: float
    """Share of random swaps of the systems' scores that give at least |difference|."""


def compare_reports(first: Report, second: Report) -> dict[str, Comparison]:
    """Compare the recall or F1 of two systems for each measure, whichever their protocol reports.

    Raises:
        DataError: if the protocols or the numbers of items differ.
    """
    if first.protocol != second.protocol:
        raise DataError(
            f"protocols differ: {_describe_protocol(first)} and {_describe_protocol(second)}; "
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
            first.item_scores[:, column, kind], second.item_scores[:, column, kind]
        )
        for column, measure in enumerate(first.scores)
    }


def compare_scores(first: Numbers, second: Numbers, *, samples: int = _NUM_SAMPLES) -> Comparison:
    """Compare the (I,) scores of two systems on the same I items.

    `samples` is the number of bootstrap samples, and of random swaps.
    """
    differences = first - second
    observed, num_items = float(differences.mean()), len(differences)
    bootstrap_rng, swap_rng = np.random.default_rng(0), np.random.default_rng(0)
    resampled_blocks, swapped_blocks = [], []
    samples_per_block = max(1, _DRAWS_PER_BLOCK // num_items)
    for start in range(0, samples, samples_per_block):
        shape = (min(samples_per_block, samples - start), num_items)
        items = bootstrap_rng.integers(num_items, size=shape)
        resampled_blocks.append(differences[items].mean(axis=1))
        is_swapped = swap_rng.integers(2, size=shape, dtype=np.int8)
        swapped_blocks.append(np.where(is_swapped, -differences, differences).mean(axis=1))
    resampled = np.concatenate(resampled_blocks)  # (samples,) mean differences
    swapped = np.concatenate(swapped_blocks)  # (samples,) mean differences
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Comparison(
        difference=observed,
        low=float(low),
        high=float(high),
        p_bootstrap=_share_at_least(np.abs(resampled - observed), abs(observed)),
        p_randomization=_share_at_least(np.abs(swapped), abs(observed)),
    )


def _describe_protocol(report: Report) -> str:
    return f"{report.protocol.options.flags()} with {report.protocol.main_score}"


def _share_at_least(values: Numbers, threshold: float) -> float:
    """Return the share of values that reach a threshold.

    The observed difference counts as one more value that reaches the threshold.
    """
    num_reached = np.count_nonzero(values >= threshold - _TOLERANCE)
    return float((1 + num_reached) / (1 + len(values)))
