"""Adapter from PyTorch networks to the step models of `search`, with NumPy inputs and outputs."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from readagain.networks.network import AnyNetwork, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import at_least_float32, extended_probs, joint_probs
from readagain.search.model import Candidates, Floats, Ints, SourceBatch
from readagain.text.vocab import EOS, SPECIAL_TOKENS, UNK


@dataclass(frozen=True)
class TorchState:
    """State of a network with R rows (hypotheses), and the index of the source of each row."""

    network: NetworkState
    documents: Ints


class TorchStepModel:
    """`search.model.StepModel` of a network, on the device of its parameters.

    Args:
        model: a network in evaluation mode.
        allow_unk: generate UNK like a word, as the paper's models without copying do.
    """

    def __init__(self, model: AnyNetwork, *, allow_unk: bool = False) -> None:
        self.model = model
        self.allow_unk = allow_unk
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, sources: SourceBatch) -> TorchState:
        """Encode B sources and return the state before the first word, one row per source."""
        network = self.model.start(
            self._ids(sources.source_ids),
            self._ids(sources.lengths),
            self._ids(sources.source_ext_ids),
        )
        return TorchState(network, np.arange(len(sources)))

    @torch.inference_mode()
    def step(self, state: TorchState, previous_ids: Ints, k: int) -> tuple[Candidates, TorchState]:
        """Feed the (R,) extended ids of the previous words; return the k best next words."""
        logits, network = self.model.step(state.network, self._ids(previous_ids))
        best = top_candidates(logits, network.memory, k, allow_unk=self.allow_unk)
        candidates = Candidates(
            ids=best.ids.cpu().numpy(),
            log_probs=best.log_probs.cpu().numpy(),
            copied_from=best.copied_from.cpu().numpy(),
            end_log_probs=best.end_log_probs.cpu().numpy(),
            attention=logits.attention.float().cpu().numpy(),
        )
        return candidates, TorchState(network, state.documents)

    @torch.inference_mode()
    def select(self, state: TorchState, rows: Ints) -> TorchState:
        """Select rows by index.

        Between most steps, beam search only reorders the hypotheses of each document. The encoded
        sources, by far the largest part of a state, then stay valid and are not copied.
        """
        documents = state.documents[rows]
        indices = self._ids(rows)
        if np.array_equal(documents, state.documents):
            return TorchState(state.network.reorder(indices), documents)
        return TorchState(state.network.select(indices), documents)

    def importance(self, sources: SourceBatch) -> Floats | None:
        """Return the (B, S) importance weights, or None for a network without them."""
        weights = self.start(sources).network.memory.importance
        return None if weights is None else weights.mean(-1).float().cpu().numpy()

    def states(self, sources: SourceBatch) -> Floats:
        """Return the (B, S, U) encoder states."""
        states: Floats = self.start(sources).network.memory.states.float().cpu().numpy()
        return states

    def _ids(self, array: Ints) -> Tensor:
        return torch.as_tensor(np.asarray(array, dtype=np.int64), device=self.device)


class TopCandidates(NamedTuple):
    """The k most probable next words of each of R rows.

    Args:
        ids: (R, k) extended ids, most probable first.
        log_probs: (R, k) log-probabilities; -inf if fewer than k words are possible.
        copied_from: (R, k) position that the word is most probably copied from, or -1 if generating
            the word is more probable than copying it.
        end_log_probs: (R,) log-probability of EOS.
    """

    ids: Tensor
    log_probs: Tensor
    copied_from: Tensor
    end_log_probs: Tensor


def top_candidates(
    logits: StepLogits, memory: SourceMemory, k: int, *, allow_unk: bool = False
) -> TopCandidates:
    """Select the k most probable words of each row, without special tokens.

    Args:
        logits: logits of the next word, R rows.
        memory: the encoded source of each row; a source may have several rows.
        k: maximum number of words.
        allow_unk: select UNK like a word.
    """
    vocab_logits, shortlist = at_least_float32(logits.vocab), memory.shortlist
    if logits.copy is None:
        probs = vocab_logits.softmax(dim=1)  # (R, V)
        best, ids = _top_words(probs, k, allow_unk)
        copied_from = torch.full_like(ids, -1)
    else:
        copy_logits = at_least_float32(logits.copy)
        generated, copied = joint_probs(vocab_logits, copy_logits, memory.valid)  # (R, V), (R, S)
        if shortlist is None:
            columns = memory.ext_ids  # (R, S) column of each source word in `probs`
            probs = extended_probs(generated, copied, columns)  # (R, X)
        else:
            columns = shortlist.columns  # (R, S)
            # Columns of `SourceShortlist`: W frequent words, then S source positions.
            probs = generated.scatter_add(1, columns, copied)  # (R, W + S)
        best, ids = _top_words(probs, k, allow_unk)  # with a shortlist, `ids` are columns
        is_word = columns.unsqueeze(1) == ids.unsqueeze(2)  # (R, k, S)
        copy_probs = copied.unsqueeze(1) * is_word  # (R, k, S)
        is_copied = copy_probs.sum(dim=2) >= best / 2  # (R, k)
        copied_from = torch.where(is_copied, copy_probs.argmax(dim=2), -1)
    if shortlist is not None:
        ids = shortlist.to_ext_ids(ids, memory.ext_ids)
    return TopCandidates(ids, best.log(), copied_from, probs[:, EOS].log())


def _top_words(probs: Tensor, k: int, allow_unk: bool) -> tuple[Tensor, Tensor]:
    """Return the k largest probabilities of each row and their ids, without special tokens."""
    words = probs[:, len(SPECIAL_TOKENS) :]
    if allow_unk:
        words = torch.cat([probs[:, UNK : UNK + 1], words], dim=1)
        best, columns = words.topk(min(k, words.size(1)), dim=1)
        return best, torch.where(columns == 0, UNK, columns + len(SPECIAL_TOKENS) - 1)
    best, columns = words.topk(min(k, words.size(1)), dim=1)  # (R, k)
    return best, columns + len(SPECIAL_TOKENS)
