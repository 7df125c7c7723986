"""Recall, precision and F1 of each item, rounded where the Perl script ROUGE-1.5.5 rounds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.measures import Overlap, lcs_overlaps, ngram_overlaps
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import RougeTokenizer

Numbers = NDArray[np.float64]
RougeItem = tuple[str, Sequence[str]]
"""A summary and its references."""

DECIMALS = 5
"""The script rounds scores to five decimals and computes with the rounded values."""
_NEAR_TIE = 1e-6
"""A scaled value closer than this to a half could be rounded in the wrong direction."""


def score_items(options: RougeOptions, items: Sequence[RougeItem]) -> Numbers:
    """Return the rounded scores of each item.

    Returns:
        (items, measures, 3): measures as in `options.measures`, then recall, precision and F1.
    """
    tokenizer = RougeTokenizer(options)
    pool = _best_overlap if options.pooling == "best" else _sum_overlaps
    counts = np.empty((len(items), len(options.measures), 3))  # last axis: fields of `Overlap`
    for index, (summary_text, reference_texts) in enumerate(items):
        summary = tokenizer.read(summary_text)
        references = [tokenizer.read(text) for text in reference_texts]
        sizes = range(1, options.max_ngram + 1)
        overlaps_by_measure = [ngram_overlaps(summary, references, size) for size in sizes]
        if options.rouge_l:
            overlaps_by_measure.append(lcs_overlaps(summary, references))
        counts[index] = [pool(overlaps) for overlaps in overlaps_by_measure]
    num_reference, num_summary, num_shared = np.moveaxis(counts, -1, 0)  # (items, measures) each
    recall = round_as_printed(_divide(num_shared, num_reference))
    precision = round_as_printed(_divide(num_shared, num_summary))
    f1 = round_as_printed(_divide(precision * recall, 0.5 * precision + 0.5 * recall))
    return np.stack([recall, precision, f1], axis=-1)


def round_as_printed(values: Numbers) -> Numbers:
    """Round values to five decimals exactly as `printf` does."""
    scaled = values * 10**DECIMALS
    rounded: Numbers = np.rint(scaled) / 10**DECIMALS
    # The product `scaled` has a rounding error. It matters near a half, where Python's round() is
    # used: it is exact, but slower.
    is_near_tie = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_TIE
    rounded[is_near_tie] = [round(value, DECIMALS) for value in values[is_near_tie].tolist()]
    return rounded


def _divide(dividends: Numbers, divisors: Numbers) -> Numbers:
    """Divide element by element; return 0 where the divisor is 0."""
    return np.divide(dividends, divisors, out=np.zeros_like(dividends), where=divisors > 0)


def _sum_overlaps(overlaps: Sequence[Overlap]) -> Overlap:
    """Add up the counts of the overlaps with all references."""
    if len(overlaps) == 1:
        return overlaps[0]
    return Overlap(*map(sum, zip(*overlaps, strict=True)))


def _best_overlap(overlaps: Sequence[Overlap]) -> Overlap:
    """Return the first overlap with the highest recall."""

    def recall(overlap: Overlap) -> float:
        return overlap.shared / overlap.reference if overlap.reference else 0.0

    return max(overlaps, key=recall)
