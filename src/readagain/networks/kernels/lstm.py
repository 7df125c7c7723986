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
    program_indices,
    states_before,
    store_gates,
    tanh,
    team_barrier,
)


@triton.jit
def _read(
    inputs, states, cells, gates, weight, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Read L words; save what the gradient needs. Shapes: see `Lstm.forward`."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)
    of_own = weight + units[None, :] * H

    arrivals = 0
    cell = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        at = rows[:, None] * L + t
        i, f, g, o = load_gates(inputs + at * (4 * H) + units[None, :], H, real)
        for k in range(0, H, BLOCK):
            before = tl.load(
                states + (at - 1) * H + (k + block)[None, :],
                mask=real & (at > rows[:, None] * L), other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = of_own + (k + block)[:, None]
            i = tl.dot(before, tl.load(w), i, input_precision=PRECISION)
            f = tl.dot(before, tl.load(w + H * H), f, input_precision=PRECISION)
            g = tl.dot(before, tl.load(w + 2 * H * H), g, input_precision=PRECISION)
            o = tl.dot(before, tl.load(w + 3 * H * H), o, input_precision=PRECISION)
        i, f, g, o, cell = cell_step(i, f, g, o, cell)
        own = at * H + units[None, :]
        tl.store(states + own, o * tanh(cell), mask=real)
        tl.store(cells + own, cell, mask=real)
        store_gates(gates + at * (4 * H) + units[None, :], H, real, i, f, g, o)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)


@triton.jit
def _read_gradient(
    gates, cells, states_gradient, inputs_gradient, weight, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Process the L words backwards; store the gradient of the inputs."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)

    arrivals = 0
    d_state = tl.zeros((ROWS, UNITS), tl.float32)
    d_cell = tl.zeros((ROWS, UNITS), tl.float32)
    for back in range(L):
        t = L - 1 - back
        at = rows[:, None] * L + t
        own = at * H + units[None, :]
        i, f, g, o = load_gates(gates + at * (4 * H) + units[None, :], H, real)
        cell = tl.load(cells + own, mask=real, other=0.0).to(tl.float32)
        before = tl.load(cells + own - H, mask=real & (at > rows[:, None] * L), other=0.0).to(
            tl.float32
        )
        d_state += tl.load(states_gradient + own, mask=real, other=0.0).to(tl.float32)
        d_i, d_f, d_g, d_o, d_cell = cell_step_gradient(i, f, g, o, cell, before, d_state, d_cell)
        dx = inputs_gradient + at * (4 * H)
        store_gates(dx + units[None, :], H, real, d_i, d_f, d_g, d_o)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)

        d_state = tl.zeros((ROWS, UNITS), tl.float32)
        for k in range(0, 4 * H, BLOCK):
            d_all = tl.load(dx + (k + block)[None, :], mask=real, other=0.0, cache_modifier=".cg")
            w = tl.load(weight + (k + block)[:, None] * H + units[None, :])
            d_state = tl.dot(d_all, w, d_state, input_precision=PRECISION)


class Lstm(torch.autograd.Function):
    """An LSTM with the time loop inside the kernel; gates in torch's order i, f, g, o."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        """Read (B, L, 4H) x-parts with the (4H, H) recurrent weight into (B, L, H) states."""
        B, L, _ = inputs.shape
        H = weight.size(1)
        states, cells = (inputs.new_empty((B, L, H)) for _ in range(2))
        gates = inputs.new_empty((B, L, 4 * H))
        launch(_read, [inputs.contiguous(), states, cells, gates], [weight], hidden_size=H)
        ctx.save_for_backward(weight, states, cells, gates)
        return states

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the inputs and of the weight."""
        weight, states, cells, gates = ctx.saved_tensors
        B, L, H = states.shape
        inputs_gradient = torch.empty_like(gates)
        by_row = [gates, cells, states_gradient.contiguous(), inputs_gradient]
        launch(_read_gradient, by_row, [weight], hidden_size=H)
        before = states_before(states).view(B * L, H)
        return inputs_gradient, inputs_gradient.view(B * L, 4 * H).t() @ before
