"""What every network offers: score known summaries, or write one word by word."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.outputs.shortlist import SourceShortlist
from readagain.text.vocab import UNK


@dataclass(frozen=True)
class SourceMemory:
    """A source, read and prepared once, for as many steps as its summary takes.

    Args:
        states: (B, S, D) the words' representations.
        valid: (B, S) True at real words.
        keys: (B, S, A) what attention compares.
        ext_ids: (B, S) extended ids of the source words.
        importance: (B, S, ...) weights of the second reading, for encoders that have them.
        copy_keys: (B, S, H) what copying compares; None for a model that cannot copy.
        copy_words: (B, S, E) embeddings p_i of the positions; None for a model without them.
        shortlist: the words that compete, for writing; None where all of the vocabulary do.
    """

    states: Tensor
    valid: Tensor
    keys: Tensor
    ext_ids: Tensor
    importance: Tensor | None = None
    copy_keys: Tensor | None = None
    copy_words: Tensor | None = None
    shortlist: SourceShortlist | None = None

    def select(self, rows: Tensor) -> "SourceMemory":
        """Keep, drop or repeat rows."""
        chosen = {
            name: value.index_select(0, rows) if isinstance(value, Tensor) else value
            for name, value in vars(self).items()
        }
        if self.shortlist is not None:
            chosen["shortlist"] = self.shortlist.select(rows)
        return SourceMemory(**chosen)  # type: ignore[arg-type]  # each of its own type


@dataclass(frozen=True)
class StepLogits:
    """Scores of what may come next: (B, V) of the vocabulary, (B, S) of copying; (B, S) attention.

    `copy` is None for a model that cannot copy. With a shortlist, `vocab` is of its W + S columns.
    """

    vocab: Tensor
    copy: Tensor | None
    attention: Tensor


class NetworkState(Protocol):
    """Everything a row needs to go on: what was read of its source, and what it carries."""

    @property
    def memory(self) -> SourceMemory:
        """What was read."""
        ...

    def select(self, rows: Tensor) -> Self:
        """Keep, drop or repeat rows: what a beam does between steps."""
        ...

    def reorder(self, rows: Tensor) -> Self:
        """Do the same with rows that stay with their documents; the memory stays as it is."""
        ...


State = TypeVar("State", bound=NetworkState)


class Network(nn.Module, ABC, Generic[State]):
    """A network that can be trained and decoded.

    Shapes are the same everywhere: `source_ids` (B, N, L) in the encoder's vocabulary,
    right-padded; `source_lengths` (B, N); `source_ext_ids` (B, S) in the extended decoder
    vocabulary, S = N * L.
    """

    @abstractmethod
    def forward(
        self,
        source_ids: Tensor,
        source_lengths: Tensor,
        source_ext_ids: Tensor,
        previous_ids: Tensor,
        target_ids: Tensor,
        label_smoothing: float = 0.0,
    ) -> Tensor:
        """Score known summaries.

        Args:
            source_ids: (B, N, L) the sources.
            source_lengths: (B, N) words of each sentence.
            source_ext_ids: (B, S) the sources in the extended decoder vocabulary.
            previous_ids: (B, T) extended ids, START and then the summary.
            target_ids: (B, T) extended ids, the summary and then END, right-padded.
            label_smoothing: share of each target that is spread over the vocabulary.

        Returns:
            (B, T) log-probabilities of the targets; the caller leaves padding out.
        """

    @abstractmethod
    def start(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> State:
        """Read sources and return the state before the first word."""

    @abstractmethod
    def step(self, state: State, previous_ids: Tensor) -> tuple[StepLogits, State]:
        """Feed (B,) extended ids, START at first; return the scores of what may follow."""


AnyNetwork = Network[Any]
"""A network whose state is its own affair."""


def generated_log_probs(
    vocab_logits: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
) -> Tensor:
    """Log-probabilities of targets for a network that cannot copy, the fastest way there is.

    Args:
        vocab_logits: (B, T, V) scores of the vocabulary.
        memory: the sources.
        target_ids: (B, T) extended ids; a word outside the vocabulary counts as UNK.
        label_smoothing: share of each target that is spread over the vocabulary.

    Returns:
        (B, T), float32 or finer.
    """
    target_ids = torch.where(target_ids < vocab_logits.size(-1), target_ids, UNK)
    return dispatch.target_log_probs(
        vocab_logits, None, memory.valid, memory.ext_ids, target_ids, label_smoothing
    )
