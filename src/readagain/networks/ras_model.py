"""RAS (Chopra, Auli and Rush 2016): recurrent decoder with a convolutional attentive encoder.

The letters in equations are those of that paper; in shapes they are those of docs/symbols.md.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.decoder import DecoderState, PreviousWordEmbedding
from readagain.networks.layers import Affine, WordEmbedding
from readagain.networks.masks import concat_windows, masked_softmax, valid_positions
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import VocabularyOutput


class ConvAttentiveEncoder(nn.Module):
    """Convolution over source words and their positions, which gives the attention keys.

    a_i = x_i + l_i;  z_ik = Σ_h a_{i+h} . b^k_h    (section 3.1)

    x_i is the embedding of word i, l_i the embedding of position i, and b^k filter k. The attention
    score is the product of the key z_i and the decoder state, so there are as many filters as the
    state has dimensions. Beyond the ends of the source, a is zero.

    The arguments are those of `RasModel`.
    """

    def __init__(
        self, *, embedding_size: int, hidden_size: int, window: int, num_positions: int
    ) -> None:
        super().__init__()
        self.window = window
        self.positions = nn.Parameter(torch.empty(num_positions, embedding_size))  # l
        self.filters = nn.Linear(window * embedding_size, hidden_size, bias=False)  # b

    def forward(self, words: Tensor, valid: Tensor) -> Tensor:
        """Return the (B, S, H) keys z of (B, S, E) words; `valid` is (B, S), True at real words."""
        S = words.size(1)
        position_ids = torch.arange(S, device=words.device).clamp_max(self.positions.size(0) - 1)
        inputs = words + F.embedding(position_ids, self.positions).to(words.dtype)  # (B, S, E)
        inputs = inputs.masked_fill(~valid.unsqueeze(2), 0.0)
        num_before = self.window // 2
        num_after = self.window - 1 - num_before
        padded = F.pad(inputs, (0, 0, num_before, num_after))  # (B, S + window - 1, E)
        keys: Tensor = self.filters(concat_windows(padded, self.window))  # (B, S, H)
        return keys


class RasDecoder(nn.Module):
    """Elman or LSTM decoder with dot-product attention.

    α_{j,t-1} ∝ exp(z_j . h_{t-1});  c_t = Σ_j α_{j,t-1} x_j    (section 3.1)

    Elman: h_t = σ(W_1 y_{t-1} + W_2 h_{t-1} + W_3 c_t)    (section 3.2)
    LSTM: m_t = f m_{t-1} + i tanh(i');  h_t = o m_t

    In the LSTM, the gates i, f and o are sigmoids of three sums like the one in the Elman equation,
    and i' is a fourth sum. The paper defines no biases and no initial state. Here each sum has a
    bias, and the initial state is a parameter, the same for all sources. With an initial state of
    zeros, the first context would be the mean of the source words.

    The arguments are those of `RasModel`.
    """

    def __init__(
        self, *, cell: Literal["elman", "lstm"], embedding_size: int, hidden_size: int
    ) -> None:
        super().__init__()
        num_sums, num_states = (4, 2) if cell == "lstm" else (1, 1)
        self.first = nn.Parameter(torch.empty(num_states, hidden_size))  # initial state before tanh
        self.input = Affine(embedding_size, num_sums * hidden_size)
        self.weight_context = nn.Parameter(torch.empty(num_sums * hidden_size, embedding_size))
        self.weight_hidden = nn.Parameter(torch.empty(num_sums * hidden_size, hidden_size))

    def start(self, batch_size: int) -> DecoderState:
        """Return the state before the first word; tanh keeps its values between -1 and 1."""
        states = torch.tanh(self.first).unsqueeze(1).expand(-1, batch_size, -1)  # (1 or 2, B, H)
        return DecoderState(states[0], states[1] if len(states) > 1 else None)

    def forward(self, words: Tensor, memory: SourceMemory, start: DecoderState) -> Tensor:
        """Run all T steps of a reference summary (teacher forcing).

        `words` is (B, T, E), the embedded previous words. `memory` has the keys z, (B, S, H), and
        the states x, (B, S, E). Returns (B, T, H + E) decoder states and contexts, concatenated.
        """
        inputs = self.input(words)  # (B, T, H or 4H)
        state, outputs = start, []
        for t in range(words.size(1)):
            state, context, _ = self.step(inputs[:, t], memory, state)
            outputs.append(torch.cat([state.hidden, context], dim=1))  # (B, H + E)
        return torch.stack(outputs, dim=1)

    def step(
        self, inputs: Tensor, memory: SourceMemory, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        """Run one step on the (B, H or 4H) projection of the previous word by `self.input`.

        Returns the next state, the (B, E) context and the (B, S) attention weights.
        """
        scores = torch.bmm(memory.keys, state.hidden.unsqueeze(2)).squeeze(2)  # (B, S)
        weights = masked_softmax(scores, memory.valid)
        context = torch.bmm(weights.unsqueeze(1), memory.states).squeeze(1)  # (B, E)
        # Autocast casts the weight of F.linear once. It would cast `self.weight_context.T`, the
        # operand of `@`, in every step.
        sums = inputs + F.linear(context, self.weight_context)  # (B, H or 4H)
        sums = sums + F.linear(state.hidden, self.weight_hidden)
        if state.cell is None:
            return DecoderState(torch.sigmoid(sums), None), context, weights
        input_gate, forget_gate, candidate, output_gate = sums.chunk(4, dim=1)  # (B, H) each
        cell = torch.sigmoid(forget_gate) * state.cell
        cell = cell + torch.sigmoid(input_gate) * torch.tanh(candidate)
        return DecoderState(torch.sigmoid(output_gate) * cell, cell), context, weights


@dataclass(frozen=True)
class RasState(NetworkState):
    """Encoded sources, and the recurrent state of the decoder."""

    decoder: DecoderState


class RasModel(Network[RasState]):
    """RAS network: it scores words from the decoder state and an attention context.

    P_t = softmax(W_4 h_t + W_5 c_t)    (section 3.2)

    The weights of the output layer are W_4 and W_5, side by side.

    Args:
        cell: `elman` or `lstm`.
        embedding_size: width E of a word embedding.
        hidden_size: width H of a decoder state.
        window: width of a filter of the encoder, in words.
        num_positions: number of position embeddings l_i; later positions use the last one.
        dropout: dropout rate of embeddings, states and contexts; 0 in the paper.
    """

    def __init__(
        self,
        *,
        cell: Literal["elman", "lstm"],
        source_vocab_size: int,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        window: int,
        num_positions: int,
        dropout: float,
    ) -> None:
        super().__init__()
        E, H = embedding_size, hidden_size
        self.source_embedding = WordEmbedding(source_vocab_size, E)  # x
        self.encoder = ConvAttentiveEncoder(
            embedding_size=E, hidden_size=H, window=window, num_positions=num_positions
        )
        self.previous_words = PreviousWordEmbedding(vocab_size, E)  # y
        self.decoder = RasDecoder(cell=cell, embedding_size=E, hidden_size=H)
        self.output = VocabularyOutput(H + E, vocab_size)  # W_4 and W_5
        self.dropout = nn.Dropout(dropout)

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> RasState:
        """Encode sources of one sentence (N = 1) and return the state before the first word."""
        words = self.dropout(self.source_embedding(source_ids.squeeze(1)))  # (B, S, E)
        valid = valid_positions(source_lengths.squeeze(1), words.size(1))  # (B, S)
        keys = self.encoder(words, valid)  # (B, S, H)
        memory = SourceMemory(states=words, valid=valid, keys=keys, ext_ids=source_ext_ids)
        return RasState(memory, self.decoder.start(words.size(0)))

    def decode(self, state: RasState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, H + E) decoder states and contexts for (B, T) previous words."""
        words = self.dropout(self.previous_words(previous_ids))  # (B, T, E)
        outputs: Tensor = self.dropout(self.decoder(words, state.memory, state.decoder))
        return outputs

    def step(self, state: RasState, previous_ids: Tensor) -> tuple[StepLogits, RasState]:
        """Run one decoder step on (B,) extended ids of the previous words."""
        memory = state.memory
        word = self.previous_words(previous_ids.unsqueeze(1)).squeeze(1)  # (B, E)
        inputs = self.decoder.input(word)  # (B, H or 4H)
        decoder_state, context, attention = self.decoder.step(inputs, memory, state.decoder)
        logits = self.output(torch.cat([decoder_state.hidden, context], dim=1))  # (B, V)
        return StepLogits(logits, None, attention), RasState(memory, decoder_state)
