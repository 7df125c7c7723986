"""Interface of all networks: scoring of reference summaries, generation word by word."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.outputs import VocabularyOutput
from readagain.networks.shortlist import SourceShortlists
from readagain.text.vocab import UNK


@dataclass(frozen=True)
class SourceMemory:
    """Encoded source, computed once for all decoder steps.

    Args:
        states: (B, S, U) word representations.
        valid: (B, S) True at real words.
        keys: (B, S, A) attention keys.
        ext_ids: (B, S) extended ids of the source words.
        importance: (B, S, U or 1 or 2) importance weights of the second pass, or None; see
            `EncoderOutput`.
        copy_keys: (B, S, H) keys of the copy scores; None for a model that cannot copy.
        copy_words: (B, S, E) p_i, the embedding that the decoder is fed if the word at position i
            was copied (equation 15); None for a model without p_i.
        shortlists: words to score in `step`; None for the whole vocabulary.
    """

    states: Tensor
    valid: Tensor
    keys: Tensor
    ext_ids: Tensor
    importance: Tensor | None = None
    copy_keys: Tensor | None = None
    copy_words: Tensor | None = None
    shortlists: SourceShortlists | None = None


@dataclass(frozen=True)
class StepLogits:
    """Logits of the next word, and attention weights.

    Args:
        vocab: (B, V) logits of the vocabulary; with shortlists, (B, W + S) logits of the columns of
            `SourceShortlists`.
        copy: (B, S) logits of the source positions; None for a model that cannot copy.
        attention: (B, S) attention weights.
    """

    vocab: Tensor
    copy: Tensor | None
    attention: Tensor


@dataclass(frozen=True)
class NetworkState:
    """Decoder state of a batch.

    Subclasses add fields that are tensors with B rows, dataclasses of such tensors, or None.
    """

    memory: SourceMemory

    def select(self, rows: Tensor) -> Self:
        """Return the state with the rows at the (R,) indices `rows`."""
        selected: Self = select_rows(self, rows)
        return selected

    def reorder(self, rows: Tensor) -> Self:
        """Return the state with the rows at the (B,) indices `rows`, but unchanged `memory`.

        Row `rows[i]` must have the same source as row i.
        """
        names = [field.name for field in fields(self) if field.name != "memory"]
        return replace(self, **{name: select_rows(getattr(self, name), rows) for name in names})


def select_rows(value: Any, rows: Tensor) -> Any:
    """Select rows of a tensor, or of all tensors in a dataclass, by index; None stays None."""
    if isinstance(value, Tensor):
        return value.index_select(0, rows)
    if value is None:
        return None
    names = [field.name for field in fields(value)]
    return replace(value, **{name: select_rows(getattr(value, name), rows) for name in names})


StateT = TypeVar("StateT", bound=NetworkState)


class Network(nn.Module, ABC, Generic[StateT]):
    """Network that scores reference summaries in training and generates summaries in decoding.

    Training calls `forward`. Decoding calls `start` once and `step` for each word. `forward`
    describes the arguments of all methods.

    The names of submodules and parameters are the keys of saved weights, so they must not change.
    """

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
            source_ids: (B, N, L) ids of the source words in the encoder vocabulary, right-padded.
            source_lengths: (B, N) number of words of each sentence.
            source_ext_ids: (B, S) extended ids of the source words, S = N * L.
            previous_ids: (B, T) extended ids: BOS, then the summary.
            target_ids: (B, T) extended ids: the summary, then EOS, right-padded.
            label_smoothing: fraction of each target that is spread evenly over the vocabulary.

        Returns:
            (B, T) log-probabilities of the targets, at least in float32; the values at padding have
            no meaning.
        """
        state = self.encode(source_ids, source_lengths, source_ext_ids)
        outputs = self.decode(state, previous_ids)
        return self.log_probs(outputs, state.memory, target_ids, label_smoothing)

    @abstractmethod
    def encode(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> StateT:
        """Encode sources and return the state before the first word."""

    @abstractmethod
    def decode(self, state: StateT, previous_ids: Tensor) -> Tensor:
        """Return the inputs of the output layer for (B, T) previous words (teacher forcing).

        Their width depends on the network: (B, T, width).
        """

    def log_probs(
        self, outputs: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
    ) -> Tensor:
        """Return the (B, T) log-probabilities of targets, with UNK in place of OOV words.

        `outputs` is the result of `decode`.
        """
        logits = self.output(outputs)  # (B, T, V)
        target_ids = torch.where(target_ids < logits.size(-1), target_ids, UNK)
        return dispatch.target_log_probs(
            logits, None, memory.valid, memory.ext_ids, target_ids, label_smoothing
        )

    def start(self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor) -> StateT:
        """Encode sources and return the state for the first `step`; call `eval()` first."""
        return self.encode(source_ids, source_lengths, source_ext_ids)

    @abstractmethod
    def step(self, state: StateT, previous_ids: Tensor) -> tuple[StepLogits, StateT]:
        """Run one decoder step from the state of `start` or of the previous step.

        `previous_ids` is (B,), extended ids of the previous words; BOS in the first step. Returns
        the logits of the next words and the new state.
        """


AnyNetwork = Network[Any]
"""Network with any type of decoder state."""
