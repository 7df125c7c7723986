"""Encoders with one pass (the baseline) or two passes, for one or several sentences.

Sections and equations are those of Zeng et al. 2016.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import CellType, GruLayer, RnnLayer, run_directions


@dataclass(frozen=True)
class EncoderOutput:
    """Output of an encoder; the N sentences of a source are concatenated, S = N * L.

    Args:
        states: (B, S, U) representation of each word, h² in the paper.
        valid: (B, S) True at real words.
        last_states: (B, Z) concatenated last states of the sentences, for the initial decoder
            state.
        importance: importance weights α of each word: (B, S, U) for one weight per dimension of a
            state, (B, S, 1 or 2) for one weight per direction; None for an encoder without α.
    """

    states: Tensor
    valid: Tensor
    last_states: Tensor
    importance: Tensor | None = None


class OnePassEncoder(nn.Module):
    """Recurrent encoder with one pass over one sentence.

    h_i = RNN(x_i, h_{i-1})    (equation 1)

    The arguments are those of `RnnLayer`, and the dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: CellType,
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        # The name `reading` is part of the keys of saved weights.
        self.reading = RnnLayer(cell, input_size, hidden_size, bidirectional=bidirectional)
        self.dropout = nn.Dropout(dropout)
        self.output_size = self.last_size = self.reading.output_size  # U

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, 1, L, E) embedded words; `lengths` is (B, 1)."""
        words, lengths = words.squeeze(1), lengths.squeeze(1)  # (B, L, E), (B,)
        states, last_states = self.reading(words, lengths)  # (B, L, U), (B, U)
        valid = valid_positions(lengths, words.size(1))  # (B, L)
        return EncoderOutput(self.dropout(states), valid, self.dropout(last_states))


class ReadAgainEncoder(nn.Module):
    """Encoder with two passes over the words; the second uses the result of the first.

    The vector of a sentence is the last state of the first pass (section 3.1). With several
    sentences, the second pass over each sentence gets the vectors of all sentences (section 3.1.3).
    A missing sentence has a vector of zeros and no valid position. Each direction of the second
    pass gets the first-pass states of both directions.

    Args:
        cell: `gru` or `lstm`, for both passes.
        num_sentences: number N of sentences.
        combine: how sentence vectors are combined: `concat` (option 1 of section 3.1.3) or `global`
            (option 2).
        input_size: width E of a word embedding.
        hidden_size: width H of a state in one direction.
        bidirectional: whether both passes have two directions.
        importance: for a GRU, `vector` (one importance weight per dimension of a state), `scalar`
            (one per word) or `none`. A GRU with `none` and every LSTM use `ConcatSecondPass`.
        activation: activation function of the importance, for a GRU.
        dropout: dropout rate of the states.
    """

    def __init__(
        self,
        *,
        cell: CellType,
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
        # First pass, combination of sentence vectors, second pass.
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
            size = hidden_size if importance == "vector" else 1
            num_directions = len(self.first.directions)
            self.second = GruSecondPass(
                [GruLayer(input_size, hidden_size) for _ in range(num_directions)],
                [
                    ImportanceWeights(input_size, U, G, size, activation=activation)
                    for _ in range(num_directions)
                ],
            )
        else:
            layer = RnnLayer(cell, input_size + U + G, hidden_size, bidirectional=bidirectional)
            self.second = ConcatSecondPass(layer)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, N, L, E) embedded words; `lengths` is (B, N)."""
        B, N, L, _ = words.shape
        # Both passes treat the sentences of all sources as one batch of B * N sentences.
        words, flat_lengths = words.flatten(0, 1), lengths.flatten()  # (B * N, L, E), (B * N,)
        first_states, vectors = self.first(words, flat_lengths)  # (B * N, L, U), (B * N, U)
        first_states = self.dropout(first_states)
        context = self.combine(self.dropout(vectors).view(B, N, -1)).flatten(0, 1)  # (B * N, G)
        states, last_states, importance = self.second(words, first_states, context, flat_lengths)
        return EncoderOutput(
            states=self.dropout(states).view(B, N * L, -1),
            valid=valid_positions(lengths, L).flatten(1),
            last_states=self.dropout(last_states).view(B, -1),
            importance=None if importance is None else importance.view(B, N * L, -1),
        )


