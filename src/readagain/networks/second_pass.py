"""Second pass of an encoder, conditioned on the first pass."""

from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks.recurrent import GruLayer, RnnLayer, run_directions


class Importance(nn.Module):
    """Importance weight of each word, from the first pass.

    α_i = tanh(W_e h¹_i + U_e h¹_n + V_e x_i)    (equation 5)

    With several sentences, h¹_n is replaced by their combined vector.

    Args:
        input_size: width E of a word embedding.
        first_size: width U of a first-pass state.
        context_size: width G of the context.
        size: number of weights per word: one per dimension of its state, or one.
        activation: tanh as in the paper, or sigmoid.
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
        """Return (B, L, size) weights for (B, L, E) words, (B, L, U) states, (B, G) context."""
        whole = self.whole(context).unsqueeze(1)  # (B, 1, size)
        return self.activation(self.state(first) + whole + self.word(words))


class GruSecondPass(nn.Module):
    """Second pass with a GRU whose updates are scaled by importance.

    h²_i = (1 - α_i z_i) h²_{i-1} + (α_i z_i) h̃²_i    (equation 6)

    The paper defines the pass over several sentences only for a generic RNN²; here the sentence
    vectors replace h¹_n in α.
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
        """Return (B, L, U) states, (B, U) last states and the importance of each word."""
        weights = [importance(words, first, context) for importance in self.importance]
        directions = [
            (layer, (words, alpha)) for layer, alpha in zip(self.directions, weights, strict=True)
        ]
        states, last = run_directions(directions, lengths)
        return states, last, torch.cat(weights, dim=2)


class ConcatSecondPass(nn.Module):
    """Second pass over words, first-pass states and context, without importance.

    h²_i = LSTM²([x_i, h¹_i, h¹_n], h²_{i-1})    (equation 8)

    The paper reads so with an LSTM only.
    """

    def __init__(
        self,
        *,
        cell: Literal["gru", "lstm"],
        input_size: int,
        first_size: int,
        context_size: int,
        hidden_size: int,
        bidirectional: bool,
    ) -> None:
        super().__init__()
        self.reading = RnnLayer(
            cell=cell,
            input_size=input_size + first_size + context_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
        )
        self.output_size = self.reading.output_size

    def forward(
        self, words: Tensor, first: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return (B, L, U) states, (B, U) last states and None, as there is no importance."""
        whole = context.unsqueeze(1).expand(-1, words.size(1), -1)  # (B, L, G)
        states, last = self.reading(torch.cat([words, first, whole], dim=2), lengths)
        return states, last, None
