"""Few shapes for many lengths: pairs of like lengths share a padded shape.

Each shape costs a captured graph on a GPU, and each batch must have one shape, so there are a
few shapes that each hold enough pairs, rather than one for every length.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer]

SOURCE_STEP = 4
SUMMARY_STEP = 4


@dataclass(frozen=True, order=True)
class Bucket:
    """A padded shape: words of each sentence, words of the summary without its END."""

    source_words: int
    summary_words: int


def assign_buckets(
    source_lengths: Ints, summary_lengths: Ints, *, fewest: int
) -> list[tuple[Bucket, Ints]]:
    """Give every pair a shape that holds it.

    Args:
        source_lengths: (P,) words of each pair's longest sentence.
        summary_lengths: (P,) words of each summary.
        fewest: a shape of fewer pairs joins the next larger one.

    Returns:
        Each shape with the numbers of its pairs, in their order; every pair once.
    """
    found = []
    for source_words, members in _cut(source_lengths, SOURCE_STEP, fewest):
        for summary_words, within in _cut(summary_lengths[members], SUMMARY_STEP, fewest):
            found.append((Bucket(source_words, summary_words), members[within]))
    return found


def _cut(lengths: Ints, step: int, fewest: int) -> list[tuple[int, Ints]]:
    """Cut by length at multiples of `step`, at least `fewest` a piece if there are so many."""
    rounded = np.maximum(1, -(-lengths // step)) * step
    pieces: list[tuple[int, Ints]] = []
    waiting = np.zeros(len(lengths), bool)
    for size in np.unique(rounded):
        waiting |= rounded == size
        if waiting.sum() >= fewest:
            pieces.append((int(size), np.flatnonzero(waiting)))
            waiting = np.zeros(len(lengths), bool)
    if waiting.any():
        left = np.flatnonzero(waiting)
        if pieces:  # the longest few stretch the last piece
            left = np.union1d(pieces.pop()[1], left)
        pieces.append((int(rounded.max()), left))
    return pieces
