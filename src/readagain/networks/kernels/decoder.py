"""Teacher-forced attention LSTM with Triton kernels and a hand-written gradient.

Autograd would launch about thirty small kernels per word and keep all intermediate results. Here a
word takes two matrix products and two kernels in the forward pass, and the same in the backward
pass. The gradients of weights, keys and source states are computed after the backward pass, for
all words at once.

In the kernels, each program processes one row of the batch, b. The prefix `d_` marks a gradient.
"""

from typing import Any

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
"""Number of source positions that a program processes at a time."""
MANY_ROWS = 512
"""Batch size from which programs with smaller blocks and fewer warps are faster."""
PADDING_LOGIT = -1e30
"""Attention logit of padding. It is finite, so a source without words does not give NaN."""


@triton.jit
def _tanh_sum(query, key, QUICK: tl.constexpr):
    return quick_tanh(query + key) if QUICK else tanh(query + key)


@triton.jit
def _attend(
    query, query_stride, keys, states, valid, score, weights, context,
    S, A: tl.constexpr, U: tl.constexpr,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, LOW: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Compute the attention weights and the context of one row.

    Reads (B, A) query, (B, S, A) keys, (B, S, U) states, (B, S) valid and (A,) score. Stores (B, S)
    weights and (B, U) context.

    This is an online softmax: one pass over blocks of source positions keeps the largest logit, the
    sum of exponentials and the weighted sum of states. The two sums are rescaled whenever the
    largest logit grows. The logits are stored in `weights`, and a second pass turns them into
    weights.
    """
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)  # dimensions of keys and states
    q = tl.load(query + b * query_stride + column, mask=column < A, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    largest = LOW
    total = 0.0
    weighted_states = tl.zeros((WIDTH,), tl.float32)
    for block_start in range(0, S, BLOCK):
        position = block_start + tl.arange(0, BLOCK)
        is_word = tl.load(valid + b * S + position, mask=position < S, other=0) != 0
        offsets = (b * S + position)[:, None]
        in_bounds = (position < S)[:, None] & (column < A)[None, :]
        k = tl.load(keys + offsets * A + column[None, :], mask=in_bounds, other=0.0).to(tl.float32)
        logits = tl.sum(v[None, :] * _tanh_sum(q[None, :], k, QUICK), 1)
        logits = tl.where(is_word, logits, LOW)
        tl.store(weights + b * S + position, logits, mask=position < S)
        new_largest = tl.maximum(largest, tl.max(logits, 0))
        weight = tl.where(is_word, tl.exp(logits - new_largest), 0.0)
        rescale = tl.exp(largest - new_largest)
        in_bounds = (position < S)[:, None] & (column < U)[None, :]
        h = tl.load(states + offsets * U + column[None, :], mask=in_bounds, other=0.0).to(
            tl.float32
        )
        weighted_states = weighted_states * rescale + tl.sum(weight[:, None] * h, 0)
        total = total * rescale + tl.sum(weight, 0)
        largest = new_largest
    total = tl.maximum(total, 1e-30)
    tl.store(context + b * U + column, weighted_states / total, mask=column < U)
    tl.debug_barrier()  # the threads of a program wait until all logits are stored
    for block_start in range(0, S, BLOCK):
        position = block_start + tl.arange(0, BLOCK)
        logits = tl.load(weights + b * S + position, mask=position < S, other=LOW)
        tl.store(
            weights + b * S + position,
            tl.where(logits > LOW, tl.exp(logits - largest) / total, 0.0), mask=position < S,
        )  # fmt: skip


@triton.jit
def _attend_gradient(
    query, query_stride, keys, states, score, weights, d_context, d_logits, d_query, d_query_stride,
    S, A: tl.constexpr, U: tl.constexpr,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of the attention logits and the query of one row.

    Reads the inputs and the (B, S) weights of `_attend`, and (B, U) d_context. Stores (B, S)
    d_logits and (B, A) d_query. The first pass stores the gradient of the weights in `d_logits`,
    and the second pass turns it into that of the logits.
    """
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)  # dimensions of keys and states
    q = tl.load(query + b * query_stride + column, mask=column < A, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    dc = tl.load(d_context + b * U + column, mask=column < U, other=0.0).to(tl.float32)
    mean = 0.0  # mean of d_weight, weighted by the attention weights
    for block_start in range(0, S, BLOCK):
        position = block_start + tl.arange(0, BLOCK)
        offsets = (b * S + position)[:, None]
        in_bounds = (position < S)[:, None] & (column < U)[None, :]
        h = tl.load(states + offsets * U + column[None, :], mask=in_bounds, other=0.0).to(
            tl.float32
        )
        d_weight = tl.sum(dc[None, :] * h, 1)
        weight = tl.load(weights + b * S + position, mask=position < S, other=0.0)
        mean += tl.sum(weight * d_weight, 0)
        tl.store(d_logits + b * S + position, d_weight, mask=position < S)
    tl.debug_barrier()  # the threads of a program wait until all gradients are stored
    dq = tl.zeros((WIDTH,), tl.float32)
    for block_start in range(0, S, BLOCK):
        position = block_start + tl.arange(0, BLOCK)
        offsets = (b * S + position)[:, None]
        in_bounds = (position < S)[:, None] & (column < A)[None, :]
        k = tl.load(keys + offsets * A + column[None, :], mask=in_bounds, other=0.0).to(tl.float32)
        weight = tl.load(weights + b * S + position, mask=position < S, other=0.0)
        d_weight = tl.load(d_logits + b * S + position, mask=position < S, other=0.0)
        d_logit = weight * (d_weight - mean)
        tl.debug_barrier()
        tl.store(d_logits + b * S + position, d_logit, mask=position < S)
        activation = _tanh_sum(q[None, :], k, QUICK)
        dq += tl.sum(d_logit[:, None] * (1.0 - activation * activation), 0)
    tl.store(d_query + b * d_query_stride + column, v * dq, mask=column < A)


@triton.jit
def _keys_gradient(
    queries, query_stride, keys, score, d_logits, d_keys, d_score,
    B, S, T, A: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, QUICK: tl.constexpr,
):  # fmt: skip
    """Sum the gradients of a block of keys and of `score` over all T words.

    Reads (T, B, A) queries, (B, S, A) keys, (A,) score and (T, B, S) d_logits. Stores (B, S, A)
    d_keys and a (programs, A) d_score, which the caller sums over the programs.
    """
    b = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)  # dimensions of keys and states
    position = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets = (b * S + position)[:, None]
    in_bounds = (position < S)[:, None] & (column < A)[None, :]
    k = tl.load(keys + offsets * A + column[None, :], mask=in_bounds, other=0.0).to(tl.float32)
    v = tl.load(score + column, mask=column < A, other=0.0).to(tl.float32)
    dk = tl.zeros((BLOCK, WIDTH), tl.float32)
    dv = tl.zeros((WIDTH,), tl.float32)
    for t in range(T):
        row = t * B + b
        q = tl.load(queries + row * query_stride + column, mask=column < A, other=0.0)
        q = q.to(tl.float32)
        d_logit = tl.load(d_logits + row * S + position, mask=position < S, other=0.0)[:, None]
        activation = _tanh_sum(q[None, :], k, QUICK)
        dk += d_logit * (1.0 - activation * activation)
        dv += tl.sum(d_logit * activation, 0)
    tl.store(d_keys + offsets * A + column[None, :], dk * v[None, :], mask=in_bounds)
    program = b * tl.num_programs(1) + tl.program_id(1)
    tl.store(d_score + program * A + column, dv, mask=column < A)


