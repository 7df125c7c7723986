"""Recall, precision and F1 of each item, rounded at the same points as in the Perl script."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.measures import Overlap, lcs_overlaps, ngram_overlaps
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import RougeTokenizer

Numbers = NDArray[np.float64]
Item = tuple[str, Sequence[str]]
"""Summary and its references."""

DECIMALS = 5
"""The script rounds scores to five decimals and computes with the rounded values."""
_NEAR_TIE = 1e-6
"""Distance from a half, after scaling, within which a rounding error could change the result."""


def score_items(options: RougeOptions, items: Sequence[Item]) -> Numbers:
    """Return the rounded scores of each item.

    Returns:
        (items, measures, 3): measures as in `options.measures`, then recall, precision and F1.
    """
    tokenizer = RougeTokenizer(options)
    counts = np.empty((len(items), len(options.measures), 3))  # the fields of `Overlap`
    for row, (summary_text, reference_texts) in enumerate(items):
        summary = tokenizer.read(summary_text)
        references = [tokenizer.read(text) for text in reference_texts]
        sizes = range(1, options.max_ngram + 1)
        overlaps = [ngram_overlaps(summary, references, size) for size in sizes]
        if options.rouge_l:
            overlaps.append(lcs_overlaps(summary, references))
        pool = _best if options.pooling == "best" else _add
        counts[row] = [pool(each) for each in overlaps]
    in_reference, in_summary, shared = np.moveaxis(counts, -1, 0)
    recall = round_as_printed(_divide(shared, in_reference))
    precision = round_as_printed(_divide(shared, in_summary))
    f1 = round_as_printed(_divide(precision * recall, 0.5 * precision + 0.5 * recall))
    return np.stack([recall, precision, f1], axis=-1)


def round_as_printed(values: Numbers) -> Numbers:
    """Round the exact binary values to five decimals, as `printf` does."""
    scaled = values * 10**DECIMALS
    rounded: Numbers = np.rint(scaled) / 10**DECIMALS
    # The product has a rounding error. Near a tie, use Python's round(), which is exact.
    near_tie = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_TIE
    rounded[near_tie] = [round(value, DECIMALS) for value in values[near_tie].tolist()]
    return rounded


def _divide(dividends: Numbers, divisors: Numbers) -> Numbers:
    """Return the quotients, 0 where the divisor is 0."""
    return np.divide(dividends, divisors, out=np.zeros_like(dividends), where=divisors > 0)


def _add(overlaps: Sequence[Overlap]) -> Overlap:
    """Return the sum of the overlaps with all references."""
    if len(overlaps) == 1:
        return overlaps[0]
    return Overlap(*map(sum, zip(*overlaps, strict=True)))


def _best(overlaps: Sequence[Overlap]) -> Overlap:
    """Return the overlap with the highest recall, the first in case of ties."""
    return max(overlaps, key=lambda each: each.shared / each.reference if each.reference else 0.0)
