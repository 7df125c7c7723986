"""An LSTM and its gradient, each in one Triton launch."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from readagain.networks.kernels.launch import (
    dot_precision,
    plan_launch,
    states_before,
    tanh,
    team_barrier,
)


@triton.jit
def _read(
    inputs, weight, states, cells, gates, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Read L words; save what the gradient needs. Shapes: see `Lstm.forward`."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    units = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    block = tl.arange(0, BLOCK)
    real = (rows < B)[:, None]
    rows = rows.to(tl.int64)
    of_own = weight + units[None, :] * H

    arrivals = 0
    cell = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        at = rows[:, None] * L + t
        x = inputs + at * (4 * H) + units[None, :]
        i = tl.load(x, mask=real, other=0.0).to(tl.float32)
        f = tl.load(x + H, mask=real, other=0.0).to(tl.float32)
        g = tl.load(x + 2 * H, mask=real, other=0.0).to(tl.float32)
        o = tl.load(x + 3 * H, mask=real, other=0.0).to(tl.float32)
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
        i = tl.sigmoid(i)
        f = tl.sigmoid(f)
        g = tanh(g)
        o = tl.sigmoid(o)
        cell = f * cell + i * g
        own = at * H + units[None, :]
        kind = states.dtype.element_ty
        tl.store(states + own, (o * tanh(cell)).to(kind), mask=real)
        tl.store(cells + own, cell.to(cells.dtype.element_ty), mask=real)
        saved = gates + at * (4 * H) + units[None, :]
        tl.store(saved, i.to(kind), mask=real)
        tl.store(saved + H, f.to(kind), mask=real)
        tl.store(saved + 2 * H, g.to(kind), mask=real)
        tl.store(saved + 3 * H, o.to(kind), mask=real)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)


@triton.jit
def _read_gradient(
    weight, cells, gates, states_gradient, inputs_gradient, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Walk the L words backwards; leave the gradient of the inputs."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    units = tl.program_id(0) * UNITS + tl.arange(0, UNITS)
    block = tl.arange(0, BLOCK)
    real = (rows < B)[:, None]
    rows = rows.to(tl.int64)
    kind = inputs_gradient.dtype.element_ty

    arrivals = 0
    d_state = tl.zeros((ROWS, UNITS), tl.float32)
    d_cell = tl.zeros((ROWS, UNITS), tl.float32)
    for back in range(L):
        t = L - 1 - back
        at = rows[:, None] * L + t
        own = at * H + units[None, :]
        saved = gates + at * (4 * H) + units[None, :]
        i = tl.load(saved, mask=real, other=0.0).to(tl.float32)
        f = tl.load(saved + H, mask=real, other=0.0).to(tl.float32)
        g = tl.load(saved + 2 * H, mask=real, other=0.0).to(tl.float32)
        o = tl.load(saved + 3 * H, mask=real, other=0.0).to(tl.float32)
        cell = tl.load(cells + own, mask=real, other=0.0).to(tl.float32)
        before = tl.load(cells + own - H, mask=real & (at > rows[:, None] * L), other=0.0).to(
            tl.float32
        )
        d_state += tl.load(states_gradient + own, mask=real, other=0.0).to(tl.float32)

        squashed = tanh(cell)
        d_cell += d_state * o * (1.0 - squashed * squashed)
        dx = inputs_gradient + at * (4 * H)
        own_dx = dx + units[None, :]
        tl.store(own_dx, (d_cell * g * i * (1.0 - i)).to(kind), mask=real)
        tl.store(own_dx + H, (d_cell * before * f * (1.0 - f)).to(kind), mask=real)
        tl.store(own_dx + 2 * H, (d_cell * i * (1.0 - g * g)).to(kind), mask=real)
        tl.store(own_dx + 3 * H, (d_state * squashed * o * (1.0 - o)).to(kind), mask=real)
        d_cell = d_cell * f
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
        inputs = inputs.contiguous()
        states = inputs.new_empty((B, L, H))
        cells = inputs.new_empty((B, L, H))
        gates = torch.empty_like(inputs)
        plan = plan_launch(B, H, inputs.device)
        for part, groups, num_rows in plan.launches(B):
            _read[(plan.team, groups)](
                inputs[part], weight, states[part], cells[part], gates[part],
                plan.counters(groups, inputs.device), num_rows, L,
                H=H, PRECISION=dot_precision(), **plan.meta(H, states.dtype),
            )  # fmt: skip
        ctx.save_for_backward(weight, states, cells, gates)
        return states

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the inputs and of the weight."""
        weight, states, cells, gates = ctx.saved_tensors
        B, L, H = states.shape
        states_gradient = states_gradient.contiguous()
        inputs_gradient = torch.empty_like(gates)
        plan = plan_launch(B, H, states.device)
        for part, groups, num_rows in plan.launches(B):
            _read_gradient[(plan.team, groups)](
                weight, cells[part], gates[part], states_gradient[part], inputs_gradient[part],
                plan.counters(groups, states.device), num_rows, L,
                H=H, PRECISION=dot_precision(), **plan.meta(H, states.dtype),
            )  # fmt: skip
        before = states_before(states).view(B * L, H)
        return inputs_gradient, inputs_gradient.view(B * L, 4 * H).t() @ before
