"""Each place of a row together with its neighbours, as one long vector."""

import torch.nn.functional as F
from torch import Tensor


def windows(rows: Tensor, *, before: int, after: int) -> Tensor:
    """Lay the vectors around each place end to end, first to last; zeros beyond the ends.

    Args:
        rows: (B, L, I) vectors.
        before: places before each one that it sees.
        after: places after it.

    Returns:
        (B, L, (before + 1 + after) * I).
    """
    padded = F.pad(rows, (0, 0, before, after))  # (B, before + L + after, I)
    return full_windows(padded, before + 1 + after)


def full_windows(rows: Tensor, size: int) -> Tensor:
    """Lay every `size` neighbours end to end: (B, L, I) -> (B, L + 1 - size, size * I)."""
    return rows.unfold(1, size, 1).transpose(2, 3).flatten(2)
