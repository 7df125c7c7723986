"""How the rows of a beam stand among their documents."""

from dataclasses import dataclass

import numpy as np

from readagain.search.model import Ints


@dataclass(frozen=True)
class BeamLayout:
    """R hypotheses of D documents, and a grid that holds those of each document in one line.

    Args:
        document: (R,) which document each row summarizes, rising from 0.
        grid: (D, K) the row in each place; a document with fewer than K rows repeats its first.
        place: (R,) the place of each row in the flattened grid.
    """

    document: Ints
    grid: Ints
    place: Ints

    @classmethod
    def of(cls, document: Ints) -> "BeamLayout":
        """Lay out rows whose (R,) documents are numbered from 0 without a gap."""
        R = len(document)
        if R and document[-1] == 0:
            rows = np.arange(R)
            return cls(document, rows[None], rows)
        counts = np.bincount(document)
        D, K = len(counts), int(counts.max(initial=0))
        first = np.cumsum(counts) - counts  # (D,)
        place = document * K + np.arange(R) - first[document]
        grid = np.repeat(first, K)
        grid[place] = np.arange(R)
        return cls(document, grid.reshape(D, K), place)
