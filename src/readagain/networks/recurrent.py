"""Recurrent layers: the paper's GRU and LSTM, in one or two directions."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.layers import Affine, affine
from readagain.networks.masks import last_states, reverse_rows

Cell = Literal["gru", "lstm"]


class GruLayer(nn.Module):
    """The paper's GRU with optional importance weights, run from left to right.

    The reset gate is applied to the state before the matrix product, as in the paper; cuDNN's GRU
    applies it after.

    Args:
        input_size: width I of the input.
        hidden_size: width H of a state.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input = Affine(input_size, 3 * hidden_size)
        self.weight_gates = nn.Parameter(torch.empty(2 * hidden_size, hidden_size))
        self.weight_candidate = nn.Parameter(torch.empty(hidden_size, hidden_size))

    def forward(self, inputs: Tensor, lengths: Tensor, importance: Tensor | None = None) -> Tensor:
        """Return the (B, L, H) states of (B, L, I) inputs; `importance` is (B, L, H or 1)."""
        if importance is not None:
            H = self.weight_candidate.size(0)
            importance = importance.expand(-1, -1, H)
        projected = self.input(inputs)  # (B, L, 3H)
        return dispatch.importance_gru(
            projected, self.weight_gates, self.weight_candidate, importance, lengths
        )


class LstmLayer(nn.Module):
    """The LSTM of equation 7, run from left to right. States of padding are undefined."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Return the (B, L, H) states of (B, L, I) inputs."""
        # Half-precision training temporarily puts plain tensors in the place of the parameters
        # (`call_in_precision`). `get_parameter` would reject them; `parameters` returns them.
        weight_ih, weight_hh, bias_ih, bias_hh = self.lstm.parameters()
        if dispatch.has_lstm_kernel(weight_hh):
            return dispatch.lstm(affine(inputs, weight_ih, bias_ih + bias_hh), weight_hh)
        states: Tensor = self.lstm(inputs)[0]
        return states


class RnnLayer(nn.Module):
    """Recurrent layer with one or two directions.

    Args:
        cell: `gru` or `lstm`.
        input_size: width I of the input.
        hidden_size: width of a state in one direction.
        bidirectional: concatenate the states of both directions, H = 2 * hidden_size.
    """

    def __init__(
        self, cell: Cell, input_size: int, hidden_size: int, *, bidirectional: bool
    ) -> None:
        super().__init__()
        layer = GruLayer if cell == "gru" else LstmLayer
        self.directions = nn.ModuleList(
            layer(input_size, hidden_size) for _ in range(1 + bidirectional)
        )
        self.output_size = hidden_size * (1 + bidirectional)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, L, H) states of (B, L, I) inputs and the (B, H) last states."""
        return run_directions([(layer, (inputs,)) for layer in self.directions], lengths)


def run_directions(
    directions: Sequence[tuple[nn.Module, tuple[Tensor, ...]]], lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Run the first module from left to right and the second, if any, from right to left.

    Args:
        directions: modules with their (B, L, ...) inputs in text order.
        lengths: (B,) number of real words of each row.

    Returns:
        (B, L, H) states in text order and (B, H) last states of each direction, concatenated.
    """
    states, last = [], []
    for index, (layer, inputs) in enumerate(directions):
        is_backward = index == 1
        if is_backward:
            inputs = tuple(reverse_rows(each, lengths) for each in inputs)
        output = layer(inputs[0], lengths, *inputs[1:])  # (B, L, H)
        last.append(last_states(output, lengths))
        states.append(reverse_rows(output, lengths) if is_backward else output)
    if len(states) == 1:  # without the copy that torch.cat would make
        return states[0].contiguous(), last[0]
    return torch.cat(states, dim=2), torch.cat(last, dim=1)
