"""Active and finished hypotheses of a beam search."""

from dataclasses import dataclass

import numpy as np

from readagain.search.model import ID, Bools, Floats, Ints, SourceBatch
from readagain.text.vocab import BOS


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """Finished summary of T words, with the data that printing and explaining it need.

    Args:
        ids: (T,) extended ids, as in `SourceBatch.source_ext_ids`.
        copied_from: (T, 2) sentence, and position in the sentence, that each word was copied from;
            -1, -1 for a generated word.
        log_probs: (T + 1,) log-probability of each word and of EOS; 0 for a forced word.
        score: score by which the hypotheses of a document are ranked.
        meets_min_length: False if the hypothesis had to end below the minimum length, since no
            further word was allowed.
        attention: (T + 1, N, L) attention weights of each word and of EOS.
    """

    ids: Ints
    copied_from: Ints
    log_probs: Floats
    score: float
    meets_min_length: bool
    attention: Floats

    def __len__(self) -> int:
        """Return the number of words, T."""
        return len(self.ids)


@dataclass(frozen=True, kw_only=True)
class ActiveHypotheses:
    """R unfinished hypotheses of t words each, sorted by document and then by rank.

    Args:
        documents: (R,) index of the document that each row summarizes.
        ids: (R, t) extended ids.
        copied_from: (R, t) flat source positions, -1 for generated words.
        log_probs: (R,) total log-probability including extractive features.
    """

    documents: Ints
    ids: Ints
    copied_from: Ints
    log_probs: Floats

    @classmethod
    def initial(cls, num_documents: int) -> "ActiveHypotheses":
        """Return one empty hypothesis per document."""
        return cls(
            documents=np.arange(num_documents, dtype=ID),
            ids=np.empty((num_documents, 0), dtype=ID),
            copied_from=np.empty((num_documents, 0), dtype=ID),
            log_probs=np.zeros(num_documents),
        )

    def __len__(self) -> int:
        """Return the number of rows, R."""
        return len(self.documents)

    @property
    def num_words(self) -> int:
        """Number of words of every row, t."""
        return int(self.ids.shape[1])

    @property
    def last_ids(self) -> Ints:
        """Last word of each row, BOS for empty rows: (R,)."""
        if self.num_words == 0:
            return np.full(len(self), BOS, dtype=ID)
        return np.ascontiguousarray(self.ids[:, -1])

    def extend(self, expansion: "Expansion", log_probs: Floats) -> "ActiveHypotheses":
        """Append one word to each parent row of an expansion.

        Args:
            expansion: R' parent rows and their new words.
            log_probs: (R',) total log-probabilities of the new rows.
        """
        parents = expansion.parents
        return ActiveHypotheses(
            documents=self.documents.take(parents),
            ids=_append_column(self.ids, parents, expansion.ids),
            copied_from=_append_column(self.copied_from, parents, expansion.copied_from),
            log_probs=log_probs,
        )


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """Words appended in one search step.

    Args:
        parents: (R',) for each new row, the row before the step that it extends.
        ids: (R',) extended ids of the appended words.
        copied_from: (R',) flat source positions of the words, -1 for generated words.
        log_probs: (R',) log-probability of each word.
        attention: (R, S) attention weights of the rows before the step.
    """

    parents: Ints
    ids: Ints
    copied_from: Ints
    log_probs: Floats
    attention: Floats


@dataclass(frozen=True, kw_only=True)
class FinishedHypotheses:
    """F hypotheses that ended in one search step, best first within a document.

    Args:
        documents: (F,) index of the document that each hypothesis summarizes.
        rows: (F,) row of each hypothesis before the step.
        end_log_probs: (F,) log-probability of EOS.
        scores: (F,) final scores.
        meets_min_length: (F,) whether each hypothesis reached the minimum length.
    """

    documents: Ints
    rows: Ints
    end_log_probs: Floats
    scores: Floats
    meets_min_length: Bools


class FinishedScores:
    """Best scores of the finished hypotheses of each document, and the room left in its beam."""

    def __init__(self, num_documents: int, *, beam_size: int, n_best: int) -> None:
        # (B,) beam size minus the finished hypotheses of each document
        self.remaining_beam_sizes: Ints = np.full(num_documents, beam_size)
        self.has_full_list = False  # whether any document has n_best finished hypotheses
        self._best_scores = np.full((num_documents, n_best), -np.inf)  # (B, n_best), ascending

    def add(self, documents: Ints, is_end: Bools, scores: Floats) -> None:
        """Add the hypotheses that ended in one step.

        Args:
            documents: (D,) document indices.
            is_end: (D, K) True where a hypothesis ended.
            scores: (D, K) final scores; ignored where `is_end` is False.
        """
        self.remaining_beam_sizes[documents] -= is_end.sum(axis=1)
        n_best = self._best_scores.shape[1]
        new_scores = np.where(is_end, scores, -np.inf)
        scores = np.concatenate([self._best_scores[documents], new_scores], axis=1)
        self._best_scores[documents] = np.sort(scores, axis=1)[:, -n_best:]
        self.has_full_list = bool((self._best_scores[:, 0] > -np.inf).any())

    def is_done(self, documents: Ints, max_scores: Floats) -> Bools:
        """Return which documents can no longer improve their n-best list: (D,).

        `max_scores`, (D,), are upper bounds on the scores of active hypotheses. An equal score is
        no improvement, since the earlier of two hypotheses with equal scores ranks first.
        """
        is_done: Bools = max_scores <= self._best_scores[documents, 0]
        return is_done


