"""Few shapes for many lengths: pairs of like lengths share a padded shape.

Each shape costs a captured graph on a GPU and one incomplete batch an epoch, so there are a few,
chosen such that the least is padded.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, order=True)
class Bucket:
    """A padded shape: words of each sentence, words of the summary without its END."""

    source_words: int
    summary_words: int


def assign_buckets(
    source_lengths: Ints, summary_lengths: Ints, *, most: int
) -> list[tuple[Bucket, Ints]]:
    """Give every pair a shape that holds it.

    Args:
        source_lengths: (P,) words of each pair's longest sentence.
        summary_lengths: (P,) words of each summary.
        most: shapes there may be.

    Returns:
        Each shape with the numbers of its pairs, in their order; every pair once.
    """
    num_cuts = max(1, math.isqrt(most))
    found = []
    # Summaries first: a word of a summary costs more than one of a source.
    for summary_words, members in _cut(summary_lengths, num_cuts):
        for source_words, within in _cut(source_lengths[members], most // num_cuts):
            found.append((Bucket(source_words, summary_words), members[within]))
    return found


def _cut(lengths: Ints, num_pieces: int) -> list[tuple[int, Ints]]:
    """Cut by length into pieces that pad least; each with its longest length and its members."""
    counts = np.bincount(lengths)
    sizes = np.flatnonzero(counts)
    totals = np.concatenate([[0], np.cumsum(counts[sizes])])
    # cost[j]: least padded length of the j smallest sizes in the pieces allowed so far.
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
