"""From counts to recall, precision and F, rounded where the script rounds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from readagain.errors import DataError
from readagain.rouge.measures import Measure, Overlap, build_measures
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import Reader, Words

Numbers = NDArray[np.float64]
Item = tuple[str, Sequence[str]]
"""A summary and its references."""

# The script prints, and computes on with, five decimals.
DECIMALS = 5
_NEAR_TIE = 1e-6


def count_items(options: RougeOptions, items: Sequence[Item], already: int = 0) -> Numbers:
    """Count items under the options: (evaluations, measures, 3).

    Args:
        options: what to count.
        items: summaries and their references.
        already: how many items of the corpus stand before these; to name them in errors.
    """
    measures = build_measures(options)
    reader = Reader(options)
    rows: list[list[Overlap]] = []
    for number, (summary, references) in enumerate(items, start=already + 1):
        read = [reader.read(reference) for reference in references]
        if options.wlcs_weight is not None and not all(any(each.sentences) for each in read):
            raise DataError(
                f"item {number}: a reference without a word, for which ROUGE-W is not defined; "
                "leave out ROUGE-W or the item"
            )
        rows += _count_item(measures, options, reader.read(summary), read)
    return np.array(rows, dtype=np.float64).reshape(-1, len(measures), 3)


def item_scores(counts: Numbers, measures: Sequence[Measure], alpha: float) -> Numbers:
    """Turn (items, measures, 3) counts into rounded recall, precision and F of every item."""
    exponents = np.array([measure.exponent for measure in measures])
    recall = round_as_printed(_share(counts[..., 2], counts[..., 0]) ** exponents)
    precision = round_as_printed(_share(counts[..., 2], counts[..., 1]) ** exponents)
    f1 = round_as_printed(f_measure(recall, precision, alpha))
    return np.stack([recall, precision, f1], axis=-1)


def pooled_scores(sums: Numbers, alpha: float) -> Numbers:
    """Turn (samples, measures, 3) summed counts into recall, precision and F, unrounded.

    Here the script leaves out the exponent of ROUGE-W.
    """
    recall = _share(sums[..., 2], sums[..., 0])
    precision = _share(sums[..., 2], sums[..., 1])
    return np.stack([recall, precision, f_measure(recall, precision, alpha)], axis=-1)


def f_measure(recall: Numbers, precision: Numbers, alpha: float) -> Numbers:
    """Weigh recall and precision: F = PR / ((1 - alpha) P + alpha R), 0 where both are 0."""
    weighted = (1 - alpha) * precision + alpha * recall
    return np.divide(precision * recall, weighted, out=np.zeros_like(recall), where=weighted > 0)


def round_as_printed(values: Numbers) -> Numbers:
    """Round to five decimals by the exact decimal value, as printing does."""
    scaled = values * 10**DECIMALS
    rounded: Numbers = np.rint(scaled) / 10**DECIMALS
    # Multiplying has rounded already; where that can matter, let Python decide.
    near_tie = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_TIE
    rounded[near_tie] = [round(value, DECIMALS) for value in values[near_tie].tolist()]
    return rounded


def _count_item(
    measures: Sequence[Measure], options: RougeOptions, summary: Words, references: Sequence[Words]
) -> list[list[Overlap]]:
    """Count one item: a row of overlaps for each evaluation it stands for, usually one.

    With the jackknife an item stands for as many evaluations as it has references, each
    leaving out one of them.
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
    """Take the reference with the highest share of hits; of equals the first.

    For ROUGE-W the share is of the reference's worth before it is raised a second time.
    """

    def share(overlap: Overlap) -> float:
        reference = overlap.reference**measure.exponent
        return overlap.shared / reference if reference else 0.0

    return max(overlaps, key=share)
