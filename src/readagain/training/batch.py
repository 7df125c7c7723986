"""Padded batches, and the choice of the lengths to which pairs are padded.

Pairs of similar lengths form a bucket, and all batches of a bucket have the same shape. On a GPU, a
CUDA graph is captured for each shape, and the last batch of each bucket is incomplete. So there are
only a few buckets, chosen to minimize padding.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from readagain.search.model import Ints


@dataclass(frozen=True)
class Batch:
    """Batch of padded pairs.

    An incomplete batch is filled up with padding rows, which have no valid target.

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
        """Return a copy on a device; on a GPU, return before the copy is complete."""
        return Batch(*(tensor.to(device, non_blocking=True) for tensor in vars(self).values()))

    def assemble(self) -> "Batch":
        """Return this batch; `BatchIndices.assemble` gathers the words first."""
        return self

    def shape_key(self) -> tuple[int, ...]:
        """Return B, N, L and T; a CUDA graph is captured for each combination."""
        return (*self.source_ids.shape, self.target_ids.size(1))

    def static_copy(self) -> "Batch":
        """Return a copy as the input of a CUDA graph, which reads from fixed memory."""
        return Batch(*(tensor.clone() for tensor in vars(self).values()))

    def copy_from(self, batch: "Batch") -> None:
        """Overwrite the tensors with those of another batch of the same shape."""
        for target, source in zip(vars(self).values(), vars(batch).values(), strict=True):
            target.copy_(source, non_blocking=True)


@dataclass(frozen=True)
class Bucket:
    """Padded lengths of the pairs of a bucket: words per sentence, and per summary without EOS."""

    source_words: int
    summary_words: int


def assign_buckets(
    source_lengths: Ints, summary_lengths: Ints, *, max_buckets: int
) -> list[tuple[Bucket, Ints]]:
    """Divide pairs into buckets of similar lengths; return each with the indices of its pairs.

    `source_lengths` is (P,), the number of words of the longest sentence of each pair;
    `summary_lengths` is (P,), the number of words of each summary. The indices are ascending.
    """
    max_summary_groups = max(1, math.isqrt(max_buckets))
    max_source_groups = max_buckets // max_summary_groups
    buckets = []
    # Grouped by summaries first, since a summary word takes more time than a source word.
    for summary_words, pairs in _group_by_length(summary_lengths, max_summary_groups):
        for source_words, members in _group_by_length(source_lengths[pairs], max_source_groups):
            buckets.append((Bucket(source_words, summary_words), pairs[members]))
    return buckets


def _group_by_length(lengths: Ints, max_groups: int) -> list[tuple[int, Ints]]:
    """Divide sequences into groups; return the maximum length and the indices of each group.

    The indices are ascending. All sequences of a group are padded to the longest of them. Dynamic
    programming finds the groups with the smallest total length after padding.
    """
    counts = np.bincount(lengths)
    sizes = np.flatnonzero(counts)  # (n,) the different lengths, ascending
    # num_below[i]: number of sequences shorter than sizes[i]; the last element counts all.
    num_below = np.concatenate([[0], np.cumsum(counts[sizes])])  # (n + 1,)
    # group_costs[i, j]: length of all sequences of the sizes i to j, padded to sizes[j].
    group_costs = (num_below[None, 1:] - num_below[:-1, None]) * sizes[None, :]  # (n, n)
    is_range = np.tri(len(sizes), dtype=bool).T  # i <= j
    group_costs = np.where(is_range, group_costs, np.inf)
    # After k rounds, cost[j] is the smallest padded length of the sequences of the j smallest
    # sizes, divided into k groups. group_starts[k - 1][j] is the first size of group k if the last
    # size of this group is j.
    cost = np.full(len(sizes) + 1, np.inf)
    cost[0] = 0.0
    group_starts = []
    for _ in range(min(max_groups, len(sizes))):
        new_costs = cost[:-1, None] + group_costs  # (n, n) by first and last size of the new group
        group_starts.append(new_costs.argmin(0))
        cost = np.concatenate([[np.inf], new_costs.min(0)])
    # Starting with the last group, look up where each group starts; the group before ends there.
    ends, end = [], len(sizes) - 1
    for starts in reversed(group_starts):
        ends.append(end)
        end = int(starts[end]) - 1
    max_lengths = sizes[ends[::-1]]
    group_of = np.searchsorted(max_lengths, lengths)  # index of the group of each sequence
    return [(int(size), np.flatnonzero(group_of == k)) for k, size in enumerate(max_lengths)]
