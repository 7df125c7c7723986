"""Attention decoder, and the embedding of its inputs, the previous words.

Equations are those of Zeng et al. 2016.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.functional import DecoderWeights, decoder_step
from readagain.networks.layers import Affine, WordEmbedding
from readagain.networks.network import SourceMemory
from readagain.networks.recurrent import CellType
from readagain.text.vocab import UNK


@dataclass(frozen=True)
class DecoderState:
    """Recurrent state of the decoder, (B, H) each; `cell` is None for a GRU."""

    hidden: Tensor
    cell: Tensor | None


class AttentionDecoder(nn.Module):
    """LSTM or GRU decoder with attention.

    s_t = LSTM([y_{t-1}, c_t], s_{t-1})    (equations 12 to 14)

    y_{t-1} is the previous word. The context c_t comes from attention with s_{t-1} as query.

    Args:
        cell: `lstm` as in the paper, or `gru`.
        input_size: width E of a word embedding.
        source_size: width U of a source state.
        last_size: width Z of the encoder's last states, which give the initial state; None for an
            initial state of zeros.
        hidden_size: width H of the decoder state.
        attention_size: width A of attention queries and keys.
    """

    def __init__(
        self,
        *,
        cell: CellType,
        input_size: int,
        source_size: int,
        last_size: int | None,
        hidden_size: int,
        attention_size: int,
    ) -> None:
        super().__init__()
        self.is_lstm = cell == "lstm"
        # The state of an LSTM is two vectors (hidden and cell), the state of a GRU is one vector.
        num_gates, num_vectors = (4, 2) if self.is_lstm else (3, 1)
        # The paper does not define the initial state. Here it is a projection of the encoder's last
        # states. The name `begin` is part of the keys of saved weights.
        self.begin = None if last_size is None else Affine(last_size, num_vectors * hidden_size)
        self.hidden_size = hidden_size
        # U_a projects the states of the second reading to attention keys, once per source.
        self.key = nn.Linear(source_size, attention_size, bias=False)
        self.weight_query = nn.Parameter(torch.empty(attention_size, hidden_size))  # W_a
        self.weight_score = nn.Parameter(torch.empty(attention_size))  # v_a
        self.input = Affine(input_size, num_gates * hidden_size)
        self.weight_context = nn.Parameter(torch.empty(num_gates * hidden_size, source_size))
        self.weight_hidden = nn.Parameter(torch.empty(num_gates * hidden_size, hidden_size))

    def weights(self) -> DecoderWeights:
        """Return the weights of `decoder_step`."""
        return DecoderWeights(
            self.weight_query, self.weight_score, self.weight_context, self.weight_hidden
        )

    def start(self, last_states: Tensor) -> DecoderState:
        """Return the state before the first word, from the encoder's (B, Z) last states."""
        if self.begin is None:
            zeros = last_states.new_zeros(last_states.size(0), self.hidden_size)
            return DecoderState(zeros, zeros if self.is_lstm else None)
        initial = torch.tanh(self.begin(last_states))  # (B, 2H), or (B, H) for a GRU
        if not self.is_lstm:
            return DecoderState(initial, None)
        hidden, cell = initial.chunk(2, dim=1)  # (B, H) each
        return DecoderState(hidden, cell)

    def forward(self, words: Tensor, memory: SourceMemory, start: DecoderState) -> Tensor:
        """Run all T steps of a reference summary (teacher forcing).

        `words` is (B, T, E), the embedded previous words. Returns the (B, T, H) decoder states.
        """
        source = memory.keys, memory.states, memory.valid
        return dispatch.decode_teacher_forced(
            self.input(words), *source, start.hidden, start.cell, self.weights()
        )

    def step(
        self, word: Tensor, memory: SourceMemory, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        """Run one step on the (B, E) embedded previous word.

        Returns the next state, the (B, U) context and the (B, S) attention weights.
        """
        source = memory.keys, memory.states, memory.valid
        hidden, cell, context, attention = decoder_step(
            self.input(word), *source, state.hidden, state.cell, self.weights()
        )
        return DecoderState(hidden, cell), context, attention


class PreviousWordEmbedding(nn.Module):
    """Embedding of previous words of the summary, which may be copied out-of-vocabulary words.

    The extended id V + i is the OOV word at source position i. Its embedding is computed from the
    encoder state h²_i at this position: p_i = tanh(W_c h²_i + b_c) (equation 15). In a model
    without p_i, all OOV words have the embedding of UNK.

    `source_size` is the width U of a source state; None for a model without p_i.
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, *, source_size: int | None = None
    ) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = WordEmbedding(vocab_size, embedding_size)
        # W_c and b_c. The name `copied` is part of the keys of saved weights.
        self.copied = None if source_size is None else Affine(source_size, embedding_size)

    def embed_positions(self, states: Tensor) -> Tensor | None:
        """Compute p_i for all positions: (B, S, U) -> (B, S, E); None for a model without p_i."""
        return None if self.copied is None else torch.tanh(self.copied(states))

    def forward(self, previous_ids: Tensor, copy_embeddings: Tensor | None = None) -> Tensor:
        """Embed (B, T) extended ids as (B, T, E) vectors.

        `copy_embeddings` is (B, S, E), p_i of all positions; None for a model without p_i.
        """
        is_known = previous_ids < self.vocab_size  # (B, T)
        vocab_ids = torch.where(is_known, previous_ids, UNK)  # (B, T)
        vocab_embeddings: Tensor = self.embedding(vocab_ids)  # (B, T, E)
        if copy_embeddings is None:
            return vocab_embeddings
        positions = (previous_ids - self.vocab_size).clamp_min(0).unsqueeze(-1)  # (B, T, 1)
        oov_embeddings = copy_embeddings.gather(1, positions.expand_as(vocab_embeddings))
        return torch.where(is_known.unsqueeze(-1), vocab_embeddings, oov_embeddings)  # (B, T, E)
