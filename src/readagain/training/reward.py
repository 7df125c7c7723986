"""Reward of sampled summaries: ROUGE-like overlap with a reference, on ids and on the device.

ROUGE itself (`rouge/`) works on text; the reward is computed for thousands of samples per update.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.text.vocab import UNK


def overlap_reward(
    summary_ids: Tensor, summary_lengths: Tensor, reference_ids: Tensor, reference_lengths: Tensor
) -> Tensor:
    """Return the mean of the F1 of words, of pairs of words and of the longest common subsequence.

    Args:
        summary_ids: (B, T) extended ids, right-padded, without EOS.
        summary_lengths: (B,) words of each.
        reference_ids: (B, U) likewise, with EOS after at most 62 words; UNK never matches.
        reference_lengths: (B,) words of each.

    Returns:
        (B,) rewards between 0 and 1; 0 for an empty summary or reference.
    """
    T, U = summary_ids.size(1), reference_ids.size(1)
    summary_valid = torch.arange(T, device=summary_ids.device) < summary_lengths.unsqueeze(1)
    reference_valid = torch.arange(U, device=summary_ids.device) < reference_lengths.unsqueeze(1)
    equal = summary_ids.unsqueeze(2) == reference_ids.unsqueeze(1)  # (B, T, U)
    equal &= summary_valid.unsqueeze(2) & (reference_valid & (reference_ids != UNK)).unsqueeze(1)
    twice = equal & F.pad(equal[:, 1:, 1:], (0, 1, 0, 1))  # (B, T, U): start of a bigram
    words = _f1(_matched(equal), summary_lengths, reference_lengths)
    pairs = _f1(_matched(twice), summary_lengths - 1, reference_lengths - 1)
    run = _f1(_longest_common(equal), summary_lengths, reference_lengths)
    return (words + pairs + run) / 3


def _matched(equal: Tensor) -> Tensor:
    """Return the (B,) clipped counts of matching n-grams.

    An n-gram with n occurrences in the summary and m in the reference counts min(n, m) times.
    """
    # Equal n-grams match the same positions, so earlier occurrences are counted there.
    before = equal.long().cumsum(1) - 1  # (B, T, U): earlier occurrences in the summary
    rank = equal.long().cumsum(2) - 1  # (B, T, U): earlier matches in the reference
    return (equal & (rank == before)).any(2).sum(1)


def _longest_common(equal: Tensor) -> Tensor:
    """Return the (B,) lengths of the longest common subsequences.

    A row of the dynamic program is stored as bits of an integer (Hyyrö 2004).
    """
    B, T, U = equal.shape
    bits = torch.ones((), dtype=torch.int64, device=equal.device) << torch.arange(
        U, device=equal.device
    )
    matches = (equal * bits).sum(2)  # (B, T)
    state = torch.full((B,), -1, dtype=torch.int64, device=equal.device)
    for t in range(T):
        kept = state & matches[:, t]
        state = (state + kept) | (state - kept)
    return U - ((state.unsqueeze(1) >> torch.arange(U, device=equal.device)) & 1).sum(1)


def _f1(matched: Tensor, summary_size: Tensor, reference_size: Tensor) -> Tensor:
    return 2 * matched / (summary_size + reference_size).clamp_min(1)
