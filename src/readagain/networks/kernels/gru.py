"""GRU with importance weights: forward and backward pass, each in one Triton launch.

The letters in comments are those of `functional.importance_gru`; ⊙ is the elementwise product.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from readagain.networks.kernels.launch import (
    launch,
    previous_states,
    program_indices,
    tanh,
    team_barrier,
)


@triton.jit
def _forward(
    inputs, importance, lengths, states, update, reset, candidate, reset_state,
    weight_gates, weight_candidate, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    HAS_IMPORTANCE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Run the GRU over L steps.

    Reads (B, L, 3H) inputs, (B, L, H) importance and (B,) lengths. Stores (B, L, H) states and, for
    the backward pass, (B, L, H) update and reset gates, candidates and reset states r * h.
    """
    TEAM: tl.constexpr = H // UNITS  # number of programs that share these rows, see launch.py
    counter = counters + tl.program_id(1)
    rows, units, is_row = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)  # hidden units of a block, relative to `block_start`
    length = tl.load(lengths + rows, mask=rows < B, other=0)[:, None]
    # `own_` marks what belongs to the hidden units of this program.
    own_gate_weights = weight_gates + units[None, :] * H
    own_candidate_weights = weight_candidate + units[None, :] * H

    expected_arrivals = 0
    state = tl.zeros((ROWS, UNITS), tl.float32)
    for t in range(L):
        step_offsets = rows[:, None] * L + t  # indices into a (B, L) tensor
        # z = σ(input + W_z h), r = σ(input + W_r h)
        x = inputs + step_offsets * (3 * H) + units[None, :]  # pointers to the inputs of z
        z = tl.load(x, mask=is_row, other=0.0).to(tl.float32)
        r = tl.load(x + H, mask=is_row, other=0.0).to(tl.float32)
        for block_start in range(0, H, BLOCK):
            previous_state_block = tl.load(
                states + (step_offsets - 1) * H + (block_start + block)[None, :],
                # The second condition is t > 0: the state before the first step is zero.
                mask=is_row & (step_offsets > rows[:, None] * L), other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = own_gate_weights + (block_start + block)[:, None]
            z = tl.dot(previous_state_block, tl.load(w), z, input_precision=PRECISION)
            r = tl.dot(previous_state_block, tl.load(w + H * H), r, input_precision=PRECISION)
        z = tl.sigmoid(z)
        r = tl.sigmoid(r)
        own_offsets = step_offsets * H + units[None, :]
        tl.store(update + own_offsets, z, mask=is_row)
        tl.store(reset + own_offsets, r, mask=is_row)
        tl.store(reset_state + own_offsets, r * state, mask=is_row)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)

        # h̃ = tanh(input + W_h (r ⊙ h));  h = (1 - α⊙z) ⊙ h + (α⊙z) ⊙ h̃
        c = tl.load(x + 2 * H, mask=is_row, other=0.0).to(tl.float32)
        for block_start in range(0, H, BLOCK):
            reset_state_block = tl.load(
                reset_state + step_offsets * H + (block_start + block)[None, :],
                mask=is_row, other=0.0, cache_modifier=".cg",
            )  # fmt: skip
            w = tl.load(own_candidate_weights + (block_start + block)[:, None])
            c = tl.dot(reset_state_block, w, c, input_precision=PRECISION)
        c = tanh(c)
        gate = z
        if HAS_IMPORTANCE:
            gate = z * tl.load(importance + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        gate = tl.where(t < length, gate, 0.0)
        state = state + gate * (c - state)
        tl.store(candidate + own_offsets, c, mask=is_row)
        tl.store(states + own_offsets, state, mask=is_row)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)


