"""Output of an encoder, and input of those that read one sequence."""

from dataclasses import dataclass

from torch import Tensor

from readagain.errors import ShapeError


@dataclass(frozen=True)
class EncoderOutput:
    """Output of an encoder, with all sentences in one row, S = N * L.

    Args:
        states: (B, S, H) representation of each word, h² in the paper.
        valid: (B, S) True at real words.
        last: (B, Z) concatenated last states of the sentences, for the first decoder state.
        importance: (B, S, H) or (B, S, 1) importance weights α per direction; None without any.
    """

    states: Tensor
    valid: Tensor
    last: Tensor
    importance: Tensor | None = None


def only_sentence(words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return the only sentence of each source: (B, 1, L, E), (B, 1) -> (B, L, E), (B,).

    Raises:
        ShapeError: if sources have several sentences.
    """
    if words.size(1) != 1:
        raise ShapeError(
            f"encoder: reads one sequence, the source has {words.size(1)} sentences; "
            "join them or use a hierarchical encoder"
        )
    return words.squeeze(1), lengths.squeeze(1)
