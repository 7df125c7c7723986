"""The second reading, biased by what the first one found."""

from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks.recurrent import GruLayer, RnnLayer, read_directions


class Importance(nn.Module):
    """Weigh each word by what the first reading made of it and of the whole.

    α_i = tanh(W_e h¹_i + U_e h¹_n + V_e x_i)    (equation 5)

    With several sentences, their combined vector takes the place of h¹_n.

    Args:
        input_size: width of a word embedding, E below.
        first_size: width of a first-read state, H below.
        context_size: width of the vector of the whole, G below.
        size: weights given to each word: one for each dimension of its state, or one.
        activation: tanh as printed, or sigmoid.
    """

    def __init__(
        self,
        *,
        input_size: int,
        first_size: int,
        context_size: int,
        size: int,
        activation: Literal["tanh", "sigmoid"],
    ) -> None:
        super().__init__()
        self.state = nn.Linear(first_size, size, bias=False)
        self.whole = nn.Linear(context_size, size, bias=False)
        self.word = nn.Linear(input_size, size, bias=False)
        self.activation = torch.tanh if activation == "tanh" else torch.sigmoid

    def forward(self, words: Tensor, first: Tensor, context: Tensor) -> Tensor:
        """Return (B, L, size) weights for (B, L, E) words, (B, L, H) states, a (B, G) whole."""
        whole = self.whole(context).unsqueeze(1)  # (B, 1, size)
        return self.activation(self.state(first) + whole + self.word(words))


class GruSecondPass(nn.Module):
    """Read again with a GRU that passes over unimportant words.

    h²_i = (1 - α_i z_i) h²_{i-1} + (α_i z_i) h̃²_i    (equation 6)

    The paper writes the several-sentence case for a generic RNN²; here the vectors of the
    sentences reach the GRU where h¹_n does in the one-sentence case, through α.
    """

    def __init__(
        self,
        *,
        input_size: int,
        first_size: int,
        context_size: int,
        hidden_size: int,
        bidirectional: bool,
        importance: Literal["vector", "scalar"],
        activation: Literal["tanh", "sigmoid"],
    ) -> None:
        super().__init__()
        self.directions = nn.ModuleList(
            GruLayer(input_size=input_size, hidden_size=hidden_size)
            for _ in range(1 + bidirectional)
        )
        self.importance = nn.ModuleList(
            Importance(
                input_size=input_size,
                first_size=first_size,
                context_size=context_size,
                size=hidden_size if importance == "vector" else 1,
                activation=activation,
            )
            for _ in range(1 + bidirectional)
        )
        self.output_size = hidden_size * (1 + bidirectional)

    def forward(
        self, words: Tensor, first: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return (B, L, H) states, the (B, H) last ones, and the importance of each word."""
        weights = [importance(words, first, context) for importance in self.importance]
        readings = [
            (reading, (words, alpha))
            for reading, alpha in zip(self.directions, weights, strict=True)
        ]
        states, last = read_directions(readings, lengths)
        return states, last, torch.cat(weights, dim=2)


class LstmSecondPass(nn.Module):
    """Read again with an LSTM whose gates see the first reading.

    h²_i = LSTM²([x_i, h¹_i, h¹_n], h²_{i-1})    (equation 8)
    """

    def __init__(
        self,
        *,
        input_size: int,
        first_size: int,
        context_size: int,
        hidden_size: int,
        bidirectional: bool,
    ) -> None:
        super().__init__()
        self.reading = RnnLayer(
            cell="lstm",
            input_size=input_size + first_size + context_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
        )
        self.output_size = self.reading.output_size

    def forward(
        self, words: Tensor, first: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return (B, L, H) states and the (B, H) last ones; an LSTM has no importance."""
        whole = context.unsqueeze(1).expand(-1, words.size(1), -1)  # (B, L, G)
        states, last = self.reading(torch.cat([words, first, whole], dim=2), lengths)
        return states, last, None


SecondPass = GruSecondPass | LstmSecondPass


def build_second_pass(
    *,
    cell: Literal["gru", "lstm"],
    input_size: int,
    first_size: int,
    context_size: int,
    hidden_size: int,
    bidirectional: bool,
    importance: Literal["vector", "scalar"],
    activation: Literal["tanh", "sigmoid"],
) -> SecondPass:
    """Build the second reading of a cell; only the GRU's has importance weights."""
    if cell == "gru":
        return GruSecondPass(
            input_size=input_size,
            first_size=first_size,
            context_size=context_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
            importance=importance,
            activation=activation,
        )
    return LstmSecondPass(
        input_size=input_size,
        first_size=first_size,
        context_size=context_size,
        hidden_size=hidden_size,
        bidirectional=bidirectional,
    )
