"""Operations on right-padded sequences: masks, reversal, last states and windows."""

import torch
from torch import Tensor


def valid_positions(lengths: Tensor, size: int) -> Tensor:
    """Return a bool mask that is True at real tokens: (...) lengths -> (..., size)."""
    positions = torch.arange(size, device=lengths.device)  # (size,)
    return positions < lengths.unsqueeze(-1)


def masked_softmax(scores: Tensor, valid: Tensor) -> Tensor:
    """Return the softmax of (..., S) scores over the positions where `valid`, (..., S), is True.

    The weights, (..., S), are 0 at padding, and all 0 if there is no real token.
    """
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~valid, lowest).softmax(dim=-1)
    return weights.masked_fill(~valid, 0.0)


def reverse_sequences(sequences: Tensor, lengths: Tensor) -> Tensor:
    """Reverse the real tokens of (B, L, I) sequences with (B,) lengths; padding stays at the end.

    Reversing the result again gives the input.
    """
    B, L, _ = sequences.shape
    positions = torch.arange(L, device=sequences.device).expand(B, L)
    mirrored = lengths.unsqueeze(1) - 1 - positions  # (B, L), negative at padding
    order = torch.where(mirrored >= 0, mirrored, positions)  # (B, L)
    return sequences.gather(1, order.unsqueeze(-1).expand_as(sequences))


def gather_last_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Return the state at the last real token of each sequence: (B, L, H), (B,) -> (B, H).

    An empty sequence has a state of zeros.
    """
    B, _, H = states.shape
    last = (lengths - 1).clamp_min(0).view(B, 1, 1).expand(B, 1, H)
    return states.gather(1, last).squeeze(1) * (lengths > 0).unsqueeze(1)


def concat_windows(vectors: Tensor, size: int) -> Tensor:
    """Concatenate each window of `size` vectors: (B, L, I) -> (B, L + 1 - size, size * I)."""
    return vectors.unfold(1, size, 1).transpose(2, 3).flatten(2)
