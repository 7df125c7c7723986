"""Length buckets: padded shapes for pairs of similar lengths.

Each shape needs a captured CUDA graph on a GPU, and has one incomplete batch per epoch. So there
are only a few shapes, chosen to minimize padding.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, order=True)
class Bucket:
    """Padded shape: number of words per sentence, and of the summary without EOS."""

    source_words: int
    summary_words: int


def assign_buckets(
    source_lengths: Ints, summary_lengths: Ints, *, max_buckets: int
) -> list[tuple[Bucket, Ints]]:
    """Assign every pair to a bucket that is large enough.

    Args:
        source_lengths: (P,) number of words of the longest sentence of each pair.
        summary_lengths: (P,) number of words of each summary.
        max_buckets: the maximum number of buckets.

    Returns:
        Each bucket with the indices of its pairs, in order.
    """
    num_cuts = max(1, math.isqrt(max_buckets))
    buckets = []
    # Summaries first, since a summary word takes more time than a source word.
    for summary_words, members in _cut(summary_lengths, num_cuts):
        for source_words, within in _cut(source_lengths[members], max_buckets // num_cuts):
            buckets.append((Bucket(source_words, summary_words), members[within]))
    return buckets


def _cut(lengths: Ints, num_pieces: int) -> list[tuple[int, Ints]]:
    """Split by length with minimal padding; return the maximum length and members of each piece."""
    counts = np.bincount(lengths)
    sizes = np.flatnonzero(counts)
    totals = np.concatenate([[0], np.cumsum(counts[sizes])])
    # cost[j]: minimum padded length of the j smallest sizes with the pieces so far.
    cost = np.full(len(sizes) + 1, np.inf)
    cost[0] = 0.0
    choices = []
    for _ in range(min(num_pieces, len(sizes))):
        # A piece of the sizes i to j - 1 pads all of its members to size j - 1.
        pieces = (totals[None, 1:] - totals[:-1, None]) * sizes[None, :]  # (i, j - 1)
        reached = cost[:-1, None] + np.where(np.tri(len(sizes), dtype=bool).T, pieces, np.inf)
        choices.append(reached.argmin(0))
        cost = np.concatenate([[np.inf], reached.min(0)])
    ends, end = [], len(sizes)
    for choice in reversed(choices):
        ends.append(end)
        end = int(choice[end - 1])
    edges = sizes[np.array(ends[::-1]) - 1]
    piece_of = np.searchsorted(edges, lengths)
    return [(int(edge), np.flatnonzero(piece_of == k)) for k, edge in enumerate(edges)]
