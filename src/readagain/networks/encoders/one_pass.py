"""One-pass encoder, the baseline."""

from typing import Literal

from torch import Tensor, nn

from readagain.networks.encoders.encoder_output import EncoderOutput, only_sentence
from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import RnnLayer


class OnePassEncoder(nn.Module):
    """Recurrent encoder with one pass.

    h_i = RNN(x_i, h_{i-1})    (equation 1)

    Args:
        cell: `gru` or `lstm`.
        input_size: width E of a word embedding.
        hidden_size: width of a state in one direction.
        bidirectional: use both directions, H = 2 * hidden_size.
        dropout: dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: Literal["gru", "lstm"],
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.reading = RnnLayer(
            cell=cell,
            input_size=input_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
        )
        self.dropout = nn.Dropout(dropout)
        self.output_size = self.reading.output_size
        self.last_size = self.reading.output_size

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
        words, lengths = only_sentence(words, lengths)
        states, last = self.reading(words, lengths)  # (B, L, H), (B, H)
        return EncoderOutput(
            states=self.dropout(states),
            valid=valid_positions(lengths, words.size(1)),
            last=self.dropout(last),
        )
