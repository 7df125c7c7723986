"""Recall, precision and F from counts, rounded at the same points as in the Perl script."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from readagain.errors import DataError
from readagain.rouge.measures import Measure, Overlap, build_measures
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import RougeTokenizer, TextIds

Numbers = NDArray[np.float64]
Item = tuple[str, Sequence[str]]
"""Summary and its references."""

DECIMALS = 5
"""The script rounds scores to five decimals and computes with the rounded values."""
_NEAR_TIE = 1e-6
"""Distance from a half, after scaling, within which a rounding error could change the result."""


def count_items(options: RougeOptions, items: Sequence[Item]) -> Numbers:
    """Count the units of each evaluation: (evaluations, measures, 3), see `Overlap`."""
    measures = build_measures(options)
    tokenizer = RougeTokenizer(options)
    rows: list[list[Overlap]] = []
    for number, (summary, references) in enumerate(items, start=1):
        read = [tokenizer.read(reference) for reference in references]
        if options.wlcs_weight is not None and not all(any(each.sentences) for each in read):
            raise DataError(
                f"item {number}: a reference has no word, so ROUGE-W is undefined; "
                "remove the item or disable ROUGE-W"
            )
        rows += _count_item(measures, options, tokenizer.read(summary), read)
    return np.array(rows, dtype=np.float64).reshape(-1, len(measures), 3)


def item_scores(counts: Numbers, measures: Sequence[Measure], alpha: float) -> Numbers:
    """Return rounded recall, precision and F of each item: (items, measures, 3)."""
    exponents = np.array([measure.exponent for measure in measures])
    recall = round_as_printed(_share(counts[..., 2], counts[..., 0]) ** exponents)
    precision = round_as_printed(_share(counts[..., 2], counts[..., 1]) ** exponents)
    f1 = round_as_printed(f_measure(recall, precision, alpha))
    return np.stack([recall, precision, f1], axis=-1)


def pooled_scores(sums: Numbers, alpha: float) -> Numbers:
    """Return recall, precision and F of (samples, measures, 3) summed counts, not rounded.

    The script omits the exponent of ROUGE-W here.
    """
    recall = _share(sums[..., 2], sums[..., 0])
    precision = _share(sums[..., 2], sums[..., 1])
    return np.stack([recall, precision, f_measure(recall, precision, alpha)], axis=-1)


def f_measure(recall: Numbers, precision: Numbers, alpha: float) -> Numbers:
    """Return F = PR / ((1 - alpha) P + alpha R), or 0 where both are 0."""
    weighted = (1 - alpha) * precision + alpha * recall
    return np.divide(precision * recall, weighted, out=np.zeros_like(recall), where=weighted > 0)


def round_as_printed(values: Numbers) -> Numbers:
    """Round the exact binary values to five decimals, as `printf` does."""
    scaled = values * 10**DECIMALS
    rounded: Numbers = np.rint(scaled) / 10**DECIMALS
    # The product has a rounding error. Near a tie, use Python's round(), which is exact.
    near_tie = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_TIE
    rounded[near_tie] = [round(value, DECIMALS) for value in values[near_tie].tolist()]
    return rounded


def _count_item(
    measures: Sequence[Measure],
    options: RougeOptions,
    summary: TextIds,
    references: Sequence[TextIds],
) -> list[list[Overlap]]:
    """Return one row of overlaps per evaluation of an item.

    The jackknife has one evaluation per left-out reference; other poolings have a single one.
    """
    by_measure = [measure.overlaps(summary, references) for measure in measures]
    if options.pooling == "jackknife":
        return [
            [_add(overlaps[:out] + overlaps[out + 1 :]) for overlaps in by_measure]
            for out in range(len(references))
        ]
    if options.pooling == "best":
        return [[_best(*each) for each in zip(by_measure, measures, strict=True)]]
    return [[_add(overlaps) for overlaps in by_measure]]


def _share(hits: Numbers, totals: Numbers) -> Numbers:
    return np.divide(hits, totals, out=np.zeros_like(hits), where=totals > 0)


def _add(overlaps: Sequence[Overlap]) -> Overlap:
    if len(overlaps) == 1:
        return overlaps[0]
    return Overlap(*map(sum, zip(*overlaps, strict=True)))


def _best(overlaps: Sequence[Overlap], measure: Measure) -> Overlap:
    """Return the overlap with the highest recall, the first in case of ties.

    For ROUGE-W the weight of the reference is raised to the exponent only once here.
    """

    def share(overlap: Overlap) -> float:
        reference = overlap.reference**measure.exponent
        return overlap.shared / reference if reference else 0.0

    return max(overlaps, key=share)
