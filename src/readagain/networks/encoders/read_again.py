"""Read the source twice: the paper's encoder for one sentence."""

from typing import Literal

from torch import Tensor, nn

from readagain.networks.encoders.encoder_output import EncoderOutput
from readagain.networks.encoders.second_pass import build_second_pass
from readagain.networks.encoders.sentences import only_sentence
from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import RnnLayer


class ReadAgainEncoder(nn.Module):
    """Read to the end, then read again knowing the whole (sections 3.1.1 and 3.1.2).

    Read from both ends, both readings have two directions, and the second sees the first-read
    states of both.

    Args:
        cell: which recurrence, in both readings.
        input_size: width of a word embedding, E below.
        hidden_size: width of a state in one direction.
        bidirectional: do both readings from both ends, so that H below is twice as wide.
        importance: GRU only: a weight for each dimension, or one for each word.
        activation: GRU only: what bounds the weights.
        dropout: share of the states' entries that training leaves out.
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
        """Read (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
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
