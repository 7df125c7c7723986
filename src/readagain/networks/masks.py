"""Operations on right-padded sequences: masks, reversal, last states and windows."""

import torch
from torch import Tensor


def valid_positions(lengths: Tensor, size: int) -> Tensor:
    """Return a mask of real tokens: (...) lengths -> (..., size), bool."""
    positions = torch.arange(size, device=lengths.device)
    return positions < lengths.unsqueeze(-1)


def masked_softmax(scores: Tensor, valid: Tensor) -> Tensor:
    """Compute a softmax over valid entries; return zeros for rows without any."""
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~valid, lowest).softmax(dim=-1)
    return weights.masked_fill(~valid, 0.0)


def reverse_rows(rows: Tensor, lengths: Tensor) -> Tensor:
    """Reverse the (B,) `lengths` real tokens of each of (B, L, I) rows; padding stays at the end.

    Reversing twice returns the input.
    """
    L = rows.size(1)
    positions = torch.arange(L, device=rows.device).expand(rows.size(0), L)  # (B, L)
    mirrored = lengths.unsqueeze(1) - 1 - positions  # (B, L)
    order = torch.where(mirrored >= 0, mirrored, positions)  # (B, L)
    return rows.gather(1, order.unsqueeze(-1).expand_as(rows))


def last_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Return the state at the last real token: (B, L, H) -> (B, H); zeros for empty rows."""
    B, _, H = states.shape
    last = (lengths - 1).clamp_min(0).view(B, 1, 1).expand(B, 1, H)
    return states.gather(1, last).squeeze(1) * (lengths > 0).unsqueeze(1)


def windows(rows: Tensor, size: int) -> Tensor:
    """Concatenate each window of positions: (B, L, I) -> (B, L + 1 - size, size * I)."""
    return rows.unfold(1, size, 1).transpose(2, 3).flatten(2)
