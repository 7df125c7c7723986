"""The decoder's parameters, and its two ways of running: step by step, or teacher forced."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.affine import Affine
from readagain.networks.functional import DecoderWeights, gru_decoder_step, lstm_decoder_step


@dataclass(frozen=True)
class DecoderState:
    """What the decoder carries from word to word: (B, H) each; a GRU has no cell."""

    hidden: Tensor
    cell: Tensor | None

    def select(self, rows: Tensor) -> "DecoderState":
        """Keep, drop or repeat rows."""
        cell = None if self.cell is None else self.cell.index_select(0, rows)
        return DecoderState(self.hidden.index_select(0, rows), cell)


class AttentionDecoder(nn.Module):
    """Write with an LSTM that looks back at the source before each word.

    s_t = LSTM([y_{t-1}, c_t], s_{t-1}), c_t attended from s_{t-1}    (equations 12 to 14)

    Args:
        cell: the LSTM, or a GRU in its place.
        input_size: width of a word embedding, E below.
        source_size: width of a source state, D below.
        last_size: width of the encoder's last states, Z below.
        hidden_size: width of the decoder state, H below.
        attention_size: width in which states are compared, A below.
    """

    def __init__(
        self,
        *,
        cell: Literal["lstm", "gru"],
        input_size: int,
        source_size: int,
        last_size: int,
        hidden_size: int,
        attention_size: int,
    ) -> None:
        super().__init__()
        self.cell = cell
        # Gates, and vectors that a step hands to the next.
        num_gates, num_carried = (4, 2) if cell == "lstm" else (3, 1)
        # The paper does not say how decoding starts: a projection of the last second-read states.
        self.begin = Affine(last_size, num_carried * hidden_size)
        self.key = nn.Linear(source_size, attention_size, bias=False)  # U_a
        self.weight_query = nn.Parameter(torch.empty(attention_size, hidden_size))  # W_a
        self.weight_score = nn.Parameter(torch.empty(attention_size))  # v_a
        self.input = Affine(input_size, num_gates * hidden_size)
        self.weight_context = nn.Parameter(torch.empty(num_gates * hidden_size, source_size))
        self.weight_hidden = nn.Parameter(torch.empty(num_gates * hidden_size, hidden_size))

    def weights(self) -> DecoderWeights:
        """Gather what a step multiplies with."""
        return DecoderWeights(
            self.weight_query, self.weight_score, self.weight_context, self.weight_hidden
        )

    def start(self, last: Tensor) -> DecoderState:
        """Return the state before the first word, from the encoder's (B, Z) last states."""
        begun = torch.tanh(self.begin(last))
        if self.cell == "gru":
            return DecoderState(begun, None)
        hidden, cell = begun.chunk(2, dim=1)
        return DecoderState(hidden, cell)

    def keys(self, states: Tensor) -> Tensor:
        """Project the source once, not once per word: (B, S, D) -> (B, S, A)."""
        projected: Tensor = self.key(states)
        return projected

    def forward(
        self, words: Tensor, keys: Tensor, states: Tensor, valid: Tensor, start: DecoderState
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Decode (B, T, E) known previous words: (B, T, H) states, contexts, (B, T, S) weights."""
        return dispatch.decode_teacher_forced(
            self.input(words), keys, states, valid, start.hidden, start.cell, self.weights()
        )

    def step(
        self, word: Tensor, keys: Tensor, states: Tensor, valid: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        """Feed one (B, E) previous word; return the next state, (B, D) context, (B, S) weights."""
        seen = (self.input(word), keys, states, valid, state.hidden)
        if state.cell is None:
            hidden, context, weights = gru_decoder_step(*seen, self.weights())
            return DecoderState(hidden, None), context, weights
        hidden, cell, context, weights = lstm_decoder_step(*seen, state.cell, self.weights())
        return DecoderState(hidden, cell), context, weights
