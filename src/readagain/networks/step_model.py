"""Adapter that lets beam search use a PyTorch network.

Beam search calls a `search.model.StepModel`, which has NumPy inputs and outputs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.networks.network import AnyNetwork, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import at_least_float32, joint_probs
from readagain.search.model import Candidates, Floats, Ints, SourceBatch
from readagain.text.vocab import EOS, SPECIAL_TOKENS, UNK


@dataclass(frozen=True)
class TorchState:
    """Decoder state of R hypotheses, one per row.

    `documents` is (R,), the index of the source document of each hypothesis.
    """

    network_state: NetworkState
    documents: Ints


class TorchStepModel:
    """`search.model.StepModel` that runs a network on the device of its parameters.

    Args:
        model: a network in evaluation mode.
        allow_unk: whether UNK may be generated like a word, as in the paper's models without
            copying.
    """

    def __init__(self, model: AnyNetwork, *, allow_unk: bool = False) -> None:
        self.model = model
        self.allow_unk = allow_unk
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, sources: SourceBatch) -> TorchState:
        """Encode B sources; return the state before the first word, one hypothesis per source."""
        network_state = self.model.start(
            self._tensor(sources.source_ids),
            self._tensor(sources.lengths),
            self._tensor(sources.source_ext_ids),
        )
        return TorchState(network_state, np.arange(len(sources)))

    @torch.inference_mode()
    def step(self, state: TorchState, previous_ids: Ints, k: int) -> tuple[Candidates, TorchState]:
        """Run one decoder step; return the k best next words of each hypothesis and the new state.

        `previous_ids` is (R,), extended ids of the previous words; BOS in the first step.
        """
        logits, network_state = self.model.step(state.network_state, self._tensor(previous_ids))
        top = top_candidates(logits, network_state.memory, k, allow_unk=self.allow_unk)
        candidates = Candidates(
            ids=top.ids.cpu().numpy(),
            log_probs=top.log_probs.cpu().numpy(),
            copied_from=top.copied_from.cpu().numpy(),
            end_log_probs=top.end_log_probs.cpu().numpy(),
            attention=logits.attention.float().cpu().numpy(),
        )
        return candidates, TorchState(network_state, state.documents)

    @torch.inference_mode()
    def select(self, state: TorchState, rows: Ints) -> TorchState:
        """Return the state of the hypotheses with the given indices.

        Between most steps, beam search replaces hypotheses only by others of the same document.
        Each row then keeps its encoded source, by far the largest part of a state, so that part is
        not copied.
        """
        documents = state.documents[rows]
        indices = self._tensor(rows)
        if np.array_equal(documents, state.documents):
            return TorchState(state.network_state.reorder(indices), documents)
        return TorchState(state.network_state.select(indices), documents)

    def importance(self, sources: SourceBatch) -> Floats | None:
        """Return the (B, S) importance of each word, or None for a network without importance.

        The importance of a word is the mean of its importance weights.
        """
        weights = self.start(sources).network_state.memory.importance
        return None if weights is None else weights.mean(-1).float().cpu().numpy()

    def states(self, sources: SourceBatch) -> Floats:
        """Return the (B, S, U) encoder states."""
        states: Floats = self.start(sources).network_state.memory.states.float().cpu().numpy()
        return states

    def _tensor(self, array: Ints) -> Tensor:
        return torch.as_tensor(np.asarray(array, dtype=np.int64), device=self.device)


class TopCandidates(NamedTuple):
    """The k most probable next words of each of R hypotheses.

    Args:
        ids: (R, k) extended ids, most probable first.
        log_probs: (R, k) log-probabilities; -inf for ids that no word has.
        copied_from: (R, k) source position from which the word is most probably copied, or -1 if
            generating the word is more probable than copying it.
        end_log_probs: (R,) log-probability of EOS.
    """

    ids: Tensor
    log_probs: Tensor
    copied_from: Tensor
    end_log_probs: Tensor


def top_candidates(
    logits: StepLogits, memory: SourceMemory, k: int, *, allow_unk: bool = False
) -> TopCandidates:
    """Select the k most probable next words of each hypothesis, without special tokens.

    The columns of the probabilities are extended ids. With a shortlist, they are the W + S columns
    of `SourceShortlists` instead, which are mapped to extended ids at the end.

    `logits` and `memory` have one row for each of R hypotheses. With `allow_unk`, UNK may be
    selected like a word.
    """
    vocab_logits, shortlists = at_least_float32(logits.vocab), memory.shortlists
    if logits.copy is None:
        probs = vocab_logits.softmax(dim=1)  # (R, V or W + S)
        top_probs, top_columns = _top_words(probs, k, allow_unk)
        copied_from = torch.full_like(top_columns, -1)
    else:
        copy_logits = at_least_float32(logits.copy)
        # (R, V or W + S) and (R, S)
        generated, copied = joint_probs(vocab_logits, copy_logits, memory.valid)
        if shortlists is None:
            source_columns = memory.ext_ids  # (R, S)
            generated = F.pad(generated, (0, copied.size(1)))  # (R, X)
        else:
            source_columns = shortlists.source_columns  # (R, S)
        # The probability of a word is that of generating it or copying it.
        probs = generated.scatter_add(1, source_columns, copied)  # (R, X or W + S)
        top_probs, top_columns = _top_words(probs, k, allow_unk)
        is_word = source_columns.unsqueeze(1) == top_columns.unsqueeze(2)  # (R, k, S)
        copy_probs = copied.unsqueeze(1) * is_word  # (R, k, S)
        is_copied = copy_probs.sum(dim=2) >= top_probs / 2  # (R, k), at least half by copying
        copied_from = torch.where(is_copied, copy_probs.argmax(dim=2), -1)
    ids = top_columns
    if shortlists is not None:
        ids = shortlists.to_ext_ids(top_columns, memory.ext_ids)
    return TopCandidates(ids, top_probs.log(), copied_from, probs[:, EOS].log())


def _top_words(probs: Tensor, k: int, allow_unk: bool) -> tuple[Tensor, Tensor]:
    """Return the k largest probabilities of each row and their columns, without special tokens."""
    num_special = len(SPECIAL_TOKENS)
    word_probs = probs[:, num_special:]
    if allow_unk:  # UNK is put before the words
        word_probs = torch.cat([probs[:, UNK : UNK + 1], word_probs], dim=1)
    top_probs, indices = word_probs.topk(min(k, word_probs.size(1)), dim=1)  # (R, k)
    if allow_unk:
        return top_probs, torch.where(indices == 0, UNK, indices - 1 + num_special)
    return top_probs, indices + num_special
