"""Triton kernels of a decoder step: attention and LSTM cell, with gradients."""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from readagain.networks.kernels.launch import (
    cell_step,
    cell_step_gradient,
    load_gates,
    quick_tanh,
    store_gates,
    tanh,
)

BLOCK_S = 16
"""Source positions that a program processes at a time."""
MANY_ROWS = 512
"""Number of rows from which small programs are faster than large ones."""
NEVER = -1e30
"""Score of a padded position: finite, so that a row of padding gives no NaN."""


@triton.jit
def _compare(query, key, QUICK: tl.constexpr):
    return quick_tanh(query + key) if QUICK else tanh(query + key)


@triton.jit
def _attend(
    query, query_stride, keys, states, valid, score, weights, context,
    S, A: tl.constexpr, D: tl.constexpr,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, LOW: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Compute the attention weights and the context of one row."""
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    q = tl.load(query + b * query_stride + column, mask=column < A, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    largest = LOW
    total = 0.0
    mixed = tl.zeros((WIDTH,), tl.float32)
    for first in range(0, S, BLOCK):
        position = first + tl.arange(0, BLOCK)
        real = tl.load(valid + b * S + position, mask=position < S, other=0) != 0
        at = (b * S + position)[:, None]
        inside = (position < S)[:, None] & (column < A)[None, :]
        k = tl.load(keys + at * A + column[None, :], mask=inside, other=0.0).to(tl.float32)
        fit = tl.sum(v[None, :] * _compare(q[None, :], k, QUICK), 1)
        fit = tl.where(real, fit, LOW)
        tl.store(weights + b * S + position, fit, mask=position < S)
        now_largest = tl.maximum(largest, tl.max(fit, 0))
        share = tl.where(real, tl.exp(fit - now_largest), 0.0)
        shrink = tl.exp(largest - now_largest)
        inside = (position < S)[:, None] & (column < D)[None, :]
        h = tl.load(states + at * D + column[None, :], mask=inside, other=0.0).to(tl.float32)
        mixed = mixed * shrink + tl.sum(share[:, None] * h, 0)
        total = total * shrink + tl.sum(share, 0)
        largest = now_largest
    total = tl.maximum(total, 1e-30)
    tl.store(context + b * D + column, mixed / total, mask=column < D)
    tl.debug_barrier()
    for first in range(0, S, BLOCK):
        position = first + tl.arange(0, BLOCK)
        fit = tl.load(weights + b * S + position, mask=position < S, other=LOW)
        tl.store(
            weights + b * S + position,
            tl.where(fit > LOW, tl.exp(fit - largest) / total, 0.0), mask=position < S,
        )  # fmt: skip


@triton.jit
def _attend_gradient(
    query, query_stride, keys, states, score, weights, d_context, d_fit, d_query, d_query_stride,
    S, A: tl.constexpr, D: tl.constexpr,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of scores and query from that of the context, for one row."""
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    q = tl.load(query + b * query_stride + column, mask=column < A, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    dc = tl.load(d_context + b * D + column, mask=column < D, other=0.0).to(tl.float32)
    mean = 0.0
    for first in range(0, S, BLOCK):
        position = first + tl.arange(0, BLOCK)
        at = (b * S + position)[:, None]
        inside = (position < S)[:, None] & (column < D)[None, :]
        h = tl.load(states + at * D + column[None, :], mask=inside, other=0.0).to(tl.float32)
        d_weight = tl.sum(dc[None, :] * h, 1)
        weight = tl.load(weights + b * S + position, mask=position < S, other=0.0)
        mean += tl.sum(weight * d_weight, 0)
        tl.store(d_fit + b * S + position, d_weight, mask=position < S)
    tl.debug_barrier()
    dq = tl.zeros((WIDTH,), tl.float32)
    for first in range(0, S, BLOCK):
        position = first + tl.arange(0, BLOCK)
        at = (b * S + position)[:, None]
        inside = (position < S)[:, None] & (column < A)[None, :]
        k = tl.load(keys + at * A + column[None, :], mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(weights + b * S + position, mask=position < S, other=0.0)
        d_weight = tl.load(d_fit + b * S + position, mask=position < S, other=0.0)
        d_score = weight * (d_weight - mean)
        tl.debug_barrier()
        tl.store(d_fit + b * S + position, d_score, mask=position < S)
        compared = _compare(q[None, :], k, QUICK)
        dq += tl.sum(d_score[:, None] * (1.0 - compared * compared), 0)
    tl.store(d_query + b * d_query_stride + column, v * dq, mask=column < A)


@triton.jit
def _keys_gradient(
    queries, query_stride, keys, score, d_fit, d_keys, d_score,
    B, S, T, A: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Sum the gradients of a block of keys and of `score` over all T words."""
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    position = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = (b * S + position)[:, None]
    inside = (position < S)[:, None] & (column < A)[None, :]
    k = tl.load(keys + at * A + column[None, :], mask=inside, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    dk = tl.zeros((BLOCK, WIDTH), tl.float32)
    dv = tl.zeros((WIDTH,), tl.float32)
    for t in range(T):
        row = t * B + b
        q = tl.load(queries + row * query_stride + column, mask=column < A, other=0.0)
        q = q.to(tl.float32)
        owed = tl.load(d_fit + row * S + position, mask=position < S, other=0.0)[:, None]
        compared = _compare(q[None, :], k, QUICK)
        dk += owed * (1.0 - compared * compared)
        dv += tl.sum(owed * compared, 0)
    tl.store(d_keys + at * A + column[None, :], dk * v[None, :], mask=inside)
    program = b * tl.num_programs(1) + tl.program_id(1)
    tl.store(d_score + program * A + column, dv, mask=column < A)


@triton.jit
def _cell(
    context_gates, state_gates, state_gates_stride, cell_before, gates, cell, state,
    H: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Compute an LSTM cell of one row from two summands of its gates, in the order i, f, g, o."""
    b = tl.program_id(0).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    inside = unit < H
    i, f, g, o = load_gates(context_gates + b * 4 * H + unit, H, inside)
    i2, f2, g2, o2 = load_gates(state_gates + b * state_gates_stride + unit, H, inside)
    before = tl.load(cell_before + b * H + unit, mask=inside)
    i, f, g, o, c = cell_step(i + i2, f + f2, g + g2, o + o2, before)
    store_gates(gates + b * 4 * H + unit, H, inside, i, f, g, o)
    tl.store(cell + b * H + unit, c, mask=inside)
    tl.store(state + b * H + unit, o * tanh(c), mask=inside)


@triton.jit
def _cell_gradient(
    gates, cell_before, cell, d_state, d_later, d_cell, d_gates, d_gates_stride,
    H: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Compute the gradient of `_cell` from those of the state (two summands) and the cell."""
    b = tl.program_id(0).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    inside = unit < H
    at = b * H + unit
    i, f, g, o = load_gates(gates + b * 4 * H + unit, H, inside)
    ds = tl.load(d_state + at, mask=inside).to(tl.float32)
    ds += tl.load(d_later + at, mask=inside).to(tl.float32)
    c = tl.load(cell + at, mask=inside)
    before = tl.load(cell_before + at, mask=inside)
    dc = tl.load(d_cell + at, mask=inside)
    d_i, d_f, d_g, d_o, dc = cell_step_gradient(i, f, g, o, c, before, ds, dc)
    store_gates(d_gates + b * d_gates_stride + unit, H, inside, d_i, d_f, d_g, d_o)
    tl.store(d_cell + at, dc, mask=inside)


def attend(
    query: Tensor, keys: Tensor, states: Tensor, valid: Tensor, score: Tensor,
    weights: Tensor, context: Tensor,
) -> Tensor:  # fmt: skip
    """Fill the (B, S) weights and the (B, D) context of a (B, A) query.

    Returns:
        The query, which is all that the gradient needs.
    """
    B, S, A = keys.shape
    D = states.size(2)
    _attend[(B,)](
        query, query.stride(0), keys, states, valid, score, weights, context,
        S, A=A, D=D, WIDTH=triton.next_power_of_2(max(A, D)), LOW=NEVER, **_meta(keys),
    )  # fmt: skip
    return query


def attend_gradient(
    query: Tensor, keys: Tensor, states: Tensor, score: Tensor, weights: Tensor,
    d_context: Tensor, d_fit: Tensor, d_query: Tensor,
) -> None:  # fmt: skip
    """Fill the gradients of the (B, S) scores before the softmax and of the (B, A) query."""
    B, S, A = keys.shape
    D = states.size(2)
    _attend_gradient[(B,)](
        query, query.stride(0), keys, states, score, weights, d_context, d_fit,
        d_query, d_query.stride(0),
        S, A=A, D=D, WIDTH=triton.next_power_of_2(max(A, D)), **_meta(keys),
    )  # fmt: skip


def keys_gradient(
    kept: Sequence[Tensor], keys: Tensor, score: Tensor, d_fit: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the (B, S, A) keys and the (A,) score from all T words at once."""
    queries = torch.stack(list(kept))  # (T, B, A)
    B, S, A = keys.shape
    d_keys = torch.empty_like(keys)
    meta = _meta(keys)
    blocks = triton.cdiv(S, meta["BLOCK"])
    d_score = torch.empty((B * blocks, A), dtype=torch.float32, device=keys.device)
    _keys_gradient[(B, blocks)](
        queries, queries.stride(1), keys, score, d_fit, d_keys, d_score,
        B, S, queries.size(0), A=A, WIDTH=triton.next_power_of_2(A), **meta,
    )  # fmt: skip
    return d_keys, d_score.sum(0).to(score.dtype)


def lstm_cell(
    context_gates: Tensor, state_gates: Tensor, cell_before: Tensor,
    gates: Tensor, cell: Tensor, state: Tensor,
) -> None:  # fmt: skip
    """Fill gates, cell and state of one step from the two summands of its (B, 4H) gates."""
    B, H = cell.shape
    _cell[(B,)](
        context_gates, state_gates, state_gates.stride(0), cell_before, gates, cell, state,
        H=H, WIDTH=triton.next_power_of_2(H),
    )  # fmt: skip


def lstm_cell_gradient(
    gates: Tensor, cell_before: Tensor, cell: Tensor, d_state: Tensor, d_later: Tensor,
    d_cell: Tensor, d_gates: Tensor,
) -> None:  # fmt: skip
    """Fill the gradient of the gates; carry that of the cell one step back, in place."""
    B, H = cell.shape
    _cell_gradient[(B,)](
        gates, cell_before, cell, d_state, d_later, d_cell, d_gates, d_gates.stride(0),
        H=H, WIDTH=triton.next_power_of_2(H),
    )  # fmt: skip


def _meta(keys: Tensor) -> dict[str, int]:
    """Return the launch options: small programs for many rows, wide ones for few."""
    block, warps = (4, 2) if keys.size(0) >= MANY_ROWS else (BLOCK_S, 4)
    return {"BLOCK": block, "QUICK": keys.dtype != torch.float32, "num_warps": warps}
