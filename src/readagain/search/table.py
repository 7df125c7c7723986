"""A model whose every probability stands in a table: for tests, examples and benchmarks."""

from dataclasses import dataclass

import numpy as np

from readagain.errors import ShapeError
from readagain.search.model import Candidates, Floats, Ints, SourceBatch
from readagain.text.vocab import BOS, EOS, PAD, UNK


@dataclass(frozen=True)
class TableState:
    """Which document each row summarizes; the last word is all else that counts."""

    sources: SourceBatch
    document: Ints


class TableModel:
    """Generates by a table of word pairs, and copies along the source.

    Copying prefers a position right behind the last word of the summary in the same sentence.

    Args:
        generation: (V, V) probability of each word, or END, after each word; a copied word that
            the vocabulary lacks continues as UNK does. PAD, UNK and START have none.
        copying: probability of copying instead of generating.
        continuing: how many times likelier a position is that continues the last word.
    """

    def __init__(
        self, generation: Floats, *, copying: float = 0.0, continuing: float = 4.0
    ) -> None:
        V = len(generation)
        if generation.shape != (V, V) or generation[:, [PAD, UNK, BOS]].any():
            raise ShapeError(
                f"a table of shape {generation.shape}; expected (V, V) with nothing for PAD, "
                "UNK and BOS"
            )
        self.generation = generation
        self.copying = copying
        self.continuing = continuing

    def start(self, sources: SourceBatch) -> TableState:
        """Begin one row for each document."""
        return TableState(sources, np.arange(len(sources)))

    def select(self, state: TableState, rows: Ints) -> TableState:
        """Keep, drop or repeat rows."""
        return TableState(state.sources, state.document[rows])

    def step(self, state: TableState, previous_ids: Ints, k: int) -> tuple[Candidates, TableState]:
        """Read the next words off the table and the source."""
        V = len(self.generation)
        generated = self.generation[np.where(previous_ids < V, previous_ids, UNK)]  # (R, V)
        attention = self._attention(state, previous_ids)  # (R, S)
        share = self.copying * attention.any(axis=1, keepdims=True)  # nothing to copy: none
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
        """Weigh the source positions of each row: (R, S)."""
        R, (_, N, L) = len(state.document), state.sources.source_ids.shape
        ids = state.sources.source_ext_ids[state.document].reshape(R, N, L)
        continues = ids[:, :, :-1] == previous_ids[:, None, None]
        preference = np.ones((R, N, L))
        preference[:, :, 1:] = np.where(continues, self.continuing, 1.0)
        weights = preference.reshape(R, N * L) * state.sources.source_valid[state.document]
        total = np.cumsum(weights, axis=1)[:, -1:]  # from left to right: padding adds nothing
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    def _join(self, generated: Floats, copied: Floats, state: TableState) -> tuple[Floats, Ints]:
        """Add both ways to each word, and find the position with most of the copying.

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
