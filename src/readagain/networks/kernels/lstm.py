"""LSTM: forward and backward pass, each in one Triton launch."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from readagain.networks.kernels.launch import (
    cell_step,
    cell_step_gradient,
    launch,
    load_gates,
    previous_states,
    program_indices,
    store_gates,
    tanh,
    team_barrier,
)


@triton.jit
def _forward(
    inputs, states, cells, gates, weight, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Run the LSTM over L steps.

    Reads (B, L, 4H) inputs. Stores (B, L, H) states and, for the backward pass, (B, L, H) cells and
    (B, L, 4H) gates.
    """
    TEAM: tl.constexpr = H // UNITS  # number of programs that share these rows, see launch.py
    counter = counters + tl.program_id(1)
    rows, units, is_row = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)  # hidden units of a block, relative to `block_start`
    # `own_` marks what belongs to the hidden units of this program.
    own_weights = weight + units[None, :] * H

    expected_arrivals = 0
    cell = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        step_offsets = rows[:, None] * L + t  # indices into a (B, L) tensor
        i, f, g, o = load_gates(inputs + step_offsets * (4 * H) + units[None, :], H, is_row)
        for block_start in range(0, H, BLOCK):
            previous_state_block = tl.load(
                states + (step_offsets - 1) * H + (block_start + block)[None, :],
                # The second condition is t > 0: the state before the first step is zero.
                mask=is_row & (step_offsets > rows[:, None] * L), other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = own_weights + (block_start + block)[:, None]
            i = tl.dot(previous_state_block, tl.load(w), i, input_precision=PRECISION)
            f = tl.dot(previous_state_block, tl.load(w + H * H), f, input_precision=PRECISION)
            g = tl.dot(previous_state_block, tl.load(w + 2 * H * H), g, input_precision=PRECISION)
            o = tl.dot(previous_state_block, tl.load(w + 3 * H * H), o, input_precision=PRECISION)
        i, f, g, o, cell = cell_step(i, f, g, o, cell)
        own_offsets = step_offsets * H + units[None, :]
        tl.store(states + own_offsets, o * tanh(cell), mask=is_row)
        tl.store(cells + own_offsets, cell, mask=is_row)
        store_gates(gates + step_offsets * (4 * H) + units[None, :], H, is_row, i, f, g, o)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)


@triton.jit
def _backward(
    gates, cells, states_gradient, inputs_gradient, weight, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Run the L steps backwards.

    Reads gates and cells of the forward pass and the (B, L, H) states_gradient. Stores (B, L, 4H)
    inputs_gradient.
    """
    TEAM: tl.constexpr = H // UNITS  # number of programs that share these rows, see launch.py
    counter = counters + tl.program_id(1)
    rows, units, is_row = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)  # hidden units of a block, relative to `block_start`

    expected_arrivals = 0
    d_state = tl.zeros((ROWS, UNITS), tl.float32)
    d_cell = tl.zeros((ROWS, UNITS), tl.float32)
    for step in range(L):
        t = L - 1 - step
        step_offsets = rows[:, None] * L + t  # indices into a (B, L) tensor
        own_offsets = step_offsets * H + units[None, :]
        i, f, g, o = load_gates(gates + step_offsets * (4 * H) + units[None, :], H, is_row)
        cell = tl.load(cells + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        previous_cell = tl.load(
            cells + own_offsets - H, mask=is_row & (step_offsets > rows[:, None] * L), other=0.0
        ).to(tl.float32)
        d_state += tl.load(states_gradient + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        d_i, d_f, d_g, d_o, d_cell = cell_step_gradient(
            i, f, g, o, cell, previous_cell, d_state, d_cell
        )
        dx = inputs_gradient + step_offsets * (4 * H)  # pointers to the gradients of this step
        store_gates(dx + units[None, :], H, is_row, d_i, d_f, d_g, d_o)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)

        d_state = tl.zeros((ROWS, UNITS), tl.float32)
        for block_start in range(0, 4 * H, BLOCK):
            d_gates_block = tl.load(
                dx + (block_start + block)[None, :], mask=is_row, other=0.0, cache_modifier=".cg"
            )
            w = tl.load(weight + (block_start + block)[:, None] * H + units[None, :])
            d_state = tl.dot(d_gates_block, w, d_state, input_precision=PRECISION)


class Lstm(torch.autograd.Function):
    """LSTM with the time loop inside the kernel; the gates are in torch's order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the (B, L, H) states; the arguments are those of `dispatch.lstm`."""
        B, L, _ = inputs.shape
        H = weight.size(1)
        states, cells = (inputs.new_empty((B, L, H)) for _ in range(2))
        gates = inputs.new_empty((B, L, 4 * H))
        launch(_forward, [inputs.contiguous(), states, cells, gates], [weight], hidden_size=H)
        ctx.save_for_backward(weight, states, cells, gates)
        return states

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the inputs and of the weight."""
        weight, states, cells, gates = ctx.saved_tensors
        B, L, H = states.shape
        inputs_gradient = torch.empty_like(gates)
        batch = [gates, cells, states_gradient.contiguous(), inputs_gradient]
        launch(_backward, batch, [weight], hidden_size=H)
        flat_gradient = inputs_gradient.view(B * L, 4 * H)
        weight_gradient = flat_gradient.t() @ previous_states(states).view(B * L, H)  # (4H, H)
        return inputs_gradient, weight_gradient
