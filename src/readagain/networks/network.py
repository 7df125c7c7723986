"""Interface of all networks: score reference summaries, generate summaries word by word."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.outputs import VocabularyOutput
from readagain.networks.shortlist import SourceShortlist
from readagain.text.vocab import UNK


@dataclass(frozen=True)
class SourceMemory:
    """Encoded source, computed once for all decoder steps.

    Args:
        states: (B, S, U) word representations.
        valid: (B, S) True at real words.
        keys: (B, S, A) attention keys.
        ext_ids: (B, S) extended ids of the source words.
        importance: (B, S, ...) importance weights of the second pass, or None.
        copy_keys: (B, S, H) keys of the copy scores; None for a model that cannot copy.
        copy_words: (B, S, E) p_i, the embedding of the word at each position as the previous word
            of the summary (equation 15); None for a model without p_i.
        shortlist: words to score in `step`; None for the whole vocabulary.
    """

    states: Tensor
    valid: Tensor
    keys: Tensor
    ext_ids: Tensor
    importance: Tensor | None = None
    copy_keys: Tensor | None = None
    copy_words: Tensor | None = None
    shortlist: SourceShortlist | None = None


@dataclass(frozen=True)
class StepLogits:
    """Logits of the next word, (B, V) `vocab` and (B, S) `copy`, and (B, S) attention weights.

    `copy` is None for a model that cannot copy. With a shortlist, `vocab` is (B, W + S), see
    `SourceShortlist`.
    """

    vocab: Tensor
    copy: Tensor | None
    attention: Tensor


@dataclass(frozen=True)
class NetworkState:
    """Decoder state of a batch of rows; subclasses add tensors or dataclasses of tensors."""

    memory: SourceMemory

    def select(self, rows: Tensor) -> Self:
        """Select rows by index."""
        return replace(self.reorder(rows), memory=select_rows(self.memory, rows))

    def reorder(self, rows: Tensor) -> Self:
        """Select rows of all fields but `memory`.

        Row `rows[i]` must belong to the same document as row i, so that `memory` stays valid.
        """
        names = [each.name for each in fields(self) if each.name != "memory"]
        return replace(self, **{name: select_rows(getattr(self, name), rows) for name in names})


def select_rows(value: Any, rows: Tensor) -> Any:
    """Select rows of a tensor, or of all tensors in a dataclass; None stays None."""
    if isinstance(value, Tensor):
        return value.index_select(0, rows)
    if value is None:
        return None
    selected = {each.name: select_rows(getattr(value, each.name), rows) for each in fields(value)}
    return replace(value, **selected)


State = TypeVar("State", bound=NetworkState)


class Network(nn.Module, ABC, Generic[State]):
    """Network that can be trained and decoded; `forward` describes the arguments of all methods."""

    output: VocabularyOutput

    def forward(
        self,
        source_ids: Tensor,
        source_lengths: Tensor,
        source_ext_ids: Tensor,
        previous_ids: Tensor,
        target_ids: Tensor,
        label_smoothing: float = 0.0,
    ) -> Tensor:
        """Score reference summaries (teacher forcing).

        Args:
            source_ids: (B, N, L) source words in the encoder vocabulary, right-padded.
            source_lengths: (B, N) number of words of each sentence.
            source_ext_ids: (B, S) source words in the extended decoder vocabulary, S = N * L.
            previous_ids: (B, T) extended ids: BOS, then the summary.
            target_ids: (B, T) extended ids: the summary, then EOS, right-padded.
            label_smoothing: fraction of each target that is spread over the vocabulary.

        Returns:
            (B, T) log-probabilities of the targets, at least float32; those of padding are
            meaningless.
        """
        state = self.encode(source_ids, source_lengths, source_ext_ids)
        outputs = self.decode(state, previous_ids)
        return self.log_probs(outputs, state.memory, target_ids, label_smoothing)

    @abstractmethod
    def encode(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> State:
        """Encode sources and return the state before the first word."""

    @abstractmethod
    def decode(self, state: State, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, ...) inputs of the output layer for (B, T) previous words."""

    def log_probs(
        self, outputs: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
    ) -> Tensor:
        """Return the (B, T) log-probabilities of targets; UNK replaces OOV targets."""
        logits = self.output(outputs)  # (B, T, V)
        target_ids = torch.where(target_ids < logits.size(-1), target_ids, UNK)
        return dispatch.target_log_probs(
            logits, None, memory.valid, memory.ext_ids, target_ids, label_smoothing
        )

    def start(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> State:
        """Encode sources for `step`; call `eval()` first."""
        return self.encode(source_ids, source_lengths, source_ext_ids)

    @abstractmethod
    def step(self, state: State, previous_ids: Tensor) -> tuple[StepLogits, State]:
        """Feed (B,) extended ids, first BOS; return the logits of the next word."""


AnyNetwork = Network[Any]
"""A network with any type of state."""
