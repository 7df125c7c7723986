"""RAS: a recurrent decoder with a convolutional attentive encoder."""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.decoder import DecoderState, PreviousWords
from readagain.networks.layers import Affine, WordEmbedding
from readagain.networks.masks import masked_softmax, valid_positions, windows
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import VocabularyOutput


class ConvAttentiveEncoder(nn.Module):
    """Vectors of source words from their positions and neighbours.

    a_i = x_i + l_i;  z_ik = Σ_h a_{i+h} . b^k_h    (Chopra, Auli and Rush 2016, section 3.1)

    z_i is the attention key for a decoder state, so there are as many filters as the state has
    dimensions. The source is padded with zeros.

    The arguments are those of `RasModel`.
    """

    def __init__(
        self, *, embedding_size: int, hidden_size: int, window: int, num_positions: int
    ) -> None:
        super().__init__()
        self.window = window
        self.positions = nn.Parameter(torch.empty(num_positions, embedding_size))  # l
        self.filters = nn.Linear(window * embedding_size, hidden_size, bias=False)  # B

    def forward(self, words: Tensor, valid: Tensor) -> Tensor:
        """Return the (B, S, H) vectors z of (B, S, E) words."""
        S = words.size(1)
        position = torch.arange(S, device=words.device).clamp_max(self.positions.size(0) - 1)
        inputs = words + F.embedding(position, self.positions).to(words.dtype)  # (B, S, E)
        inputs = inputs.masked_fill(~valid.unsqueeze(2), 0.0)
        before = self.window // 2
        padded = F.pad(inputs, (0, 0, before, self.window - 1 - before))  # (B, S + window - 1, E)
        aggregated: Tensor = self.filters(windows(padded, self.window))  # (B, S, H)
        return aggregated


class RasDecoder(nn.Module):
    """Elman or LSTM decoder with dot-product attention.

    α_{j,t-1} ∝ exp(z_j . h_{t-1});  c_t = Σ_j α_{j,t-1} x_j    (Chopra, Auli and Rush 2016, 3.1)

    Elman: h_t = σ(W_1 y_{t-1} + W_2 h_{t-1} + W_3 c_t)    (section 3.2)
    LSTM: four such sums give i, f, i' and o; m_t = f m_{t-1} + i tanh(i'), h_t = o m_t

    The paper defines no biases and no initial state. Here the sums have a bias, and the initial
    state is a parameter, the same for all sources. With a zero state, the first context would be
    the mean of the source words.

    The arguments are those of `RasModel`.
    """

    def __init__(
        self, *, cell: Literal["elman", "lstm"], embedding_size: int, hidden_size: int
    ) -> None:
        super().__init__()
        num_sums, num_states = (4, 2) if cell == "lstm" else (1, 1)
        self.first = nn.Parameter(torch.empty(num_states, hidden_size))
        self.input = Affine(embedding_size, num_sums * hidden_size)
        self.weight_context = nn.Parameter(torch.empty(num_sums * hidden_size, embedding_size))
        self.weight_hidden = nn.Parameter(torch.empty(num_sums * hidden_size, hidden_size))

    def start(self, batch_size: int) -> DecoderState:
        """Return the state before the first word; tanh keeps h_0 and m_0 between -1 and 1."""
        states = torch.tanh(self.first).unsqueeze(1).expand(-1, batch_size, -1)
        return DecoderState(states[0], states[1] if len(states) > 1 else None)

    def forward(
        self, words: Tensor, keys: Tensor, states: Tensor, valid: Tensor, start: DecoderState
    ) -> Tensor:
        """Run teacher forcing on (B, T, E) previous words.

        Returns:
            (B, T, H + E) concatenated states and contexts.
        """
        inputs = self.input(words)  # (B, T, H or 4H)
        state, outputs = start, []
        for t in range(words.size(1)):
            state, context, _ = self._step(inputs[:, t], keys, states, valid, state)
            outputs.append(torch.cat([state.hidden, context], dim=1))
        return torch.stack(outputs, dim=1)

    def step(
        self, word: Tensor, keys: Tensor, states: Tensor, valid: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        """Feed one (B, E) previous word; return the next state, (B, E) context, (B, S) weights."""
        return self._step(self.input(word), keys, states, valid, state)

    def _step(
        self, inputs: Tensor, keys: Tensor, states: Tensor, valid: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        scores = torch.bmm(keys, state.hidden.unsqueeze(2)).squeeze(2)  # (B, S)
        weights = masked_softmax(scores, valid)
        context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)  # (B, E)
        # F.linear instead of `@`: autocast then casts each weight once, not once per step.
        sums = inputs + F.linear(context, self.weight_context)
        sums = sums + F.linear(state.hidden, self.weight_hidden)
        if state.cell is None:
            return DecoderState(torch.sigmoid(sums), None), context, weights
        input_gate, forget, candidate, output = sums.chunk(4, dim=1)  # (B, H) each
        cell = torch.sigmoid(forget) * state.cell + torch.sigmoid(input_gate) * torch.tanh(
            candidate
        )
        return DecoderState(torch.sigmoid(output) * cell, cell), context, weights


@dataclass(frozen=True)
class RasState(NetworkState):
    """Decoder state: encoded sources and recurrent state."""

    decoder: DecoderState


class RasModel(Network[RasState]):
    """RAS network: scores words from the decoder state and an attention context.

    P_t = softmax(W_4 h_t + W_5 c_t)    (Chopra, Auli and Rush 2016, section 3.2)

    W_4 and W_5 are the two halves of one matrix. The attention keys are z_j, the values x_j.

    Args:
        cell: `elman` or `lstm`.
        source_vocab_size: size of the source vocabulary.
        vocab_size: size of the summary vocabulary.
        embedding_size: width E of a word.
        hidden_size: width H of a decoder state.
        window: width q of a filter of the encoder.
        num_positions: number of position embeddings l_i; later positions share the last.
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
        self.previous_words = PreviousWords(vocab_size, E)  # y
        self.decoder = RasDecoder(cell=cell, embedding_size=E, hidden_size=H)
        self.output = VocabularyOutput(H + E, vocab_size)  # W_4 and W_5
        self.dropout = nn.Dropout(dropout)

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> RasState:
        """Encode sources of one sentence and return the state before the first word."""
        words = self.dropout(self.source_embedding(source_ids.squeeze(1)))  # (B, S, E)
        valid = valid_positions(source_lengths.squeeze(1), words.size(1))  # (B, S)
        keys = self.encoder(words, valid)  # (B, S, H)
        memory = SourceMemory(states=words, valid=valid, keys=keys, ext_ids=source_ext_ids)
        return RasState(memory, self.decoder.start(words.size(0)))

    def decode(self, state: RasState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, H + E) decoder states and contexts for (B, T) previous words."""
        memory = state.memory
        words = self.dropout(self.previous_words(previous_ids))  # (B, T, E)
        outputs: Tensor = self.dropout(
            self.decoder(words, memory.keys, memory.states, memory.valid, state.decoder)
        )
        return outputs

    def step(self, state: RasState, previous_ids: Tensor) -> tuple[StepLogits, RasState]:
        """Feed (B,) extended ids, first BOS; return the logits of the next word."""
        memory = state.memory
        word = self.previous_words(previous_ids.unsqueeze(1)).squeeze(1)  # (B, E)
        decoder, context, attention = self.decoder.step(
            word, memory.keys, memory.states, memory.valid, state.decoder
        )
        logits = self.output(torch.cat([decoder.hidden, context], dim=1))  # (B, V)
        return StepLogits(logits, None, attention), RasState(memory, decoder)
