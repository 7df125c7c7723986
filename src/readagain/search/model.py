"""Interface between beam search and a model: sources, candidates and the protocol `StepModel`."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]

State = TypeVar("State")
AnyArray = TypeVar("AnyArray", Ints, Floats, Bools)

ID = np.int32  # type of ids and positions within search; models may return any integer type


@dataclass(frozen=True, kw_only=True)
class SourceBatch:
    """Batch of source documents.

    A document has N sentences of at most L words, right-padded; S = N * L. Attention, `copied_from`
    and extended ids use flat positions: that of word l of sentence n is n * L + l.

    Args:
        source_ids: (B, N, L) ids in the encoder vocabulary.
        lengths: (B, N) number of words in each sentence; 0 for a missing sentence.
        source_ext_ids: (B, S) ids in the extended decoder vocabulary: below V the id of a word of
            the vocabulary; for an OOV word, V + the flat position of its first occurrence.
    """

    source_ids: Ints
    lengths: Ints
    source_ext_ids: Ints

    def __len__(self) -> int:
        """Return the number of documents, B."""
        return int(self.source_ids.shape[0])

    @property
    def source_valid(self) -> Bools:
        """Mask of real words: (B, S)."""
        B, N, L = self.source_ids.shape
        valid: Bools = np.arange(L) < self.lengths[:, :, None]  # (B, N, L)
        return valid.reshape(B, N * L)


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Top-k next words of R hypotheses.

    EOS has a field of its own, since the search needs its probability even if EOS is not among the
    k most probable tokens.

    Args:
        ids: (R, k) extended ids of the k most probable words, best first, without duplicates in
            a row; never PAD, UNK, BOS or EOS. Fewer than k columns if the model has fewer words.
        log_probs: (R, k) log-probability of each word; -inf at the end of a row that has fewer than
            k words.
        copied_from: (R, k) flat source position from which the word is most probably copied, or -1
            if generating the word is more probable than copying it from all its positions together.
        end_log_probs: (R,) log-probability of EOS.
        attention: (R, S) attention weights of this step, 0 at padding.
    """

    ids: Ints
    log_probs: Floats
    copied_from: Ints
    end_log_probs: Floats
    attention: Floats

    def take(self, columns: Ints) -> "Candidates":
        """Return the words at (R, n) columns of each row."""
        return replace(
            self,
            ids=take_columns(self.ids, columns),
            log_probs=take_columns(self.log_probs, columns),
            copied_from=take_columns(self.copied_from, columns),
        )


def take_columns(table: AnyArray, columns: Ints) -> AnyArray:
    """Return columns of each row: (R, k) table, (R, n) columns -> (R, n).

    This is faster than `np.take_along_axis`.
    """
    R, k = table.shape
    taken: AnyArray = table.take(columns + np.arange(0, R * k, k)[:, None])
    return taken


class StepModel(Protocol[State]):
    """Model that returns the most probable next words, one step at a time.

    A state has one row per hypothesis, and rows do not influence each other. States are immutable:
    `step` and `select` return new states.
    """

    def start(self, sources: SourceBatch) -> State:
        """Encode the sources and return a state of B rows."""
        ...

    def step(self, state: State, previous_ids: Ints, k: int) -> tuple[Candidates, State]:
        """Run one decoder step.

        Args:
            state: state of R rows.
            previous_ids: (R,) extended id of the last word of each row, BOS at first.
            k: number of candidates, the same at every step of a search. Ties at the k-th rank may
                be broken in any way that does not depend on other rows.
        """
        ...

    def select(self, state: State, rows: Ints) -> State:
        """Return a state whose row r is row `rows[r]` of `state`.

        In `rows`, the rows of one document are adjacent, and documents are in order. After a
        document has lost all its rows, it is never selected again.
        """
        ...
