"""An LSTM and its gradient, each in one Triton launch."""

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
    """Run the recurrence over L steps; save what the backward pass needs."""
    TEAM: tl.constexpr = H // UNITS  # programs that share these rows, see `launch`
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)
    own_weights = weight + units[None, :] * H

    expected_arrivals = 0
    cell = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        step_offsets = rows[:, None] * L + t
        i, f, g, o = load_gates(inputs + step_offsets * (4 * H) + units[None, :], H, real)
        for k in range(0, H, BLOCK):
            previous_state = tl.load(
                states + (step_offsets - 1) * H + (k + block)[None, :],
                mask=real & (step_offsets > rows[:, None] * L), other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = own_weights + (k + block)[:, None]
            i = tl.dot(previous_state, tl.load(w), i, input_precision=PRECISION)
            f = tl.dot(previous_state, tl.load(w + H * H), f, input_precision=PRECISION)
            g = tl.dot(previous_state, tl.load(w + 2 * H * H), g, input_precision=PRECISION)
            o = tl.dot(previous_state, tl.load(w + 3 * H * H), o, input_precision=PRECISION)
        i, f, g, o, cell = cell_step(i, f, g, o, cell)
        own_offsets = step_offsets * H + units[None, :]
        tl.store(states + own_offsets, o * tanh(cell), mask=real)
        tl.store(cells + own_offsets, cell, mask=real)
        store_gates(gates + step_offsets * (4 * H) + units[None, :], H, real, i, f, g, o)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)


@triton.jit
def _backward(
    gates, cells, states_gradient, inputs_gradient, weight, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Run the L steps backwards; store the gradient of the inputs."""
    TEAM: tl.constexpr = H // UNITS  # programs that share these rows, see `launch`
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)

    expected_arrivals = 0
    d_state = tl.zeros((ROWS, UNITS), tl.float32)
    d_cell = tl.zeros((ROWS, UNITS), tl.float32)
    for step in range(L):
        t = L - 1 - step
        step_offsets = rows[:, None] * L + t
        own_offsets = step_offsets * H + units[None, :]
        i, f, g, o = load_gates(gates + step_offsets * (4 * H) + units[None, :], H, real)
        cell = tl.load(cells + own_offsets, mask=real, other=0.0).to(tl.float32)
        previous_cell = tl.load(
            cells + own_offsets - H, mask=real & (step_offsets > rows[:, None] * L), other=0.0
        ).to(tl.float32)
        d_state += tl.load(states_gradient + own_offsets, mask=real, other=0.0).to(tl.float32)
        d_i, d_f, d_g, d_o, d_cell = cell_step_gradient(
            i, f, g, o, cell, previous_cell, d_state, d_cell
        )
        dx = inputs_gradient + step_offsets * (4 * H)
        store_gates(dx + units[None, :], H, real, d_i, d_f, d_g, d_o)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)

        d_state = tl.zeros((ROWS, UNITS), tl.float32)
        for k in range(0, 4 * H, BLOCK):
            d_all = tl.load(dx + (k + block)[None, :], mask=real, other=0.0, cache_modifier=".cg")
            w = tl.load(weight + (k + block)[:, None] * H + units[None, :])
            d_state = tl.dot(d_all, w, d_state, input_precision=PRECISION)


class Lstm(torch.autograd.Function):
    """An LSTM with the time loop inside the kernel; gates in torch's order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        """Return the (B, L, H) states for (B, L, 4H) projections W x + b, (4H, H) weight."""
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
        by_row = [gates, cells, states_gradient.contiguous(), inputs_gradient]
        launch(_backward, by_row, [weight], hidden_size=H)
        weight_gradient = inputs_gradient.view(B * L, 4 * H).t() @ previous_states(states).view(
            B * L, H
        )
        return inputs_gradient, weight_gradient
