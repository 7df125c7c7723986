"""What an encoder hands to the decoder."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EncoderOutput:
    """A source after reading; positions of all sentences stand in one row, S = N * L.

    Args:
        states: (B, S, H) the representation of each word, h² in the paper.
        valid: (B, S) True at real words.
        last: (B, Z) the states after each sentence's last word, joined; what the decoder starts
            from.
        importance: (B, S, H) or (B, S, 1) the weights α of the second reading, once for each
            direction; None for encoders that have none.
    """

    states: Tensor
    valid: Tensor
    last: Tensor
    importance: Tensor | None = None
