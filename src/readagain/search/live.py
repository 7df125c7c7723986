"""The hypotheses that a search follows."""

from dataclasses import dataclass

import numpy as np

from readagain.search.model import ID, Floats, Ints, SourceBatch
from readagain.text.vocab import BOS


@dataclass(frozen=True, kw_only=True)
class ActiveHypotheses:
    """R live hypotheses of t words each, by document and within one best first.

    Args:
        document: (R,) which document of the batch each row summarizes.
        words: (R, t) extended ids.
        copied_from: (R, t) flat source positions, -1 where generated.
        log_probs: (R,) of all words together, with what features add to them.
        coverage: (R, S) attention that each source position has received, or None when no
            penalty looks at it.
    """

    document: Ints
    words: Ints
    copied_from: Ints
    log_probs: Floats
    coverage: Floats | None

    @classmethod
    def at_start(cls, sources: SourceBatch, *, has_coverage: bool) -> "ActiveHypotheses":
        """Begin every document with one hypothesis of no words."""
        B, S = sources.source_ext_ids.shape
        return cls(
            document=np.arange(B, dtype=ID),
            words=np.empty((B, 0), dtype=ID),
            copied_from=np.empty((B, 0), dtype=ID),
            log_probs=np.zeros(B),
            coverage=np.zeros((B, S)) if has_coverage else None,
        )

    def __len__(self) -> int:
        """Count the rows, R."""
        return len(self.document)

    @property
    def num_words(self) -> int:
        """How many words every row has, t."""
        return int(self.words.shape[1])

    @property
    def last_ids(self) -> Ints:
        """The word that the model is fed next: (R,)."""
        if self.num_words == 0:
            return np.full(len(self), BOS, dtype=ID)
        return np.ascontiguousarray(self.words[:, -1])

    def take(self, rows: Ints) -> "ActiveHypotheses":
        """Keep some of the rows."""
        return ActiveHypotheses(
            document=self.document[rows],
            words=self.words[rows],
            copied_from=self.copied_from[rows],
            log_probs=self.log_probs[rows],
            coverage=None if self.coverage is None else self.coverage[rows],
        )

    def coverage_with(self, attention: Floats) -> Floats | None:
        """Add the attention of one more step to the coverage, where it is kept: (R, S)."""
        return None if self.coverage is None else self.coverage + attention

    def grow(
        self,
        parents: Ints,
        ids: Ints,
        copied_from: Ints,
        log_probs: Floats,
        coverage: Floats | None,
    ) -> "ActiveHypotheses":
        """Put one word behind each of the rows `parents`.

        Args:
            parents: (R',) rows of this beam.
            ids: (R',) the words.
            copied_from: (R',) where each comes from.
            log_probs: (R',) of all words together.
            coverage: (R, S) of the old rows, this step included, or None.
        """
        return ActiveHypotheses(
            document=self.document.take(parents),
            words=_with_column(self.words, parents, ids),
            copied_from=_with_column(self.copied_from, parents, copied_from),
            log_probs=log_probs,
            coverage=None if coverage is None else coverage[parents],
        )


def _with_column(table: Ints, rows: Ints, column: Ints) -> Ints:
    """Select rows of a table and put one more column behind it."""
    longer = np.empty((len(rows), table.shape[1] + 1), dtype=table.dtype)
    longer[:, :-1] = table.take(rows, axis=0)
    longer[:, -1] = column
    return longer
