"""The standing of the ended hypotheses: how wide a beam still is, and when it is done."""

import numpy as np

from readagain.search.model import Bools, Floats, Ints


class FinishedScores:
    """How many hypotheses of each document have ended, and the score to pass.

    Args:
        num_documents: documents in the batch, B.
        beam_size: hypotheses of a document, ended ones included.
        n_best: how many of them are wanted.
    """

    def __init__(self, num_documents: int, *, beam_size: int, n_best: int) -> None:
        self.widths: Ints = np.full(num_documents, beam_size)  # (B,) still to end
        self._best = np.full((num_documents, n_best), -np.inf)  # (B, n_best), worst first
        self.may_settle = False  # whether the places of any document are all filled

    def add(self, documents: Ints, ends: Bools, scores: Floats) -> None:
        """Note what ended at a step: (D,) documents, (D, K) where, (D, K) with which score."""
        self.widths[documents] -= ends.sum(axis=1)
        together = np.concatenate([self._best[documents], np.where(ends, scores, -np.inf)], axis=1)
        self._best[documents] = np.sort(together, axis=1)[:, -self._best.shape[1] :]
        self.may_settle = bool((self._best[:, 0] > -np.inf).any())

    def is_done(self, documents: Ints, bounds: Floats) -> Bools:
        """Mark documents whose live hypotheses cannot change the answer any more.

        The answer has n_best places. A hypothesis that cannot pass the last of them is not
        wanted, and equals come behind: they end later. While a place is empty, anything passes.

        Args:
            documents: (D,) which documents.
            bounds: (D,) the most that any live hypothesis of each can reach.
        """
        settled: Bools = bounds <= self._best[documents, 0]
        return settled
