"""What search asks of a model: start on sources, step by one word, select rows."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from readagain.errors import ShapeError

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]

State = TypeVar("State")

ID = np.int32  # what search keeps ids and positions in; models may answer in any integers


@dataclass(frozen=True, kw_only=True)
class SourceBatch:
    """The documents that a model is started on.

    A document has N sentences of at most L words, right-padded; S = N * L. The flat position
    of word l of sentence n is n * L + l, in attention, in `copied_from` and in extended ids.

    Args:
        source_ids: (B, N, L) ids in the encoder's vocabulary.
        lengths: (B, N) words in each sentence; 0 for a missing sentence.
        source_ext_ids: (B, S) ids in the extended decoder vocabulary: the word's own id where
            the vocabulary (V words) has it, else V + the flat position of its first occurrence.
    """

    source_ids: Ints
    lengths: Ints
    source_ext_ids: Ints

    def __post_init__(self) -> None:
        if self.source_ids.ndim != 3:
            raise ShapeError(
                f"source_ids has shape {self.source_ids.shape}; expected (B, N, L): "
                "documents, sentences, words"
            )
        B, N, L = self.source_ids.shape
        for name, found, expected in (
            ("lengths", self.lengths.shape, (B, N)),
            ("source_ext_ids", self.source_ext_ids.shape, (B, N * L)),
        ):
            if found != expected:
                raise ShapeError(
                    f"{name} has shape {found}; source_ids of shape {(B, N, L)} needs {expected}"
                )

    def __len__(self) -> int:
        """Count the documents, B."""
        return int(self.source_ids.shape[0])

    @property
    def source_valid(self) -> Bools:
        """Mark the real words: (B, S)."""
        B, N, L = self.source_ids.shape
        valid: Bools = np.arange(L) < self.lengths[:, :, None]  # (B, N, L)
        return valid.reshape(B, N * L)


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """What may follow each of R hypotheses.

    Ending is no candidate among others: its log-probability is always given, so that a limit
    can end a hypothesis at its true price and a minimum can forbid ending at no cost in k.

    Args:
        ids: (R, k) extended ids of the k most probable words, best first, each at most once in
            a row; never PAD, UNK, START or END. Fewer columns where the model has fewer words.
        log_probs: (R, k) their log-probabilities; -inf marks a slot that holds no word.
        copied_from: (R, k) flat source position with the largest share in copying the word, or
            -1 where generating it had a larger share than all its positions together.
        end_log_probs: (R,) log-probability of END, the end of the summary.
        attention: (R, S) the weights of the source positions at this step, 0 at padding.
    """

    ids: Ints
    log_probs: Floats
    copied_from: Ints
    end_log_probs: Floats
    attention: Floats

    def take(self, rows: Ints) -> "Candidates":
        """Keep some of the rows."""
        return Candidates(
            ids=self.ids[rows],
            log_probs=self.log_probs[rows],
            copied_from=self.copied_from[rows],
            end_log_probs=self.end_log_probs[rows],
            attention=self.attention[rows],
        )


class StepModel(Protocol[State]):
    """A model that can be decoded one word at a time.

    A state is a value: `step` and `select` return a new one. Rows do not influence each other.
    """

    def start(self, sources: SourceBatch) -> State:
        """Read the sources and return a state of B rows, before the first word."""
        ...

    def step(self, state: State, previous_ids: Ints, k: int) -> tuple[Candidates, State]:
        """Feed each row the (R,) extended id of its last word, START at first; offer k words.

        During one search k is the same at every step. Where words at the k-th place are equally
        probable, the model prefers the smaller id or any other order that ignores other rows.
        """
        ...

    def select(self, state: State, rows: Ints) -> State:
        """Keep, drop or repeat rows of the state: what a beam does between steps.

        Row r of the new state is row `rows[r]` of the old. Rows of one document stay adjacent,
        documents stay in order, and a document without rows is never asked for again.
        """
        ...