class ConcatSentences(nn.Module):
    """Option 1: the context of each sentence is the vectors of all sentences (equation 9)."""

    def __init__(self, num_sentences: int, sentence_size: int) -> None:
        super().__init__()
        self.output_size = num_sentences * sentence_size

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the (B, N, G) context of each sentence from (B, N, U) sentence vectors."""
        joined = vectors.flatten(1)  # (B, N * U)
        return joined.unsqueeze(1).expand(-1, vectors.size(1), -1)


class GlobalVector(nn.Module):
    """Option 2: the context of each sentence is its own vector and a global vector.

    h_global = tanh(W_r h¹_n + U_r h'¹_m + v_r)    (equation 10, for two sentences)

    `combine` is one linear layer over the concatenated sentence vectors: its weight is [W_r, U_r],
    with one matrix per sentence, and its bias is v_r.
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


class ImportanceWeights(nn.Module):
    """Importance weights of each word, from the result of the first pass.

    α_i = tanh(W_e h¹_i + U_e h¹_n + V_e x_i)    (equation 5)

    The context is h¹_n, the last state of the first pass. With several sentences it is the output
    of `ConcatSentences` or `GlobalVector` instead.

    Args:
        input_size: width E of a word embedding x_i.
        first_size: width U of a first-pass state h¹_i.
        context_size: width G of the context.
        size: number of weights per word: the hidden size H, or 1.
        activation: tanh as in the paper, or sigmoid.
    """

    def __init__(
        self,
        input_size: int,
        first_size: int,
        context_size: int,
        size: int,
        *,
        activation: Literal["tanh", "sigmoid"],
    ) -> None:
        super().__init__()
        self.state = nn.Linear(first_size, size, bias=False)  # W_e
        self.whole = nn.Linear(context_size, size, bias=False)  # U_e; "whole" is in saved weights
        self.word = nn.Linear(input_size, size, bias=False)  # V_e
        self.activation = torch.tanh if activation == "tanh" else torch.sigmoid

    def forward(self, words: Tensor, first_states: Tensor, context: Tensor) -> Tensor:
        """Return (B, L, size) weights for (B, L, E) words, (B, L, U) states, (B, G) context."""
        projected_context = self.whole(context).unsqueeze(1)  # (B, 1, size)
        return self.activation(self.state(first_states) + projected_context + self.word(words))


class GruSecondPass(nn.Module):
    """Second pass with a GRU: the importance of a word scales the update of the state.

    h²_i = (1 - α_i z_i) h²_{i-1} + (α_i z_i) h̃²_i    (equation 6)

    For several sentences, the paper does not say how the GRU uses the combined sentence vectors.
    Here they replace h¹_n in the equation of α.

    Args:
        directions: the GRU of each direction.
        importance: the importance weights of each direction.
    """

    def __init__(self, directions: list[GruLayer], importance: list[ImportanceWeights]) -> None:
        super().__init__()
        self.directions = nn.ModuleList(directions)
        self.importance = nn.ModuleList(importance)

    def forward(
        self, words: Tensor, first_states: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the second pass over (B, L, E) embedded words, with one sentence per row.

        `first_states` is (B, L, U), `context` (B, G) and `lengths` (B,). Returns the (B, L, U)
        states, the (B, U) last states and the importance: (B, L, U) weights, or (B, L, 1 or 2)
        scalars, one per direction.
        """
        weights = [importance(words, first_states, context) for importance in self.importance]
        directions = [
            (layer, (words, alpha)) for layer, alpha in zip(self.directions, weights, strict=True)
        ]
        states, last_states = run_directions(directions, lengths)
        return states, last_states, torch.cat(weights, dim=2)


class ConcatSecondPass(nn.Module):
    """Second pass without importance: the result of the first pass is part of the input.

    h²_i = LSTM²([x_i, h¹_i, h¹_n], h²_{i-1})    (equation 8)

    The paper uses only an LSTM here; this class also accepts a GRU.

    Args:
        layer: the recurrent layer, for inputs of width E + U + G.
    """

    def __init__(self, layer: RnnLayer) -> None:
        super().__init__()
        self.reading = layer  # the name is part of the keys of saved weights

    def forward(
        self, words: Tensor, first_states: Tensor, context: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, None]:
        """Return (B, L, U) states, (B, U) last states and None in place of the importance.

        The arguments are those of `GruSecondPass.forward`.
        """
        contexts = context.unsqueeze(1).expand(-1, words.size(1), -1)  # (B, L, G)
        inputs = torch.cat([words, first_states, contexts], dim=2)  # (B, L, E + U + G)
        states, last_states = self.reading(inputs, lengths)
        return states, last_states, None
