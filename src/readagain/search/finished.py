"""Finished hypotheses of a beam search, with the room that is left in each beam."""

import numpy as np

from readagain.search.expansion import Continuations, Selection
from readagain.search.hypotheses import (
    ActiveHypotheses,
    Hypothesis,
    append_column,
    sort_hypotheses,
)
from readagain.search.model import Bools, Candidates, Floats, Ints, SourceBatch


class FinishedHypotheses:
    """Finished hypotheses of each document of a batch, and the room left in its beam."""

    def __init__(self, sources: SourceBatch, *, beam_size: int, n_best: int) -> None:
        B, self._N, self._L = sources.source_ids.shape
        # (B,) beam size minus the finished hypotheses of each document
        self.remaining_beam_sizes: Ints = np.full(B, beam_size)
        self.has_full_list = False  # whether any document has n_best finished hypotheses
        self._best_scores = np.full((B, n_best), -np.inf)  # ascending in each row
        self._hypotheses: list[list[Hypothesis]] = [[] for _ in range(B)]
        self._attention: list[Floats] = []  # (R, N * L) attention of the R hypotheses of each step

    def add(
        self,
        active: ActiveHypotheses,
        candidates: Candidates,
        continuations: Continuations,
        selection: Selection,
    ) -> None:
        """Add the hypotheses that end in this step: the selected ones, then the dead ends.

        A dead end has no allowed word, but is shorter than the minimum length.
        """
        # A copy, since a model may reuse its arrays in the next step.
        self._attention.append(np.array(candidates.attention, dtype=np.float32))
        if selection.is_end.any():
            self._add_scores(selection, continuations.scores)
        indices = selection.indices[selection.is_end]
        end_rows = indices // continuations.scores.shape[1]
        rows = np.concatenate([end_rows, continuations.dead_ends])  # (F,)
        if not len(rows):
            return
        scores = np.concatenate([continuations.scores.take(indices), continuations.dead_end_scores])
        log_probs = append_column(active.word_log_probs, rows, candidates.end_log_probs[rows])
        positions = active.copied_from[rows]  # (F, t)
        copied_from = np.stack(np.divmod(positions, max(self._L, 1)), axis=-1)  # (F, t, 2)
        copied_from[positions < 0] = -1
        attention = np.empty((len(rows), len(self._attention), self._N * self._L), dtype=np.float32)
        for step, step_rows in enumerate([*active.parents[rows].T, rows]):
            attention[:, step] = self._attention[step][step_rows]
        attention = attention.reshape(*log_probs.shape, self._N, self._L)  # (F, t + 1, N, L)
        for f, document in enumerate(active.documents[rows].tolist()):
            hypothesis = Hypothesis(
                ids=active.ids[rows[f]],
                copied_from=copied_from[f],
                log_probs=log_probs[f],
                score=float(scores[f]),
                meets_min_length=f < len(end_rows),
                attention=attention[f],
            )
            self._hypotheses[document].append(hypothesis)

    def is_done(self, documents: Ints, max_scores: Floats) -> Bools:
        """Return which documents can no longer improve their n-best list: (D,).

        `max_scores`, (D,), are upper bounds on the scores of active hypotheses. An equal score is
        no improvement, since the earlier of two hypotheses with equal scores ranks first.
        """
        is_done: Bools = max_scores <= self._best_scores[documents, 0]
        return is_done

    def n_best_lists(self) -> list[list[Hypothesis]]:
        """Return the best finished hypotheses of each document, best first.

        Equal scores are ordered by number of words, then by rank in the step in which they ended.
        Hypotheses below the minimum length come last.
        """
        n_best = self._best_scores.shape[1]
        return [sort_hypotheses(hypotheses)[:n_best] for hypotheses in self._hypotheses]

    def _add_scores(self, selection: Selection, scores: Floats) -> None:
        """Add the scores of the selected hypotheses that end."""
        documents = selection.documents
        self.remaining_beam_sizes[documents] -= selection.is_end.sum(axis=1)
        n_best = self._best_scores.shape[1]
        new_scores = np.where(
            selection.is_end, scores.take(selection.indices, mode="clip"), -np.inf
        )  # (D, K)
        all_scores = np.concatenate([self._best_scores[documents], new_scores], axis=1)
        self._best_scores[documents] = np.sort(all_scores, axis=1)[:, -n_best:]
        self.has_full_list = bool((self._best_scores[:, 0] > -np.inf).any())
