"""Sources of one sentence as plain sequences."""

from torch import Tensor

from readagain.errors import ShapeError


def only_sentence(words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Take the one sentence of each source: (B, 1, L, E), (B, 1) -> (B, L, E), (B,).

    Raises:
        ShapeError: for sources of several sentences.
    """
    if words.size(1) != 1:
        raise ShapeError(
            f"this encoder reads one sequence, the source has {words.size(1)} sentences; "
            "join them, or use a hierarchical encoder"
        )
    return words.squeeze(1), lengths.squeeze(1)
