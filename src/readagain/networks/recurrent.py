"""Readings of a sequence, one word after another: the paper's GRU and LSTM."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from readagain.networks import dispatch
from readagain.networks.affine import Affine, affine
from readagain.networks.masks import last_states, reverse_rows


class GruLayer(nn.Module):
    """Read from left to right with the paper's GRU, optionally weighing each word.

    The reset gate meets the state before the matrix product, as printed; cuDNN's GRU applies it
    after, and is another function.

    Args:
        input_size: width of what is read at each position, I below.
        hidden_size: width of a state, H below.
    """

    def __init__(self, *, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input = Affine(input_size, 3 * hidden_size)
        self.weight_gates = nn.Parameter(torch.empty(2 * hidden_size, hidden_size))
        self.weight_candidate = nn.Parameter(torch.empty(hidden_size, hidden_size))

    def forward(self, inputs: Tensor, lengths: Tensor, importance: Tensor | None = None) -> Tensor:
        """Read (B, L, I) inputs into (B, L, H) states; `importance` is (B, L, H or 1)."""
        if importance is not None:
            H = self.weight_candidate.size(0)
            importance = importance.expand(-1, -1, H)
        projected = self.input(inputs)  # (B, L, 3H)
        return dispatch.gated_gru(
            projected, self.weight_gates, self.weight_candidate, importance, lengths
        )


class LstmLayer(nn.Module):
    """Read from left to right with the LSTM of equation 7, through torch's fused kernels.

    States beyond a row's length are whatever padding gives; nothing before them depends on it.
    """

    def __init__(self, *, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Read (B, L, I) inputs into (B, L, H) states."""
        # Not `get_parameter`: the caller may have replaced the weights by cast ones.
        weight, recurrent, bias, second_bias = self.lstm.parameters()
        if dispatch.has_lstm_kernel(recurrent):
            return dispatch.lstm(affine(inputs, weight, bias + second_bias), recurrent)
        states: Tensor = self.lstm(inputs)[0]
        return states


class RnnLayer(nn.Module):
    """Read once, from the left or from both ends.

    Args:
        cell: which recurrence.
        input_size: width of what is read at each position, I below.
        hidden_size: width of a state in one direction.
        bidirectional: read from both ends and join the states, so that H below is twice as wide.
    """

    def __init__(
        self,
        *,
        cell: Literal["gru", "lstm"],
        input_size: int,
        hidden_size: int,
        bidirectional: bool,
    ) -> None:
        super().__init__()
        reading = GruLayer if cell == "gru" else LstmLayer
        self.directions = nn.ModuleList(
            reading(input_size=input_size, hidden_size=hidden_size)
            for _ in range(1 + bidirectional)
        )
        self.output_size = hidden_size * (1 + bidirectional)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, L, H) states of (B, L, I) inputs, and the (B, H) last ones."""
        return read_directions([(reading, (inputs,)) for reading in self.directions], lengths)


def read_directions(
    readings: Sequence[tuple[nn.Module, tuple[Tensor, ...]]], lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Read forwards with the first module, backwards with the second if there is one.

    Args:
        readings: each a module and its (B, L, ...) inputs in the order of the text.
        lengths: (B,) real words of each row.

    Returns:
        The states in the order of the text, (B, L, H), and the states after the last word read in
        each direction, (B, H); several directions are joined in H.
    """
    states, last = [], []
    for is_backwards, (reading, inputs) in enumerate(readings):
        if is_backwards:
            inputs = tuple(reverse_rows(each, lengths) for each in inputs)
        read = reading(inputs[0], lengths, *inputs[1:])  # (B, L, H)
        last.append(last_states(read, lengths))
        states.append(reverse_rows(read, lengths) if is_backwards else read)
    if len(states) == 1:  # joining would copy what already lies as it should
        return states[0].contiguous(), last[0]
    return torch.cat(states, dim=2), torch.cat(last, dim=1)
