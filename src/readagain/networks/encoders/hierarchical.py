"""Read-Again encoder for several sentences."""

from typing import Literal

import torch
from torch import Tensor, nn

from readagain.errors import ShapeError
from readagain.networks.encoders.encoder_output import EncoderOutput
from readagain.networks.encoders.second_pass import build_second_pass
from readagain.networks.masks import valid_positions
from readagain.networks.recurrent import RnnLayer


class ConcatSentences(nn.Module):
    """Option 1: the second pass of each sentence sees all sentence vectors (equation 9)."""

    def __init__(self, *, num_sentences: int, sentence_size: int) -> None:
        super().__init__()
        self.output_size = num_sentences * sentence_size

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the (B, N, G) context of each sentence from (B, N, H) sentence vectors."""
        joined = vectors.flatten(1)  # (B, N * H)
        return joined.unsqueeze(1).expand(-1, vectors.size(1), -1)


class GlobalVector(nn.Module):
    """Option 2: the second pass of each sentence sees its own vector and a global one.

    h_global = tanh(W_r h¹_n + U_r h'¹_m + v_r)    (equation 10)

    The matrices of all sentences are the weight of one linear layer.
    """

    def __init__(self, *, num_sentences: int, sentence_size: int, dropout: float) -> None:
        super().__init__()
        self.combine = nn.Linear(num_sentences * sentence_size, sentence_size)
        self.dropout = nn.Dropout(dropout)
        self.output_size = 2 * sentence_size

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the (B, N, G) context of each sentence from (B, N, H) sentence vectors."""
        whole = self.dropout(torch.tanh(self.combine(vectors.flatten(1))))  # (B, H)
        return torch.cat([vectors, whole.unsqueeze(1).expand_as(vectors)], dim=2)  # (B, N, 2H)


class HierarchicalEncoder(nn.Module):
    """Encoder whose second passes are conditioned on all sentences (section 3.1.3).

    A missing sentence has a vector of zeros and no valid position.

    Args:
        cell: `gru` or `lstm`, for both passes.
        num_sentences: number N of sentences.
        combine: option 1 (`concat`) or option 2 (`global`).
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
        num_sentences: int,
        combine: Literal["concat", "global"],
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
        importance: Literal["vector", "scalar"],
        activation: Literal["tanh", "sigmoid"],
        dropout: float,
    ) -> None:
        super().__init__()
        self.num_sentences = num_sentences
        self.first = RnnLayer(
            cell=cell,
            input_size=input_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
        )
        sentence_size = self.first.output_size
        self.combine: ConcatSentences | GlobalVector
        if combine == "concat":
            self.combine = ConcatSentences(num_sentences=num_sentences, sentence_size=sentence_size)
        else:
            self.combine = GlobalVector(
                num_sentences=num_sentences, sentence_size=sentence_size, dropout=dropout
            )
        self.second = build_second_pass(
            cell=cell,
            input_size=input_size,
            first_size=sentence_size,
            context_size=self.combine.output_size,
            hidden_size=hidden_size,
            bidirectional=bidirectional,
            importance=importance,
            activation=activation,
        )
        self.dropout = nn.Dropout(dropout)
        self.output_size = self.second.output_size
        self.last_size = num_sentences * self.second.output_size

    def forward(self, words: Tensor, lengths: Tensor) -> EncoderOutput:
        """Encode (B, N, L, E) embedded words; `lengths` is (B, N)."""
        B, N, L, _ = words.shape
        if self.num_sentences != N:
            raise ShapeError(
                f"encoder: reads {self.num_sentences} sentences, the source has {N}; "
                "pad it with empty sentences"
            )
        words, flat_lengths = words.flatten(0, 1), lengths.flatten()  # (B * N, L, E), (B * N,)
        first, vectors = self.first(words, flat_lengths)  # (B * N, L, H), (B * N, H)
        context = self.combine(self.dropout(vectors).view(B, N, -1))  # (B, N, G)
        states, last, importance = self.second(
            words, self.dropout(first), context.flatten(0, 1), flat_lengths
        )
        return EncoderOutput(
            states=self.dropout(states).view(B, N * L, -1),
            valid=valid_positions(lengths, L).flatten(1),
            last=self.dropout(last).view(B, -1),
            importance=None if importance is None else importance.view(B, N * L, -1),
        )
