"""The α-gated GRU and its gradient, each in one Triton launch."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from readagain.networks.kernels.launch import (
    launch,
    program_indices,
    states_before,
    tanh,
    team_barrier,
)


@triton.jit
def _read(
    inputs, importance, lengths, states, update, reset, candidate, reset_state,
    weight_gates, weight_candidate, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    HAS_IMPORTANCE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Read L words; save what the gradient needs. Shapes: see `TritonGatedGru.forward`."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)
    length = tl.load(lengths + rows, mask=rows < B, other=0)[:, None]
    gates_of_own = weight_gates + units[None, :] * H
    candidate_of_own = weight_candidate + units[None, :] * H

    arrivals = 0
    state = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        at = rows[:, None] * L + t
        # z = σ(x-part + W_z h), r = σ(x-part + W_r h)
        x = inputs + at * (3 * H) + units[None, :]
        z = tl.load(x, mask=real, other=0.0).to(tl.float32)
        r = tl.load(x + H, mask=real, other=0.0).to(tl.float32)
        for k in range(0, H, BLOCK):
            before = tl.load(
                states + (at - 1) * H + (k + block)[None, :],
                mask=real & (at > rows[:, None] * L), other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = gates_of_own + (k + block)[:, None]
            z = tl.dot(before, tl.load(w), z, input_precision=PRECISION)
            r = tl.dot(before, tl.load(w + H * H), r, input_precision=PRECISION)
        z = tl.sigmoid(z)
        r = tl.sigmoid(r)
        own = at * H + units[None, :]
        tl.store(update + own, z, mask=real)
        tl.store(reset + own, r, mask=real)
        tl.store(reset_state + own, r * state, mask=real)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)

        # h̃ = tanh(x-part + W_h (r ⊙ h));  h = (1 - α⊙z) ⊙ h + (α⊙z) ⊙ h̃
        c = tl.load(x + 2 * H, mask=real, other=0.0).to(tl.float32)
        for k in range(0, H, BLOCK):
            gated = tl.load(
                reset_state + at * H + (k + block)[None, :],
                mask=real, other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = tl.load(candidate_of_own + (k + block)[:, None])
            c = tl.dot(gated, w, c, input_precision=PRECISION)
        c = tanh(c)
        gate = z
        if HAS_IMPORTANCE:
            gate = z * tl.load(importance + own, mask=real, other=0.0).to(tl.float32)
        gate = tl.where(t < length, gate, 0.0)
        state = state + gate * (c - state)
        tl.store(candidate + own, c, mask=real)
        tl.store(states + own, state, mask=real)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)


@triton.jit
def _read_gradient(
    states, importance, lengths, update, reset, candidate, states_gradient,
    inputs_gradient, importance_gradient, weight_gates, weight_candidate, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    HAS_IMPORTANCE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Process the L words backwards; store the gradients of inputs and importance."""
    TEAM: tl.constexpr = H // UNITS
    counter = counters + tl.program_id(1)
    rows, units, real = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)
    length = tl.load(lengths + rows, mask=rows < B, other=0)[:, None]

    arrivals = 0
    carried = tl.zeros((ROWS, UNITS), tl.float32)
    for back in range(L):
        t = L - 1 - back
        at = rows[:, None] * L + t
        own = at * H + units[None, :]
        dx = inputs_gradient + at * (3 * H)
        z = tl.load(update + own, mask=real, other=0.0).to(tl.float32)
        r = tl.load(reset + own, mask=real, other=0.0).to(tl.float32)
        c = tl.load(candidate + own, mask=real, other=0.0).to(tl.float32)
        before = tl.load(states + own - H, mask=real & (at > rows[:, None] * L), other=0.0).to(
            tl.float32
        )
        carried += tl.load(states_gradient + own, mask=real, other=0.0).to(tl.float32)

        alpha = tl.full((ROWS, UNITS), 1.0, tl.float32)
        if HAS_IMPORTANCE:
            alpha = tl.load(importance + own, mask=real, other=0.0).to(tl.float32)
        within = t < length
        gate = tl.where(within, alpha * z, 0.0)
        d_gate = tl.where(within, carried * (c - before), 0.0)
        if HAS_IMPORTANCE:
            tl.store(importance_gradient + own, d_gate * z, mask=real)
        d_z = d_gate * alpha * z * (1.0 - z)
        d_c = carried * gate * (1.0 - c * c)
        tl.store(dx + units[None, :], d_z, mask=real)
        tl.store(dx + 2 * H + units[None, :], d_c, mask=real)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)

        d_gated = tl.zeros((ROWS, UNITS), tl.float32)
        for k in range(0, H, BLOCK):
            d_c_all = tl.load(
                dx + 2 * H + (k + block)[None, :], mask=real, other=0.0, cache_modifier=".cg"
            )
            weight = tl.load(weight_candidate + (k + block)[:, None] * H + units[None, :])
            d_gated = tl.dot(d_c_all, weight, d_gated, input_precision=PRECISION)
        d_r = d_gated * before * r * (1.0 - r)
        tl.store(dx + H + units[None, :], d_r, mask=real)
        arrivals += TEAM
        team_barrier(counter, arrivals, TEAM)

        carried = carried * (1.0 - gate) + d_gated * r
        for k in range(0, 2 * H, BLOCK):
            d_gates_all = tl.load(
                dx + (k + block)[None, :], mask=real, other=0.0, cache_modifier=".cg"
            )
            weight = tl.load(weight_gates + (k + block)[:, None] * H + units[None, :])
            carried = tl.dot(d_gates_all, weight, carried, input_precision=PRECISION)


class TritonGatedGru(torch.autograd.Function):
    """`functional.gated_gru` with the time loop inside the kernel."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        weight_gates: Tensor,
        weight_candidate: Tensor,
        importance: Tensor | None,
        lengths: Tensor,
    ) -> Tensor:
        """Read (B, L, 3H) inputs into (B, L, H) states."""
        B, L, _ = inputs.shape
        H = weight_candidate.size(0)
        importance = None if importance is None else importance.contiguous()
        states, *saved = (inputs.new_empty((B, L, H)) for _ in range(5))
        launch(
            _read,
            [inputs.contiguous(), importance, lengths, states, *saved],
            [weight_gates, weight_candidate],
            hidden_size=H,
            HAS_IMPORTANCE=importance is not None,
        )
        ctx.save_for_backward(weight_gates, weight_candidate, importance, lengths, states, *saved)
        return states

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of inputs, both weights and the importance."""
        weight_gates, weight_candidate, importance, lengths, states, *saved = ctx.saved_tensors
        *gates, reset_state = saved
        B, L, H = states.shape
        inputs_gradient = states.new_empty((B, L, 3 * H))
        importance_gradient = None if importance is None else torch.empty_like(importance)
        launch(
            _read_gradient,
            [
                states,
                importance,
                lengths,
                *gates,
                states_gradient.contiguous(),
                inputs_gradient,
                importance_gradient,
            ],  # fmt: skip
            [weight_gates, weight_candidate],
            hidden_size=H,
            HAS_IMPORTANCE=importance is not None,
        )
        flat = inputs_gradient.view(B * L, 3 * H)
        d_gates, d_candidate = flat.split([2 * H, H], dim=1)
        return (
            inputs_gradient,
            d_gates.t() @ states_before(states).view(B * L, H),
            d_candidate.t() @ reset_state.view(B * L, H),
            importance_gradient,
            None,
        )
