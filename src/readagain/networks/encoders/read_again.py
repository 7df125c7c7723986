"""Read-Again encoder for one sentence."""

from typing import Literal

from torch import Tensor, nn

from readagain.networks.encoders.encoder_output import EncoderOutput, only_sentence
from readagain.networks.encoders.second_pass import build_second_pass
from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import RnnLayer


class ReadAgainEncoder(nn.Module):
    """Encoder with two passes, the second conditioned on the first (sections 3.1.1 and 3.1.2).

    If bidirectional, both passes have two directions, and each direction of the second pass sees
    both of the first.

    Args:
        cell: `gru` or `lstm`, for both passes.
        input_size: width E of a word embedding.
        hidden_size: width of a state in one direction.
        bidirectional: use both directions, H = 2 * hidden_size.
        importance: GRU only: one weight per dimension, or one per word.
        activation: GRU only: activation of the weights.
        dropout: dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: Literal["gru", "lstm"],
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        importance: Literal["vector", "scalar"],
        activation: Literal["tanh", "sigmoid"],
        dropout: float,
    ) -> None:
        super().__init__()
        self.first = RnnLayer(
            cell=cell,
            input_size=input_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
        )
        self.second = build_second_pass(
            cell=cell,
            input_size=input_size,
            first_size=self.first.output_size,
            context_size=self.first.output_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
            importance=importance,
            activation=activation,
        )
        self.dropout = nn.Dropout(dropout)
        self.output_size = self.second.output_size
        self.last_size = self.second.output_size

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
        words, lengths = only_sentence(words, lengths)
        first, whole = self.first(words, lengths)  # (B, L, H), (B, H)
        states, last, importance = self.second(
            words, self.dropout(first), self.dropout(whole), lengths
        )
        return EncoderOutput(
            states=self.dropout(states),
            valid=valid_positions(lengths, words.size(1)),
            last=self.dropout(last),
            importance=importance,
        )