@triton.jit
def _cell(
    context_gates, state_gates, state_gates_stride, previous_cell, gates, cell, state,
    H: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Run an LSTM cell for one row.

    Reads (B, 4H) context_gates and state_gates, whose sum gives the gates i, f, g and o, and the
    (B, H) previous cell. Stores (B, 4H) gates after their activation, (B, H) cell and (B, H) state.
    """
    b = tl.program_id(0).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    in_bounds = unit < H
    i, f, g, o = load_gates(context_gates + b * 4 * H + unit, H, in_bounds)
    i2, f2, g2, o2 = load_gates(state_gates + b * state_gates_stride + unit, H, in_bounds)
    previous = tl.load(previous_cell + b * H + unit, mask=in_bounds)
    i, f, g, o, c = cell_step(i + i2, f + f2, g + g2, o + o2, previous)
    store_gates(gates + b * 4 * H + unit, H, in_bounds, i, f, g, o)
    tl.store(cell + b * H + unit, c, mask=in_bounds)
    tl.store(state + b * H + unit, o * tanh(c), mask=in_bounds)


@triton.jit
def _cell_gradient(
    gates, previous_cell, cell, d_state, d_next_state, d_cell, d_gates, d_gates_stride,
    H: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of an LSTM cell for one row.

    The state of a word has two gradients: (B, H) d_state from the outputs of the decoder and (B, H)
    d_next_state from the next word. Reads both, and the (B, H) gradient d_cell of the cell. Stores
    (B, 4H) d_gates before the activation, and replaces d_cell by the gradient of the previous cell.
    """
    b = tl.program_id(0).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    in_bounds = unit < H
    offsets = b * H + unit
    i, f, g, o = load_gates(gates + b * 4 * H + unit, H, in_bounds)
    ds = tl.load(d_state + offsets, mask=in_bounds).to(tl.float32)
    ds += tl.load(d_next_state + offsets, mask=in_bounds).to(tl.float32)
    c = tl.load(cell + offsets, mask=in_bounds)
    previous = tl.load(previous_cell + offsets, mask=in_bounds)
    dc = tl.load(d_cell + offsets, mask=in_bounds)
    d_i, d_f, d_g, d_o, dc = cell_step_gradient(i, f, g, o, c, previous, ds, dc)
    store_gates(d_gates + b * d_gates_stride + unit, H, in_bounds, d_i, d_f, d_g, d_o)
    tl.store(d_cell + offsets, dc, mask=in_bounds)


class AttentionLstm(torch.autograd.Function):
    """`functional.decode_teacher_forced` for an LSTM."""

    @staticmethod
    def forward(
        ctx: Any,
        word_gates: Tensor,
        keys: Tensor,
        states: Tensor,
        valid: Tensor,
        start_state: Tensor,
        start_cell: Tensor,
        weight_query: Tensor,
        score: Tensor,
        weight_context: Tensor,
        weight_state: Tensor,
    ) -> Tensor:
        """Return (B, T, H) decoder states.

        The arguments are those of `functional.decode_teacher_forced`. The last four are the fields
        of `DecoderWeights`.
        """
        B, T, _ = word_gates.shape
        _, S, A = keys.shape
        U, H = states.size(2), start_state.size(1)
        keys, states, valid = keys.contiguous(), states.contiguous(), valid.contiguous()
        # The first dimension is time, so the values of one step are contiguous.
        word_gates = word_gates.transpose(0, 1).contiguous()  # (T, B, 4H)
        weight = torch.cat([weight_query, weight_state])  # (A + 4H, H)
        at_least_float32 = torch.promote_types(keys.dtype, torch.float32)
        outputs = keys.new_empty((T + 1, B, H))  # decoder states; the first is the start state
        cells = keys.new_empty((T + 1, B, H), dtype=at_least_float32)
        gates = keys.new_empty((T, B, 4 * H))
        contexts = keys.new_empty((T, B, U))
        weights = keys.new_empty((T, B, S), dtype=at_least_float32)
        projected = keys.new_empty((T, B, A + 4 * H))  # decoder states as queries and as gates
        outputs[0].copy_(start_state)
        cells[0].copy_(start_cell)
        options = _launch_options(keys, WIDTH=triton.next_power_of_2(max(A, U)))
        queries = projected[:, :, :A]  # (T, B, A)
        for t in range(T):
            torch.mm(outputs[t], weight.t(), out=projected[t])
            _attend[(B,)](
                queries[t], queries.stride(1), keys, states, valid, score, weights[t], contexts[t],
                S, A=A, U=U, LOW=PADDING_LOGIT, **options,
            )  # fmt: skip
            context_gates = torch.addmm(word_gates[t], contexts[t], weight_context.t())  # (B, 4H)
            _cell[(B,)](
                context_gates, projected[t, :, A:], projected.stride(1),
                cells[t], gates[t], cells[t + 1], outputs[t + 1],
                H=H, WIDTH=triton.next_power_of_2(H),
            )  # fmt: skip
        ctx.save_for_backward(
            keys, states, score, weight, weight_context,
            outputs, cells, gates, contexts, weights, queries,
        )  # fmt: skip
        return outputs[1:].transpose(0, 1).contiguous()

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the arguments of `forward`, in their order."""
        (
            keys, states, score, weight, weight_context,
            outputs, cells, gates, contexts, weights, queries,
        ) = ctx.saved_tensors  # fmt: skip
        T, B, U = contexts.shape
        _, S, A = keys.shape
        H = outputs.size(2)
        d_outputs = d_outputs.transpose(0, 1).contiguous()  # (T, B, H)
        d_contexts = torch.empty_like(contexts)  # (T, B, U)
        d_projected = outputs.new_empty((T, B, A + 4 * H))
        d_logits = torch.empty_like(weights)
        d_state = torch.zeros_like(outputs[0])  # from the next word
        d_cell = torch.zeros_like(cells[0])
        options = _launch_options(keys, WIDTH=triton.next_power_of_2(max(A, U)))
        for t in reversed(range(T)):
            d_gates = d_projected[t, :, A:]
            _cell_gradient[(B,)](
                gates[t], cells[t], cells[t + 1], d_outputs[t], d_state, d_cell,
                d_gates, d_gates.stride(0),
                H=H, WIDTH=triton.next_power_of_2(H),
            )  # fmt: skip
            torch.mm(d_gates, weight_context, out=d_contexts[t])
            _attend_gradient[(B,)](
                queries[t], queries.stride(1), keys, states, score, weights[t],
                d_contexts[t], d_logits[t], d_projected[t, :, :A], d_projected.stride(1),
                S, A=A, U=U, **options,
            )  # fmt: skip
            d_state = torch.mm(d_projected[t], weight)
        d_keys, d_score = _keys_gradients(queries, keys, score, d_logits)
        d_states = torch.bmm(
            weights.permute(1, 2, 0).to(d_contexts.dtype), d_contexts.transpose(0, 1)
        )  # (B, S, U)
        d_all_gates = d_projected[:, :, A:].reshape(T * B, -1)  # (T * B, 4H)
        d_weight = d_projected.flatten(0, 1).t() @ outputs[:-1].flatten(0, 1)  # (A + 4H, H)
        return (
            d_projected[:, :, A:].transpose(0, 1),  # word_gates
            d_keys,
            d_states,
            None,  # valid
            d_state,  # start_state
            d_cell.to(d_state.dtype),  # start_cell
            d_weight[:A],  # weight_query
            d_score,
            d_all_gates.t() @ contexts.flatten(0, 1),  # weight_context
            d_weight[A:],  # weight_state
        )


def _keys_gradients(
    queries: Tensor, keys: Tensor, score: Tensor, d_logits: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the (B, S, A) keys and of the (A,) score, summed over T words.

    `queries` is (T, B, A), `d_logits` is (T, B, S).
    """
    queries = queries.contiguous()
    B, S, A = keys.shape
    d_keys = torch.empty_like(keys)
    options = _launch_options(keys, WIDTH=triton.next_power_of_2(A))
    num_blocks = triton.cdiv(S, options["BLOCK"])
    d_score = torch.empty((B * num_blocks, A), dtype=torch.float32, device=keys.device)
    _keys_gradient[(B, num_blocks)](
        queries, queries.stride(1), keys, score, d_logits, d_keys, d_score,
        B, S, queries.size(0), A=A, **options,
    )  # fmt: skip
    return d_keys, d_score.sum(0).to(score.dtype)


def _launch_options(keys: Tensor, *, WIDTH: int) -> dict[str, int]:
    """Return the options of a launch; with many rows, programs are smaller."""
    block, num_warps = (4, 2) if keys.size(0) >= MANY_ROWS else (BLOCK_S, 4)
    use_quick_tanh = keys.dtype != torch.float32
    return {"BLOCK": block, "QUICK": use_quick_tanh, "num_warps": num_warps, "WIDTH": WIDTH}
