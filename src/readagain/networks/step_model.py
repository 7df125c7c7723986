"""The torch networks behind the protocol of search: numpy in, numpy out, on any device."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from readagain.networks.candidates import best_words
from readagain.networks.network import AnyNetwork, NetworkState
from readagain.search.model import Candidates, Ints, SourceBatch


@dataclass(frozen=True)
class TorchState:
    """The network's state, and which document each of its R rows belongs to."""

    network: NetworkState
    documents: Ints


class TorchStepModel:
    """Decode with a network where it lies: `search.model.StepModel` on torch.

    Args:
        model: a built network; it is used as it is, so call `eval()` on it first.
    """

    def __init__(self, model: AnyNetwork) -> None:
        self.model = model
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def start(self, sources: SourceBatch) -> TorchState:
        """Read the sources and return a state of B rows, before the first word."""
        network = self.model.start(
            self._ids(sources.source_ids),
            self._ids(sources.lengths),
            self._ids(sources.source_ext_ids),
        )
        return TorchState(network, np.arange(len(sources)))

    @torch.inference_mode()
    def step(self, state: TorchState, previous_ids: Ints, k: int) -> tuple[Candidates, TorchState]:
        """Feed each row the (R,) extended id of its last word; offer the k best next words."""
        logits, network = self.model.step(state.network, self._ids(previous_ids))
        memory = network.memory
        best = best_words(
            logits.vocab, logits.copy, memory.valid, memory.ext_ids, k, memory.shortlist
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
        """Keep, drop or repeat rows.

        Between most steps a beam only reorders the hypotheses of each document; the documents'
        memory, by far the larger part of a state, then stays where it is.
        """
        documents = state.documents[rows]
        kept = self._ids(rows)
        stay = np.array_equal(documents, state.documents)
        network = state.network.reorder(kept) if stay else state.network.select(kept)
        return TorchState(network, documents)

    def _ids(self, array: Ints) -> Tensor:
        return torch.as_tensor(np.asarray(array, dtype=np.int64), device=self.device)
