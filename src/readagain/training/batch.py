"""Batch of padded pairs, the input of a network."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Padded pairs; the padding rows of an incomplete batch have no valid target.

    Args:
        source_ids: (B, N, L) ids in the encoder vocabulary.
        source_lengths: (B, N) number of words of each sentence.
        source_ext_ids: (B, S) ids in the extended decoder vocabulary, S = N * L.
        previous_ids: (B, T) extended ids: BOS, then the summary.
        target_ids: (B, T) extended ids: the summary, then EOS.
        target_valid: (B, T) True at the summary and EOS.
    """

    source_ids: Tensor
    source_lengths: Tensor
    source_ext_ids: Tensor
    previous_ids: Tensor
    target_ids: Tensor
    target_valid: Tensor

    def inputs(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return the arguments of the network, in order."""
        return (
            self.source_ids,
            self.source_lengths,
            self.source_ext_ids,
            self.previous_ids,
            self.target_ids,
        )

    def to(self, device: torch.device) -> "Batch":
        """Copy to a device without waiting for it."""
        return Batch(*(each.to(device, non_blocking=True) for each in vars(self).values()))

    def assemble(self) -> "Batch":
        """Return itself; see `BatchIndices.assemble`."""
        return self

    def shape_key(self) -> tuple[int, ...]:
        """Return B, N, L and T; a CUDA graph is captured for each combination."""
        return (*self.source_ids.shape, self.target_ids.size(1))

    def static_copy(self) -> "Batch":
        """Return a copy as the input of a CUDA graph, which reads from fixed memory."""
        return Batch(*(each.clone() for each in vars(self).values()))

    def copy_from(self, batch: "Batch") -> None:
        """Copy the content of another batch of this shape, in place."""
        for target, source in zip(vars(self).values(), vars(batch).values(), strict=True):
            target.copy_(source, non_blocking=True)
