"""Hypotheses of a beam search: finished summaries, and the active rows of the beam."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from readagain.search.model import ID, AnyArray, Candidates, Floats, Ints
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


def sort_hypotheses(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Sort hypotheses by score, those below the minimum length last; ties keep their order."""
    return sorted(
        hypotheses, key=lambda hypothesis: (not hypothesis.meets_min_length, -hypothesis.score)
    )


@dataclass(frozen=True, kw_only=True)
class ActiveHypotheses:
    """R unfinished hypotheses of t words each, sorted by document and then by rank.

    Args:
        documents: (R,) index of the document that each row summarizes.
        ids: (R, t) extended ids.
        copied_from: (R, t) flat source positions, -1 for generated words.
        word_log_probs: (R, t) log-probability of each word, without extractive features.
        parents: (R, t) row that the hypothesis had before each of its words was appended.
        log_probs: (R,) total log-probability including extractive features.
    """

    documents: Ints
    ids: Ints
    copied_from: Ints
    word_log_probs: Floats
    parents: Ints
    log_probs: Floats

    @classmethod
    def initial(cls, num_documents: int) -> "ActiveHypotheses":
        """Return one empty hypothesis per document."""
        no_words = np.empty((num_documents, 0), dtype=ID)
        return cls(
            documents=np.arange(num_documents, dtype=ID),
            ids=no_words,
            copied_from=no_words,
            word_log_probs=np.empty((num_documents, 0)),
            parents=no_words,
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

    def extend(
        self, candidates: Candidates, rows: Ints, columns: Ints, log_probs: Floats
    ) -> "ActiveHypotheses":
        """Append one candidate to each of R' rows, which may repeat.

        All arrays are copies, since a model may reuse its arrays in the next step.

        Args:
            candidates: (R, k) next words.
            rows: (R',) rows to extend.
            columns: (R',) column of the appended candidate in each row.
            log_probs: (R',) total log-probabilities of the new rows.
        """
        flat = rows * candidates.ids.shape[1] + columns
        return ActiveHypotheses(
            documents=self.documents.take(rows),
            ids=append_column(self.ids, rows, candidates.ids.take(flat)),
            copied_from=append_column(self.copied_from, rows, candidates.copied_from.take(flat)),
            word_log_probs=append_column(
                self.word_log_probs, rows, candidates.log_probs.take(flat)
            ),
            parents=append_column(self.parents, rows, rows),
            log_probs=log_probs,
        )


def append_column(table: AnyArray, rows: Ints, column: Ints | Floats) -> AnyArray:
    """Select rows of a table and append one column."""
    longer = np.empty((len(rows), table.shape[1] + 1), dtype=table.dtype)
    longer[:, :-1] = table.take(rows, axis=0)
    longer[:, -1] = column
    return longer
