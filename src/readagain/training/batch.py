"""One batch: padded pairs as the network takes them."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Padded pairs; rows that only fill a batch up have no valid target.

    Args:
        source_ids: (B, N, L) ids in the encoder's vocabulary.
        source_lengths: (B, N) words of each sentence.
        source_ext_ids: (B, S) ids in the extended decoder vocabulary, S = N * L.
        previous_ids: (B, T) extended ids, START and then the summary.
        target_ids: (B, T) extended ids, the summary and then END.
        target_valid: (B, T) True at the summary and its END.
    """

    source_ids: Tensor
    source_lengths: Tensor
    source_ext_ids: Tensor
    previous_ids: Tensor
    target_ids: Tensor
    target_valid: Tensor

    def inputs(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return what the network is called with, in the order of its arguments."""
        return (
            self.source_ids,
            self.source_lengths,
            self.source_ext_ids,
            self.previous_ids,
            self.target_ids,
        )

    def to(self, device: torch.device) -> "Batch":
        """Move to a device without waiting for it."""
        return Batch(*(each.to(device, non_blocking=True) for each in vars(self).values()))

    def assemble(self) -> "Batch":
        """Return itself; `Rows` have work to do here."""
        return self

    def size(self) -> tuple[int, ...]:
        """Return B, N, L and T: what a captured update depends on."""
        return (*self.source_ids.shape, self.target_ids.size(1))

    def held(self) -> "Batch":
        """Return a copy for a captured graph to read."""
        return Batch(*(each.clone() for each in vars(self).values()))

    def hold(self, given: "Batch") -> None:
        """Take the content of another batch of this size, in place."""
        for mine, other in zip(vars(self).values(), vars(given).values(), strict=True):
            mine.copy_(other, non_blocking=True)
