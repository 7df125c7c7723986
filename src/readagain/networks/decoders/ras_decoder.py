"""The recurrent decoder of RAS: an Elman network or an LSTM that looks at the source first."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.affine import Affine
from readagain.networks.decoders.attention_decoder import DecoderState
from readagain.networks.masks import masked_softmax


class RasDecoder(nn.Module):
    """Take the last word, the last state and what that state makes of the source.

    α_{j,t-1} ∝ exp(z_j . h_{t-1});  c_t = Σ_j α_{j,t-1} x_j    (Chopra, Auli and Rush 2016, 3.1)

    Elman: h_t = σ(W_1 y_{t-1} + W_2 h_{t-1} + W_3 c_t)    (section 3.2)
    LSTM: four such sums give i, f, i' and o; m_t = f m_{t-1} + i tanh(i'), h_t = o m_t

    The paper prints no biases and no first state. The sums have a bias here, and the first state is
    learned, the same for all sources: from zeros the first look could only be the source's mean.

    Args:
        cell: which recurrence.
        input_size: width of a summary word, E below.
        source_size: width of a source word, D below.
        hidden_size: width of a state, H below.
    """

    def __init__(
        self,
        *,
        cell: Literal["elman", "lstm"],
        input_size: int,
        source_size: int,
        hidden_size: int,
    ) -> None:
        super().__init__()
        num_sums, num_carried = (4, 2) if cell == "lstm" else (1, 1)
        self.first = nn.Parameter(torch.empty(num_carried, hidden_size))
        self.input = Affine(input_size, num_sums * hidden_size)
        self.weight_context = nn.Parameter(torch.empty(num_sums * hidden_size, source_size))
        self.weight_hidden = nn.Parameter(torch.empty(num_sums * hidden_size, hidden_size))

    def start(self, batch_size: int) -> DecoderState:
        """Return the state before the first word; h_0 and m_0 lie within ±1."""
        carried = torch.tanh(self.first).unsqueeze(1).expand(-1, batch_size, -1)
        return DecoderState(carried[0], carried[1] if len(carried) > 1 else None)

    def forward(
        self, words: Tensor, keys: Tensor, states: Tensor, valid: Tensor, start: DecoderState
    ) -> Tensor:
        """Decode (B, T, E) known words: (B, T, H + D) states with their contexts."""
        inputs = self.input(words)  # (B, T, sums * H)
        state, taken = start, []
        for t in range(words.size(1)):
            state, context, _ = self._step(inputs[:, t], keys, states, valid, state)
            taken.append(torch.cat([state.hidden, context], dim=1))
        return torch.stack(taken, dim=1)

    def step(
        self, word: Tensor, keys: Tensor, states: Tensor, valid: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        """Feed one (B, E) word: the next state, the (B, D) context and its (B, S) weights."""
        return self._step(self.input(word), keys, states, valid, state)

    def _step(
        self, inputs: Tensor, keys: Tensor, states: Tensor, valid: Tensor, state: DecoderState
    ) -> tuple[DecoderState, Tensor, Tensor]:
        scores = torch.bmm(keys, state.hidden.unsqueeze(2)).squeeze(2)  # (B, S)
        weights = masked_softmax(scores, valid)
        context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)  # (B, D)
        # F.linear of a parameter is cast to half precision once, not once a step.
        sums = inputs + F.linear(context, self.weight_context)
        sums = sums + F.linear(state.hidden, self.weight_hidden)
        if state.cell is None:
            return DecoderState(torch.sigmoid(sums), None), context, weights
        admit, keep, candidate, show = sums.chunk(4, dim=1)  # (B, H) each
        memory = torch.sigmoid(keep) * state.cell + torch.sigmoid(admit) * torch.tanh(candidate)
        return DecoderState(torch.sigmoid(show) * memory, memory), context, weights
