"""Where real words stand in right-padded rows, and the operations that respect it."""

import torch
from torch import Tensor


def valid_positions(lengths: Tensor, size: int) -> Tensor:
    """Mark the real tokens of right-padded rows: (...) -> (..., size), bool."""
    positions = torch.arange(size, device=lengths.device)
    return positions < lengths.unsqueeze(-1)


def masked_softmax(scores: Tensor, valid: Tensor) -> Tensor:
    """Share 1 among the valid entries of the last dimension; a row without any gets zeros."""
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~valid, lowest).softmax(dim=-1)
    return weights.masked_fill(~valid, 0.0)


def reverse_rows(rows: Tensor, lengths: Tensor) -> Tensor:
    """Turn the real tokens of each row around and leave the padding at the end.

    Args:
        rows: (B, L, I) right-padded sequences.
        lengths: (B,) real tokens of each.

    Returns:
        (B, L, I); reversing twice gives the rows back.
    """
    L = rows.size(1)
    positions = torch.arange(L, device=rows.device).expand(rows.size(0), L)  # (B, L)
    mirrored = lengths.unsqueeze(1) - 1 - positions  # (B, L)
    order = torch.where(mirrored >= 0, mirrored, positions)  # (B, L)
    return rows.gather(1, order.unsqueeze(-1).expand_as(rows))


def last_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Pick the state of each row's last real token: (B, L, H) -> (B, H), zeros for empty rows."""
    B, _, H = states.shape
    last = (lengths - 1).clamp_min(0).view(B, 1, 1).expand(B, 1, H)
    return states.gather(1, last).squeeze(1) * (lengths > 0).unsqueeze(1)
