"""`StepModel` that reads its probabilities from a table."""

from dataclasses import dataclass

import numpy as np

from readagain.search.model import Candidates, Floats, Ints, SourceBatch
from readagain.text.vocab import BOS, EOS, PAD, UNK


@dataclass(frozen=True)
class TableState:
    """Document of each row; the last word is passed to `step`."""

    sources: SourceBatch
    document: Ints


class TableModel:
    """Bigram model that also copies, preferably the source word after the last word.

    Args:
        generation: (V, V) probability of each word, or EOS, after each word; an out-of-vocabulary
            word is followed as UNK is. PAD, UNK and BOS have probability 0.
        copying: probability of copying instead of generating.
        continuing: factor for positions that follow the last word.
    """

    def __init__(
        self, generation: Floats, *, copying: float = 0.0, continuing: float = 4.0
    ) -> None:
        assert not generation[:, [PAD, UNK, BOS]].any()
        self.generation = generation
        self.copying = copying
        self.continuing = continuing

    def start(self, sources: SourceBatch) -> TableState:
        """Return one row for each document."""
        return TableState(sources, np.arange(len(sources)))

    def select(self, state: TableState, rows: Ints) -> TableState:
        """Return selected rows."""
        return TableState(state.sources, state.document[rows])

    def step(self, state: TableState, previous_ids: Ints, k: int) -> tuple[Candidates, TableState]:
        """Return the next words of the table and the source."""
        V = len(self.generation)
        generated = self.generation[np.where(previous_ids < V, previous_ids, UNK)]  # (R, V)
        attention = self._attention(state, previous_ids)  # (R, S)
        share = self.copying * attention.any(axis=1, keepdims=True)  # 0 for an empty source
        probs, strongest = self._join((1 - share) * generated, share * attention, state)
        end = probs[:, EOS].copy()
        probs[:, EOS] = 0.0
        order = np.argsort(-probs, axis=1, kind="stable")[:, :k]  # equals by smaller id
        with np.errstate(divide="ignore"):
            candidates = Candidates(
                ids=order,
                log_probs=np.log(np.take_along_axis(probs, order, axis=1)),
                copied_from=np.take_along_axis(strongest, order, axis=1),
                end_log_probs=np.log(end),
                attention=attention,
            )
        return candidates, state

    def _attention(self, state: TableState, previous_ids: Ints) -> Floats:
        """Return the copy probabilities of the source positions: (R, S)."""
        R, (_, N, L) = len(state.document), state.sources.source_ids.shape
        ids = state.sources.source_ext_ids[state.document].reshape(R, N, L)
        continues = ids[:, :, :-1] == previous_ids[:, None, None]
        preference = np.ones((R, N, L))
        preference[:, :, 1:] = np.where(continues, self.continuing, 1.0)
        weights = preference.reshape(R, N * L) * state.sources.source_valid[state.document]
        total = np.cumsum(weights, axis=1)[:, -1:]  # from left to right, so padding is exact
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    def _join(self, generated: Floats, copied: Floats, state: TableState) -> tuple[Floats, Ints]:
        """Add generation and copying, and find the position with the largest copy share.

        Returns:
            (R, X) probabilities, and (R, X) positions, -1 where generating has the larger share.
        """
        (R, V), S = generated.shape, copied.shape[1]
        by_copying = np.zeros((R, V + S))
        most = np.zeros((R, V + S))
        strongest = np.full((R, V + S), -1)
        rows = np.arange(R)
        for position in range(S):
            ids = state.sources.source_ext_ids[state.document, position]
            here = copied[:, position]
            by_copying[rows, ids] += here
            is_stronger = here > most[rows, ids]
            strongest[rows[is_stronger], ids[is_stronger]] = position
            most[rows, ids] = np.maximum(most[rows, ids], here)
        by_generating = np.pad(generated, ((0, 0), (0, S)))
        strongest[by_generating >= by_copying] = -1
        return by_generating + by_copying, strongest
