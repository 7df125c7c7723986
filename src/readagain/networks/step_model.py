"""Adapter from PyTorch networks to the step models of `search`, with NumPy inputs and outputs."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from readagain.networks.candidates import top_candidates
from readagain.networks.network import AnyNetwork, NetworkState
from readagain.search.model import Candidates, Floats, Ints, SourceBatch


@dataclass(frozen=True)
class TorchState:
    """State of a network and the document of each of its R rows."""

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
        """Encode the sources and return the state of B rows before the first word."""
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
        memory = network.memory
        best = top_candidates(
            logits.vocab,
            logits.copy,
            memory.valid,
            memory.ext_ids,
            k,
            memory.shortlist,
            allow_unk=self.allow_unk,
        )
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
