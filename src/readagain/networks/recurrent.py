"""Recurrent layers: the GRU and LSTM of Zeng et al. 2016, in one or two directions."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.layers import Affine, affine
from readagain.networks.masks import gather_last_states, reverse_sequences

CellType = Literal["gru", "lstm"]


class GruLayer(nn.Module):
    """The paper's GRU with optional importance weights, run from left to right.

    As in the paper, the reset gate is applied to the state before the matrix product. `nn.GRU`
    applies it after the product and cannot replace this layer.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input = Affine(input_size, 3 * hidden_size)
        self.weight_gates = nn.Parameter(torch.empty(2 * hidden_size, hidden_size))
        self.weight_candidate = nn.Parameter(torch.empty(hidden_size, hidden_size))

    def forward(self, inputs: Tensor, lengths: Tensor, importance: Tensor | None = None) -> Tensor:
        """Return the (B, L, H) states of (B, L, I) inputs with (B,) lengths.

        `importance` is (B, L, H) or (B, L, 1), importance weights; None for a plain GRU.
        """
        if importance is not None:
            H = self.weight_candidate.size(0)
            importance = importance.expand(-1, -1, H)
        projected = self.input(inputs)  # (B, L, 3H)
        return dispatch.importance_gru(
            projected, self.weight_gates, self.weight_candidate, importance, lengths
        )


class LstmLayer(nn.Module):
    """The LSTM of equation 7, run from left to right. States at padding are undefined."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Return the (B, L, H) states of (B, L, I) inputs; (B,) `lengths` are not needed."""
        # Training in half precision temporarily replaces the parameters by plain tensors
        # (training/step.py: `call_in_precision`). `parameters` returns these tensors, while
        # `get_parameter` would raise an error.
        weight_ih, weight_hh, bias_ih, bias_hh = self.lstm.parameters()
        if dispatch.has_recurrent_kernel(weight_hh):
            projected = affine(inputs, weight_ih, bias_ih + bias_hh)  # (B, L, 4H)
            return dispatch.lstm(projected, weight_hh)
        states: Tensor = self.lstm(inputs)[0]
        return states


class RnnLayer(nn.Module):
    """Recurrent layer with one or two directions.

    Args:
        cell: `gru` or `lstm`.
        input_size: width I of an input vector.
        hidden_size: width H of a state in one direction.
        bidirectional: concatenate the states of both directions to the width U = 2 * H; otherwise
            U = H.
    """

    def __init__(
        self, cell: CellType, input_size: int, hidden_size: int, *, bidirectional: bool
    ) -> None:
        super().__init__()
        layer_class = GruLayer if cell == "gru" else LstmLayer
        num_directions = 2 if bidirectional else 1
        self.directions = nn.ModuleList(
            layer_class(input_size, hidden_size) for _ in range(num_directions)
        )
        self.output_size = num_directions * hidden_size

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, L, U) states of (B, L, I) inputs and the (B, U) last states."""
        return run_directions([(layer, (inputs,)) for layer in self.directions], lengths)


def run_directions(
    directions: Sequence[tuple[nn.Module, tuple[Tensor, ...]]], lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Run the first layer from left to right and the second, if any, from right to left.

    Args:
        directions: one or two layers, each with its inputs: (B, L, I) vectors and, for a GRU, the
            (B, L, H or 1) importance. All inputs are in text order.
        lengths: (B,) number of real words of each sequence.

    Returns:
        (B, L, U) states in text order and (B, U) last states; those of two directions are
        concatenated. The last state from right to left is the state at the first word.
    """
    states, last_states = [], []
    for index, (layer, inputs) in enumerate(directions):
        is_backward = index == 1
        if is_backward:
            inputs = tuple(reverse_sequences(tensor, lengths) for tensor in inputs)
        output = layer(inputs[0], lengths, *inputs[1:])  # (B, L, H)
        last_states.append(gather_last_states(output, lengths))  # (B, H)
        states.append(reverse_sequences(output, lengths) if is_backward else output)
    if len(states) == 1:  # torch.cat would copy the states
        return states[0].contiguous(), last_states[0]
    return torch.cat(states, dim=2), torch.cat(last_states, dim=1)