@triton.jit
def _backward(
    states, importance, lengths, update, reset, candidate, states_gradient,
    inputs_gradient, importance_gradient, weight_gates, weight_candidate, counters,
    B, L,
    H: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr, BLOCK: tl.constexpr,
    HAS_IMPORTANCE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Run the L steps backwards.

    Reads tensors of the forward pass and the (B, L, H) states_gradient. Stores (B, L, 3H)
    inputs_gradient and (B, L, H) importance_gradient.
    """
    TEAM: tl.constexpr = H // UNITS  # number of programs that share these rows, see launch.py
    counter = counters + tl.program_id(1)
    rows, units, is_row = program_indices(B, ROWS, UNITS)
    block = tl.arange(0, BLOCK)  # hidden units of a block, relative to `block_start`
    length = tl.load(lengths + rows, mask=rows < B, other=0)[:, None]

    expected_arrivals = 0
    d_state = tl.zeros((ROWS, UNITS), tl.float32)
    for step in range(L):
        t = L - 1 - step
        step_offsets = rows[:, None] * L + t  # indices into a (B, L) tensor
        own_offsets = step_offsets * H + units[None, :]
        dx = inputs_gradient + step_offsets * (3 * H)  # pointers to the gradients of this step
        z = tl.load(update + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        r = tl.load(reset + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        c = tl.load(candidate + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        previous_state = tl.load(
            states + own_offsets - H, mask=is_row & (step_offsets > rows[:, None] * L), other=0.0
        ).to(tl.float32)
        d_state += tl.load(states_gradient + own_offsets, mask=is_row, other=0.0).to(tl.float32)

        alpha = tl.full((ROWS, UNITS), 1.0, tl.float32)
        if HAS_IMPORTANCE:
            alpha = tl.load(importance + own_offsets, mask=is_row, other=0.0).to(tl.float32)
        is_word = t < length
        gate = tl.where(is_word, alpha * z, 0.0)
        d_gate = tl.where(is_word, d_state * (c - previous_state), 0.0)
        if HAS_IMPORTANCE:
            tl.store(importance_gradient + own_offsets, d_gate * z, mask=is_row)
        d_z = d_gate * alpha * z * (1.0 - z)
        d_c = d_state * gate * (1.0 - c * c)
        tl.store(dx + units[None, :], d_z, mask=is_row)
        tl.store(dx + 2 * H + units[None, :], d_c, mask=is_row)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)

        d_reset_state = tl.zeros((ROWS, UNITS), tl.float32)
        for block_start in range(0, H, BLOCK):
            d_c_block = tl.load(
                dx + 2 * H + (block_start + block)[None, :],
                mask=is_row,
                other=0.0,
                cache_modifier=".cg",
            )
            weight = tl.load(weight_candidate + (block_start + block)[:, None] * H + units[None, :])
            d_reset_state = tl.dot(d_c_block, weight, d_reset_state, input_precision=PRECISION)
        d_r = d_reset_state * previous_state * r * (1.0 - r)
        tl.store(dx + H + units[None, :], d_r, mask=is_row)
        expected_arrivals += TEAM
        team_barrier(counter, expected_arrivals, TEAM)

        d_state = d_state * (1.0 - gate) + d_reset_state * r
        for block_start in range(0, 2 * H, BLOCK):
            d_gates_block = tl.load(
                dx + (block_start + block)[None, :], mask=is_row, other=0.0, cache_modifier=".cg"
            )
            weight = tl.load(weight_gates + (block_start + block)[:, None] * H + units[None, :])
            d_state = tl.dot(d_gates_block, weight, d_state, input_precision=PRECISION)


class TritonImportanceGru(torch.autograd.Function):
    """`functional.importance_gru` with the time loop inside the kernel."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        weight_gates: Tensor,
        weight_candidate: Tensor,
        importance: Tensor | None,
        lengths: Tensor,
    ) -> Tensor:
        """Return the (B, L, H) states; the arguments are those of `functional.importance_gru`."""
        B, L, _ = inputs.shape
        H = weight_candidate.size(0)
        importance = None if importance is None else importance.contiguous()
        # `saved` holds the update gates, reset gates, candidates and reset states.
        states, *saved = (inputs.new_empty((B, L, H)) for _ in range(5))
        launch(
            _forward,
            [inputs.contiguous(), importance, lengths, states, *saved],
            [weight_gates, weight_candidate],
            hidden_size=H,
            HAS_IMPORTANCE=importance is not None,
        )
        ctx.save_for_backward(weight_gates, weight_candidate, importance, lengths, states, *saved)
        return states

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the arguments of `forward`, in their order."""
        weight_gates, weight_candidate, importance, lengths, states, *saved = ctx.saved_tensors
        *gates, reset_state = saved
        B, L, H = states.shape
        inputs_gradient = states.new_empty((B, L, 3 * H))
        importance_gradient = None if importance is None else torch.empty_like(importance)
        launch(
            _backward,
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
        flat_gradient = inputs_gradient.view(B * L, 3 * H)
        d_gates, d_candidate = flat_gradient.split([2 * H, H], dim=1)  # (B * L, 2H), (B * L, H)
        return (
            inputs_gradient,
            d_gates.t() @ previous_states(states).view(B * L, H),  # weight_gates
            d_candidate.t() @ reset_state.view(B * L, H),  # weight_candidate
            importance_gradient,
            None,  # lengths
        )
