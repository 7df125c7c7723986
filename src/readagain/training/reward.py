"""Reward of sampled summaries: ROUGE-like overlap of ids with a reference, on the device.

ROUGE itself (`rouge/`) is computed from text, too slow for thousands of samples per update.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.text.vocab import UNK


def overlap_reward(
    summary_ids: Tensor, summary_lengths: Tensor, reference_ids: Tensor, reference_lengths: Tensor
) -> Tensor:
    """Return the mean F1 of unigrams, bigrams and the longest common subsequence.

    Args:
        summary_ids: (B, T) extended ids, right-padded, without EOS.
        summary_lengths: (B,) number of words of each summary.
        reference_ids: (B, Y) extended ids with EOS; UNK never matches. Y is at most 63, since
            `_longest_common` stores positions as bits of an int64.
        reference_lengths: (B,) number of words of each reference.

    Returns:
        (B,) rewards between 0 and 1; 0 for an empty summary or reference.
    """
    T, Y = summary_ids.size(1), reference_ids.size(1)
    summary_valid = torch.arange(T, device=summary_ids.device) < summary_lengths.unsqueeze(1)
    reference_valid = torch.arange(Y, device=summary_ids.device) < reference_lengths.unsqueeze(1)
    equal = summary_ids.unsqueeze(2) == reference_ids.unsqueeze(1)  # (B, T, Y)
    equal &= summary_valid.unsqueeze(2) & (reference_valid & (reference_ids != UNK)).unsqueeze(1)
    equal_bigrams = equal & F.pad(equal[:, 1:, 1:], (0, 1, 0, 1))  # (B, T, Y): start of a bigram
    unigram_f1 = _f1(_matched(equal), summary_lengths, reference_lengths)
    bigram_f1 = _f1(_matched(equal_bigrams), summary_lengths - 1, reference_lengths - 1)
    subsequence_f1 = _f1(_longest_common(equal), summary_lengths, reference_lengths)
    return (unigram_f1 + bigram_f1 + subsequence_f1) / 3


def _matched(equal: Tensor) -> Tensor:
    """Return the (B,) clipped counts of matching n-grams.

    An n-gram with i occurrences in the summary and j in the reference counts min(i, j) times.
    """
    # Equal n-grams match the same reference positions, where their occurrences can be counted.
    before = equal.long().cumsum(1) - 1  # (B, T, Y): earlier occurrences in the summary
    rank = equal.long().cumsum(2) - 1  # (B, T, Y): earlier matches in the reference
    return (equal & (rank == before)).any(2).sum(1)


def _longest_common(equal: Tensor) -> Tensor:
    """Return the (B,) lengths of the longest common subsequences.

    A row of the dynamic program is stored as bits of an integer (Hyyrö 2004).
    """
    B, T, Y = equal.shape
    bits = torch.ones((), dtype=torch.int64, device=equal.device) << torch.arange(
        Y, device=equal.device
    )
    matches = (equal * bits).sum(2)  # (B, T)
    state = torch.full((B,), -1, dtype=torch.int64, device=equal.device)
    for t in range(T):
        kept = state & matches[:, t]
        state = (state + kept) | (state - kept)
    return Y - ((state.unsqueeze(1) >> torch.arange(Y, device=equal.device)) & 1).sum(1)


def _f1(matched: Tensor, summary_size: Tensor, reference_size: Tensor) -> Tensor:
    return 2 * matched / (summary_size + reference_size).clamp_min(1)
