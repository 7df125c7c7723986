"""Active and finished hypotheses of a beam search."""

from dataclasses import dataclass

import numpy as np

from readagain.search.model import ID, Bools, Floats, Ints, SourceBatch
from readagain.text.vocab import BOS


@dataclass(frozen=True, kw_only=True, eq=False)
class Hypothesis:
    """A finished summary of T words, with the data for printing and explaining it.

    Args:
        ids: (T,) extended ids. An id of V or more depends on the source: the spelling of a copied
            word is found at its source position.
        copied_from: (T, 2) sentence and word position that each word was copied from; -1, -1
            where it was generated.
        log_probs: (T + 1,) log-probability of each word and of EOS; 0 for a forced word.
        score: score by which the hypotheses of a document are ranked.
        meets_min_length: False where no word was allowed before the minimum length was reached.
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
        copied_from: (R, t) flat source positions, -1 where generated.
        log_probs: (R,) total log-probability including extractive features.
        coverage: (R, S) attention that each source position has received, or None if there is no
            coverage penalty.
    """

    documents: Ints
    ids: Ints
    copied_from: Ints
    log_probs: Floats
    coverage: Floats | None

    @classmethod
    def initial(cls, sources: SourceBatch, *, has_coverage: bool) -> "ActiveHypotheses":
        """Return one empty hypothesis per document."""
        B, S = sources.source_ext_ids.shape
        return cls(
            documents=np.arange(B, dtype=ID),
            ids=np.empty((B, 0), dtype=ID),
            copied_from=np.empty((B, 0), dtype=ID),
            log_probs=np.zeros(B),
            coverage=np.zeros((B, S)) if has_coverage else None,
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
        """Decoder input of the next step: (R,)."""
        if self.num_words == 0:
            return np.full(len(self), BOS, dtype=ID)
        return np.ascontiguousarray(self.ids[:, -1])

    def extend(
        self, expansion: "Expansion", log_probs: Floats, coverage: Floats | None
    ) -> "ActiveHypotheses":
        """Append one word to each parent row of an expansion.

        Args:
            expansion: R' parent rows and their new words.
            log_probs: (R',) total log-probabilities of the new rows.
            coverage: (R, S) coverage of the old rows including this step, or None.
        """
        parents = expansion.parents
        return ActiveHypotheses(
            documents=self.documents.take(parents),
            ids=_append_column(self.ids, parents, expansion.ids),
            copied_from=_append_column(self.copied_from, parents, expansion.copied_from),
            log_probs=log_probs,
            coverage=None if coverage is None else coverage[parents],
        )


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """Words appended in one search step.

    Args:
        parents: (R',) rows of the previous step.
        ids: (R',) appended words.
        copied_from: (R',) flat source positions of the words, -1 where generated.
        log_probs: (R',) log-probability of each word.
        attention: (R, S) attention weights of the previous rows.
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
        documents: (F,) index of the document that each summarizes.
        rows: (F,) rows of the step in which they ended.
        end_log_probs: (F,) log-probability of EOS.
        scores: (F,) final scores.
        meets_min_length: (F,) whether each reached the minimum length.
    """

    documents: Ints
    rows: Ints
    end_log_probs: Floats
    scores: Floats
    meets_min_length: Bools


class FinishedScores:
    """Number and best scores of the finished hypotheses of each document."""

    def __init__(self, num_documents: int, *, beam_size: int, n_best: int) -> None:
        # (B,) number of active hypotheses for which the beam of each document has room.
        self.beam_widths: Ints = np.full(num_documents, beam_size)
        self.has_full_list = False  # whether any document has n_best finished hypotheses
        self._best = np.full((num_documents, n_best), -np.inf)  # (B, n_best), worst first

    def add(self, documents: Ints, is_end: Bools, scores: Floats) -> None:
        """Add the hypotheses finished in one step.

        Args:
            documents: (D,) document indices.
            is_end: (D, K) True where a hypothesis ended.
            scores: (D, K) their scores.
        """
        self.beam_widths[documents] -= is_end.sum(axis=1)
        scores = np.concatenate([self._best[documents], np.where(is_end, scores, -np.inf)], axis=1)
        self._best[documents] = np.sort(scores, axis=1)[:, -self._best.shape[1] :]
        self.has_full_list = bool((self._best[:, 0] > -np.inf).any())

    def is_done(self, documents: Ints, max_scores: Floats) -> Bools:
        """Return which documents can no longer improve their n-best list: (D,).

        `max_scores`, (D,), are upper bounds on the scores of active hypotheses. An equal score is
        no improvement, since the earlier of two hypotheses with equal scores ranks first.
        """
        done: Bools = max_scores <= self._best[documents, 0]
        return done


class SearchTrace:
    """Expansions and finished hypotheses of every step; summaries are backtraced through them."""

    def __init__(self) -> None:
        self._expansions: list[Expansion] = []
        self._finished: list[tuple[int, FinishedHypotheses]] = []

    def add(self, expansion: Expansion, finished: list[FinishedHypotheses]) -> None:
        """Add the expansion of one step, and the hypotheses that ended in it."""
        self._finished += [(len(self._expansions), each) for each in finished]
        self._expansions.append(expansion)

    def n_best(self, sources: SourceBatch, n_best: int) -> list[list[Hypothesis]]:
        """Return the `n_best` hypotheses of each document, best first.

        Equal scores are ordered by number of words, then by rank in the step in which they ended.
        Hypotheses below the minimum length come last.
        """
        n_best_lists: list[list[Hypothesis]] = [[] for _ in range(len(sources))]
        if not self._finished:
            return n_best_lists
        num_words = np.concatenate([np.full(len(each.rows), t) for t, each in self._finished])
        finished = FinishedHypotheses(
            **{
                name: np.concatenate([getattr(each, name) for _, each in self._finished])
                for name in FinishedHypotheses.__dataclass_fields__
            }
        )
        order = np.lexsort(
            (num_words, -finished.scores, ~finished.meets_min_length, finished.documents)
        )
        documents = finished.documents[order]
        ranks = np.arange(len(order)) - np.searchsorted(documents, documents)
        chosen = order[ranks < n_best]
        hypotheses = self._backtrace(finished, chosen, num_words[chosen], sources)
        for hypothesis, document in zip(hypotheses, finished.documents[chosen], strict=True):
            n_best_lists[document].append(hypothesis)
        return n_best_lists

    def _backtrace(
        self, finished: FinishedHypotheses, chosen: Ints, num_words: Ints, sources: SourceBatch
    ) -> list[Hypothesis]:
        """Return the chosen hypotheses; their words are collected from last to first.

        Args:
            finished: all finished hypotheses.
            chosen: (F,) indices into them.
            num_words: (F,) number of words of each chosen hypothesis.
            sources: documents.
        """
        # Sorted by length, so that at each step the hypotheses that have a word come first.
        longest_first = np.argsort(-num_words, kind="stable")
        chosen, num_words = chosen[longest_first], num_words[longest_first]
        F, T = len(chosen), int(num_words.max(initial=0))
        _, N, L = sources.source_ids.shape
        ids = np.zeros((F, T), dtype=np.int64)
        positions = np.zeros((F, T), dtype=np.int64)
        log_probs = np.zeros((F, T + 1))
        attention = np.zeros((F, T + 1, N * L), dtype=np.float32)
        rows = finished.rows[chosen]  # (F,) row of each hypothesis at the current step
        for step in range(T, -1, -1):
            expansion = self._expansions[step]
            if step < T:
                count = np.count_nonzero(num_words > step)  # hypotheses with a word at this step
                step_rows = rows[:count]
                ids[:count, step] = expansion.ids.take(step_rows)
                positions[:count, step] = expansion.copied_from.take(step_rows)
                log_probs[:count, step] = expansion.log_probs.take(step_rows)
                rows[:count] = expansion.parents.take(step_rows)
            count = np.count_nonzero(num_words >= step)  # those that end at this step included
            attention[:count, step] = expansion.attention.take(rows[:count], axis=0)
        log_probs[np.arange(F), num_words] = finished.end_log_probs[chosen]
        copied_from = np.stack(np.divmod(positions, max(L, 1)), axis=-1)  # (F, T, 2)
        copied_from[positions < 0] = -1
        original_order = np.argsort(longest_first)
        return [
            Hypothesis(
                ids=ids[f, :t],
                copied_from=copied_from[f, :t],
                log_probs=log_probs[f, : t + 1],
                score=float(finished.scores[chosen[f]]),
                meets_min_length=bool(finished.meets_min_length[chosen[f]]),
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
