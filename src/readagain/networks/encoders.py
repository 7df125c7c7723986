"""Encoders with one pass (the baseline) or two passes, for one or several sentences."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import Cell, GruLayer, RnnLayer, run_directions


@dataclass(frozen=True)
class EncoderOutput:
    """Output of an encoder; the sentences of a source are concatenated, S = N * L.

    Args:
        states: (B, S, U) representation of each word, h² in the paper.
        valid: (B, S) True at real words.
        last: (B, Z) concatenated last states of the sentences, for the initial decoder state.
        importance: (B, S, U) importance weights α, or one scalar per direction; None if the encoder
            has none.
    """

    states: Tensor
    valid: Tensor
    last: Tensor
    importance: Tensor | None = None


class OnePassEncoder(nn.Module):
    """Recurrent encoder with one pass over one sentence.

    h_i = RNN(x_i, h_{i-1})    (equation 1)

    Args:
        cell: `gru` or `lstm`.
        input_size: width E of a word embedding.
        hidden_size: width of a state in one direction.
        bidirectional: use both directions, U = 2 * hidden_size.
        dropout: dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.reading = RnnLayer(cell, input_size, hidden_size, bidirectional=bidirectional)
        self.dropout = nn.Dropout(dropout)
        self.output_size = self.last_size = self.reading.output_size

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
        words, lengths = words.squeeze(1), lengths.squeeze(1)
        states, last = self.reading(words, lengths)  # (B, L, U), (B, U)
        valid = valid_positions(lengths, words.size(1))
        return EncoderOutput(self.dropout(states), valid, self.dropout(last))


class ReadAgainEncoder(nn.Module):
    """Encoder with two passes, the second conditioned on the first (section 3.1).

    The second pass over a sentence is conditioned on the vectors of all sentences (section 3.1.3).
    A missing sentence has a vector of zeros and no valid position. If bidirectional, both passes
    have two directions, and each direction of the second pass has the states of both directions of
    the first as input.

    Args:
        cell: `gru` or `lstm`, for both passes.
        num_sentences: number N of sentences.
        combine: option 1 (`concat`) or option 2 (`global`) of section 3.1.3.
        input_size: width E of a word embedding.
        hidden_size: width of a state in one direction.
        bidirectional: use both directions, U = 2 * hidden_size.
        importance: for a GRU, one weight per dimension (`vector`) or per word (`scalar`), or
            `none` for a `ConcatSecondPass`, which an LSTM always has.
        activation: for a GRU, activation function of the importance.
        dropout: dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: Cell,
        num_sentences: int = 1,
        combine: Literal["concat", "global"] = "concat",
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        importance: Literal["vector", "scalar", "none"],
        activation: Literal["tanh", "sigmoid"],
        dropout: float,
    ) -> None:
        super().__init__()
        self.first = RnnLayer(cell, input_size, hidden_size, bidirectional=bidirectional)
        self.output_size = U = self.first.output_size
        self.last_size = num_sentences * U
        self.combine: ConcatSentences | GlobalVector = (
            ConcatSentences(num_sentences, U)
            if combine == "concat"
            else GlobalVector(num_sentences, U, dropout=dropout)
        )
        G = self.combine.output_size
        self.second: GruSecondPass | ConcatSecondPass
        if cell == "gru" and importance != "none":
            self.second = GruSecondPass(
                input_size=input_size,
                first_size=U,
                context_size=G,
                hidden_size=hidden_size,
                bidirectional=bidirectional,
                importance=importance,
                activation=activation,
            )
        else:
            layer = RnnLayer(cell, input_size + U + G, hidden_size, bidirectional=bidirectional)
            self.second = ConcatSecondPass(layer)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, N, L, E) embedded words; `lengths` is (B, N)."""
        B, N, L, _ = words.shape
        words, flat_lengths = words.flatten(0, 1), lengths.flatten()  # (B * N, L, E), (B * N,)
        first, vectors = self.first(words, flat_lengths)  # (B * N, L, U), (B * N, U)
        first = self.dropout(first)
        context = self.combine(self.dropout(vectors).view(B, N, -1)).flatten(0, 1)  # (B * N, G)
        states, last, importance = self.second(words, first, context, flat_lengths)
        return EncoderOutput(
            states=self.dropout(states).view(B, N * L, -1),
            valid=valid_positions(lengths, L).flatten(1),
            last=self.dropout(last).view(B, -1),
            importance=None if importance is None else importance.view(B, N * L, -1),
        )


class ConcatSentences(nn.Module):
    """Option 1: the context of each sentence is all sentence vectors (equation 9)."""

    def __init__(self, num_sentences: int, sentence_size: int) -> None:
        super().__init__()
        self.output_size = num_sentences * sentence_size

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the (B, N, G) context of each sentence from (B, N, U) sentence vectors."""
        joined = vectors.flatten(1)  # (B, N * U)
        return joined.unsqueeze(1).expand(-1, vectors.size(1), -1)


class GlobalVector(nn.Module):
    """Option 2: the context of each sentence is its own vector and a global vector.

    h_global = tanh(W_r h¹_n + U_r h'¹_m + v_r)    (equation 10)

    The matrices of all sentences are the weight of one linear layer.
    """

    def __init__(self, num_sentences: int, sentence_size: int, *, dropout: float) -> None:
        super().__init__()
        self.combine = nn.Linear(num_sentences * sentence_size, sentence_size)
        self.dropout = nn.Dropout(dropout)
        self.output_size = 2 * sentence_size

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the (B, N, G) context of each sentence from (B, N, U) sentence vectors."""
        global_vector = self.dropout(torch.tanh(self.combine(vectors.flatten(1))))  # (B, U)
        global_vectors = global_vector.unsqueeze(1).expand_as(vectors)  # (B, N, U)
        return torch.cat([vectors, global_vectors], dim=2)  # (B, N, 2U)


class Importance(nn.Module):
    """Importance weight of each word, from the first pass.

    α_i = tanh(W_e h¹_i + U_e h¹_n + V_e x_i)    (equation 5)

    h¹_n, the last state of the first pass, is the context; with several sentences the context is
    their combined vectors instead (`ConcatSentences` or `GlobalVector`).

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
        self.state = nn.Linear(first_size, size, bias=False)  # W_e
        self.whole = nn.Linear(context_size, size, bias=False)  # U_e, for the context
        self.word = nn.Linear(input_size, size, bias=False)  # V_e
        self.activation = torch.tanh if activation == "tanh" else torch.sigmoid

    def forward(self, words: Tensor, first: Tensor, context: Tensor) -> Tensor:
        """Return (B, L, size) weights for (B, L, E) words, (B, L, U) states, (B, G) context."""
        projected_context = self.whole(context).unsqueeze(1)  # (B, 1, size)
        return self.activation(self.state(first) + projected_context + self.word(words))


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
            GruLayer(input_size, hidden_size) for _ in range(1 + bidirectional)
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

    The paper has only an LSTM here; a GRU is possible too.

    Args:
        layer: the recurrent layer; its input is the concatenation.
    """

    def __init__(self, layer: RnnLayer) -> None:
        super().__init__()
        self.reading = layer

    def forward(
        self, words: Tensor, first: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return (B, L, U) states, (B, U) last states and None, as there is no importance."""
        contexts = context.unsqueeze(1).expand(-1, words.size(1), -1)  # (B, L, G)
        states, last = self.reading(torch.cat([words, first, contexts], dim=2), lengths)
        return states, last, None
