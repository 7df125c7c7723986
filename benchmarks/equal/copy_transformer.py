"""Transformer with copying, in plain torch, with about as many parameters as our network.

Layers normalize their input (pre-norm). One softmax covers the vocabulary and the source positions,
as in our network. The weights of the output layer are those of the summary embedding. A copied word
outside the vocabulary is fed back as UNK.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.layers import WordEmbedding
from readagain.networks.network import Network, NetworkState, SourceMemory, StepLogits
from readagain.networks.outputs import copy_target_log_probs
from readagain.text.vocab import UNK

NUM_LAYERS, NUM_HEADS, WIDTH, FEED_FORWARD_WIDTH, DROPOUT = 3, 8, 512, 1536, 0.2
MAX_POSITIONS = 128


@dataclass(frozen=True)
class TransformerState(NetworkState):
    """Decoder state.

    Args:
        memory: the encoded source. Its `keys` are (B, layers, 2, heads, S, width / heads): the keys
            and values of attention to the source.
        past: (B, layers, 2, heads, t, width / heads) keys and values of the t previous words.
    """

    past: Tensor


class Attention(nn.Module):
    """Multi-head attention."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key_value = nn.Linear(WIDTH, 2 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def keys_values(self, states: Tensor) -> Tensor:
        """Project (B, S, width) states to (B, 2, heads, S, width / heads) keys and values."""
        B, S, _ = states.shape
        projected = self.key_value(states).view(B, S, 2, NUM_HEADS, -1)
        return projected.permute(0, 2, 3, 1, 4)

    def forward(
        self,
        inputs: Tensor,
        keys_values: Tensor,
        valid: Tensor | None = None,
        *,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend from (B, T, width) inputs to keys and values; (B, S) `valid` marks real words."""
        B, T, _ = inputs.shape
        query = self.query(inputs).view(B, T, NUM_HEADS, -1).transpose(1, 2)
        attended = F.scaled_dot_product_attention(
            query,
            keys_values[:, 0],
            keys_values[:, 1],
            attn_mask=None if valid is None else valid[:, None, None],
            is_causal=is_causal,
        )  # (B, heads, T, width / heads)
        return self.output(attended.transpose(1, 2).reshape(B, T, WIDTH))


class Layer(nn.Module):
    """Layer of the encoder, or of the decoder if `reads_source`."""

    def __init__(self, *, reads_source: bool) -> None:
        super().__init__()
        self.self_norm, self.self_attention = nn.LayerNorm(WIDTH), Attention()
        if reads_source:
            self.source_norm, self.source_attention = nn.LayerNorm(WIDTH), Attention()
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(WIDTH),
            nn.Linear(WIDTH, FEED_FORWARD_WIDTH),
            nn.GELU(),
            nn.Linear(FEED_FORWARD_WIDTH, WIDTH),
        )
        self.dropout = nn.Dropout(DROPOUT)

    def encode(self, states: Tensor, valid: Tensor) -> Tensor:
        """Map (B, S, width) states of the source to those of the next layer."""
        inputs = self.self_norm(states)
        keys_values = self.self_attention.keys_values(inputs)
        states = states + self.dropout(self.self_attention(inputs, keys_values, valid))
        return states + self.dropout(self.feed_forward(states))

    def decode(
        self, states: Tensor, past: Tensor, source: Tensor, source_valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Map (B, T, width) states of words that follow t previous words to the next layer.

        Args:
            states: states of T words; T is 1 unless t is 0.
            past: (B, 2, heads, t, width / heads) keys and values of the previous words.
            source: (B, 2, heads, S, width / heads) keys and values of the source.
            source_valid: (B, S) True at real words.

        Returns:
            The (B, T, width) states, and keys and values of all t + T words.
        """
        inputs = self.self_norm(states)
        past = torch.cat([past, self.self_attention.keys_values(inputs)], dim=3)
        attended = self.self_attention(inputs, past, is_causal=states.size(1) > 1)
        states = states + self.dropout(attended)
        attended = self.source_attention(self.source_norm(states), source, source_valid)
        states = states + self.dropout(attended)
        return states + self.dropout(self.feed_forward(states)), past


class CopyTransformer(Network[TransformerState]):
    """Encoder and decoder with copying.

    Args:
        source_vocab_size: size of the encoder vocabulary.
        vocab_size: size V of the decoder vocabulary.
    """

    def __init__(self, source_vocab_size: int, vocab_size: int) -> None:
        super().__init__()
        self.source_embedding = WordEmbedding(source_vocab_size, WIDTH)
        self.embedding = WordEmbedding(vocab_size, WIDTH)
        self.source_positions = WordEmbedding(MAX_POSITIONS, WIDTH)
        self.positions = WordEmbedding(MAX_POSITIONS, WIDTH)
        for table in (
            self.source_embedding, self.embedding, self.source_positions, self.positions
        ):  # fmt: skip
            nn.init.normal_(table.weight, std=WIDTH**-0.5)
        self.encoder = nn.ModuleList(Layer(reads_source=False) for _ in range(NUM_LAYERS))
        self.decoder = nn.ModuleList(Layer(reads_source=True) for _ in range(NUM_LAYERS))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.output_bias = nn.Parameter(torch.zeros(vocab_size))
        self.word_query, self.copy_query = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def encode(
        self, source_ids: Tensor, source_lengths: Tensor, source_ext_ids: Tensor
    ) -> TransformerState:
        """Encode sources of one sentence each."""
        ids, lengths = source_ids[:, 0], source_lengths[:, 0]
        steps = torch.arange(ids.size(1), device=ids.device)
        valid = steps < lengths.unsqueeze(1)  # (B, S)
        scale = math.sqrt(WIDTH)
        states = scale * (self.source_embedding(ids) + self.source_positions(steps))
        states = self.dropout(states)  # (B, S, width)
        for layer in self.encoder:
            states = layer.encode(states, valid)
        states = self.encoder_norm(states)
        keys = torch.stack(
            [layer.source_attention.keys_values(states) for layer in self.decoder], 1
        )
        past = keys[:, :, :, :, :0]
        return TransformerState(SourceMemory(states, valid, keys, source_ext_ids), past)

    def decode(self, state: TransformerState, previous_ids: Tensor) -> Tensor:
        """Return the (B, T, width) states for (B, T) previous words."""
        return self._decode(state, previous_ids)[0]

    def _decode(self, state: TransformerState, previous_ids: Tensor) -> tuple[Tensor, Tensor]:
        num_past = state.past.size(4)
        known_ids = torch.where(previous_ids < self.embedding.num_embeddings, previous_ids, UNK)
        steps = torch.arange(known_ids.size(1), device=known_ids.device) + num_past
        states = math.sqrt(WIDTH) * (self.embedding(known_ids) + self.positions(steps))
        states = self.dropout(states)  # (B, T, width)
        past, memory = [], state.memory
        for number, layer in enumerate(self.decoder):
            states, layer_past = layer.decode(
                states, state.past[:, number], memory.keys[:, number], memory.valid
            )
            past.append(layer_past)
        return self.decoder_norm(states), torch.stack(past, 1)

    def _logits(self, outputs: Tensor, memory: SourceMemory) -> tuple[Tensor, Tensor]:
        """Return the (B, T, V) logits of words and the (B, T, S) logits of source positions."""
        words = F.linear(self.word_query(outputs), self.embedding.weight, self.output_bias)
        copies = self.copy_query(outputs) @ memory.states.transpose(1, 2) / math.sqrt(WIDTH)
        return words, copies

    def log_probs(
        self, outputs: Tensor, memory: SourceMemory, target_ids: Tensor, label_smoothing: float
    ) -> Tensor:
        """Return the (B, T) log-probabilities of targets."""
        words, copies = self._logits(outputs, memory)
        return copy_target_log_probs(
            words, copies, memory.valid, memory.ext_ids, target_ids, label_smoothing
        )

    def step(
        self, state: TransformerState, previous_ids: Tensor
    ) -> tuple[StepLogits, TransformerState]:
        """Run one decoder step."""
        outputs, past = self._decode(state, previous_ids.unsqueeze(1))
        words, copies = self._logits(outputs, state.memory)
        copies = copies[:, 0]  # (B, S)
        # The search uses attention for the digits of generated numbers only.
        attention = copies.masked_fill(~state.memory.valid, -torch.inf).softmax(1)
        logits = StepLogits(words[:, 0], copies, attention)
        return logits, TransformerState(state.memory, past)