class SearchTrace:
    """Expansion and finished hypotheses of every step.

    The words of a hypothesis are collected at the end of the search, from last to first: each
    expansion stores the row that a row extends.
    """

    def __init__(self) -> None:
        self._expansions: list[Expansion] = []
        self._finished: list[FinishedHypotheses] = []

    def add(self, expansion: Expansion, finished: FinishedHypotheses) -> None:
        """Add the expansion of one step, and the hypotheses that ended in this step."""
        self._expansions.append(expansion)
        self._finished.append(finished)

    def n_best(self, sources: SourceBatch, n_best: int) -> list[list[Hypothesis]]:
        """Return up to `n_best` finished hypotheses of each document, best first.

        Equal scores are ordered by number of words, then by rank in the step in which they ended.
        Hypotheses below the minimum length come last.
        """
        num_words = np.repeat(
            np.arange(len(self._finished)), [len(step.rows) for step in self._finished]
        )  # a hypothesis that ends in step t has t words
        finished = FinishedHypotheses(
            **{
                name: np.concatenate([getattr(step, name) for step in self._finished])
                for name in FinishedHypotheses.__dataclass_fields__
            }
        )
        order = np.lexsort(
            (num_words, -finished.scores, ~finished.meets_min_length, finished.documents)
        )
        documents = finished.documents[order]
        ranks = np.arange(len(order)) - np.searchsorted(documents, documents)
        indices = order[ranks < n_best]
        hypotheses = self._backtrace(finished, indices, num_words[indices], sources)
        n_best_lists: list[list[Hypothesis]] = [[] for _ in range(len(sources))]
        for hypothesis, document in zip(hypotheses, finished.documents[indices], strict=True):
            n_best_lists[document].append(hypothesis)
        return n_best_lists

    def _backtrace(
        self, finished: FinishedHypotheses, indices: Ints, num_words: Ints, sources: SourceBatch
    ) -> list[Hypothesis]:
        """Return the finished hypotheses at `indices` with their words.

        Args:
            finished: all finished hypotheses.
            indices: (F,) indices into `finished`.
            num_words: (F,) number of words of the hypothesis at each index.
            sources: documents.
        """
        # Sorted by length, so that at each step the hypotheses that have a word come first.
        longest_first = np.argsort(-num_words, kind="stable")
        indices, num_words = indices[longest_first], num_words[longest_first]
        F, T = len(indices), int(num_words.max(initial=0))
        _, N, L = sources.source_ids.shape
        ids = np.zeros((F, T), dtype=np.int64)
        positions = np.zeros((F, T), dtype=np.int64)
        log_probs = np.zeros((F, T + 1))
        attention = np.zeros((F, T + 1, N * L), dtype=np.float32)
        rows = finished.rows[indices]  # (F,) row of each hypothesis at the current step
        for step in range(T, -1, -1):
            expansion = self._expansions[step]
            if step < T:
                count = np.count_nonzero(num_words > step)  # hypotheses with a word at this step
                step_rows = rows[:count]
                ids[:count, step] = expansion.ids.take(step_rows)
                positions[:count, step] = expansion.copied_from.take(step_rows)
                log_probs[:count, step] = expansion.log_probs.take(step_rows)
                rows[:count] = expansion.parents.take(step_rows)
            count = np.count_nonzero(num_words >= step)  # hypotheses with a word or EOS here
            attention[:count, step] = expansion.attention.take(rows[:count], axis=0)
        log_probs[np.arange(F), num_words] = finished.end_log_probs[indices]
        copied_from = np.stack(np.divmod(positions, max(L, 1)), axis=-1)  # (F, T, 2)
        copied_from[positions < 0] = -1
        original_order = np.argsort(longest_first)
        return [
            Hypothesis(
                ids=ids[f, :t],
                copied_from=copied_from[f, :t],
                log_probs=log_probs[f, : t + 1],
                score=float(finished.scores[indices[f]]),
                meets_min_length=bool(finished.meets_min_length[indices[f]]),
                attention=attention[f, : t + 1].reshape(-1, N, L),
            )
            for f, t in zip(original_order, num_words[original_order], strict=True)
        ]


def _append_column(table: Ints, rows: Ints, column: Ints) -> Ints:
    """Select rows of a table and append one column."""
    longer = np.empty((len(rows), table.shape[1] + 1), dtype=table.dtype)
    longer[:, :-1] = table.take(rows, axis=0)
    longer[:, -1] = column
    return longer
