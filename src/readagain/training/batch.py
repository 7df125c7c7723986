"""Padded batches, and the choice of their shapes.

Each shape needs its own CUDA graph on a GPU, and has one incomplete batch per epoch. So there are
only a few shapes, chosen to minimize padding.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
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


Ints = npt.NDArray[np.integer]


@dataclass(frozen=True, order=True)
class Bucket:
    """Padded shape: number of words per sentence, and of the summary without EOS."""

    source_words: int
    summary_words: int


def assign_buckets(
    source_lengths: Ints, summary_lengths: Ints, *, max_buckets: int
) -> list[tuple[Bucket, Ints]]:
    """Assign every pair to a bucket that is large enough.

    Args:
        source_lengths: (P,) number of words of the longest sentence of each pair.
        summary_lengths: (P,) number of words of each summary.
        max_buckets: the maximum number of buckets.

    Returns:
        Each bucket with the indices of its pairs, in order.
    """
    num_summary_groups = max(1, math.isqrt(max_buckets))
    num_source_groups = max_buckets // num_summary_groups
    buckets = []
    # Summaries first, since a summary word takes more time than a source word.
    for summary_words, members in _group_by_length(summary_lengths, num_summary_groups):
        for source_words, group in _group_by_length(source_lengths[members], num_source_groups):
            buckets.append((Bucket(source_words, summary_words), members[group]))
    return buckets


def _group_by_length(lengths: Ints, max_groups: int) -> list[tuple[int, Ints]]:
    """Group sequences by length with minimal padding, by dynamic programming.

    Returns:
        The maximum length of each group and the indices of its members.
    """
    counts = np.bincount(lengths)
    sizes = np.flatnonzero(counts)  # the different lengths, ascending
    totals = np.concatenate([[0], np.cumsum(counts[sizes])])
    # cost[j]: minimum total length, padding included, of the j smallest sizes in the groups so far.
    cost = np.full(len(sizes) + 1, np.inf)
    cost[0] = 0.0
    choices = []
    for _ in range(min(max_groups, len(sizes))):
        # A group of the sizes i to j - 1 pads all of its members to size j - 1.
        group_costs = (totals[None, 1:] - totals[:-1, None]) * sizes[None, :]  # (i, j - 1)
        is_possible = np.tri(len(sizes), dtype=bool).T
        new_costs = cost[:-1, None] + np.where(is_possible, group_costs, np.inf)
        choices.append(new_costs.argmin(0))
        cost = np.concatenate([[np.inf], new_costs.min(0)])
    ends, end = [], len(sizes)
    for choice in reversed(choices):
        ends.append(end)
        end = int(choice[end - 1])
    max_lengths = sizes[np.array(ends[::-1]) - 1]
    group_of = np.searchsorted(max_lengths, lengths)
    return [(int(size), np.flatnonzero(group_of == k)) for k, size in enumerate(max_lengths)]
