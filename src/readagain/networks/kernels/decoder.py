"""Teacher-forced attention LSTM on Triton kernels, with its gradient written out.

Autograd would launch some thirty small kernels per word and keep every intermediate. Here a word
takes two matrix products and two kernels in each direction, and everything that does not depend on
the order of the words (gradients of weights, keys and source states) is computed once for all.
"""

from typing import Any

import torch
from torch import Tensor

from readagain.networks.kernels import attention as kernels


class AttentionLstm(torch.autograd.Function):
    """`functional.decode_teacher_forced` for an LSTM; attention weights have no gradient."""

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
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return (B, T, H) decoder states, (B, T, D) contexts and (B, T, S) weights.

        Args:
            ctx: where autograd keeps what the gradient needs.
            word_gates: (B, T, 4H) the words' part of the gates i, f, g, o, biases included.
            keys: (B, S, A) projected source states.
            states: (B, S, D) source states.
            valid: (B, S) True at real words.
            start_state: (B, H).
            start_cell: (B, H).
            weight_query: (A, H).
            score: (A,).
            weight_context: (4H, D).
            weight_state: (4H, H).
        """
        B, T, _ = word_gates.shape
        _, S, A = keys.shape
        D, H = states.size(2), start_state.size(1)
        keys, states, valid = keys.contiguous(), states.contiguous(), valid.contiguous()
        # Time first, so that the data of a word is contiguous.
        word_gates = word_gates.transpose(0, 1).contiguous()  # (T, B, 4H)
        weight = torch.cat([weight_query, weight_state])  # (A + 4H, H)
        new, exact = keys.new_empty, torch.promote_types(keys.dtype, torch.float32)
        outputs = new((T + 1, B, H))
        cells = new((T + 1, B, H), dtype=exact)
        gates = new((T, B, 4 * H))
        contexts = new((T, B, D))
        weights = new((T, B, S), dtype=exact)
        projected = new((T, B, A + 4 * H))
        outputs[0].copy_(start_state)
        cells[0].copy_(start_cell)
        kept = []
        for t in range(T):
            torch.mm(outputs[t], weight.t(), out=projected[t])
            query = projected[t, :, :A]
            kept.append(kernels.attend(query, keys, states, valid, score, weights[t], contexts[t]))
            context_gates = torch.addmm(word_gates[t], contexts[t], weight_context.t())
            kernels.lstm_cell(
                context_gates, projected[t, :, A:], cells[t], gates[t], cells[t + 1], outputs[t + 1]
            )
        ctx.save_for_backward(
            keys, states, score, weight, weight_context,
            outputs, cells, gates, contexts, weights, *kept,
        )  # fmt: skip
        returned = (
            outputs[1:].transpose(0, 1).contiguous(),
            contexts.transpose(0, 1), weights.transpose(0, 1),
        )  # fmt: skip
        ctx.mark_non_differentiable(returned[2])
        ctx.set_materialize_grads(False)
        return returned

    @staticmethod
    def backward(
        ctx: Any, d_outputs: Tensor | None, d_contexts: Tensor | None, _: None
    ) -> tuple[Tensor | None, ...]:
        """Return the gradients in the order of `forward`'s arguments."""
        (
            keys, states, score, weight, weight_context,
            outputs, cells, gates, contexts, weights, *kept,
        ) = ctx.saved_tensors  # fmt: skip
        T, B, _ = contexts.shape
        A, H = keys.size(2), outputs.size(2)
        d_outputs = _time_first(d_outputs, like=outputs[1:])  # (T, B, H)
        d_mixed = _time_first(d_contexts, like=contexts)  # (T, B, D), and added to below
        d_projected = outputs.new_empty((T, B, A + 4 * H))
        d_fit = torch.empty_like(weights)
        d_state = torch.zeros_like(outputs[0])
        d_cell = torch.zeros_like(cells[0])
        for t in reversed(range(T)):
            d_gates = d_projected[t, :, A:]
            kernels.lstm_cell_gradient(
                gates[t], cells[t], cells[t + 1], d_outputs[t], d_state, d_cell, d_gates
            )
            d_mixed[t].addmm_(d_gates, weight_context)
            kernels.attend_gradient(
                kept[t], keys, states, score, weights[t],
                d_mixed[t], d_fit[t], d_projected[t, :, :A],
            )  # fmt: skip
            d_state = torch.mm(d_projected[t], weight)
        d_keys, d_score = kernels.keys_gradient(kept, keys, score, d_fit)
        d_states = torch.bmm(
            weights.permute(1, 2, 0).to(d_mixed.dtype), d_mixed.transpose(0, 1)
        )  # (B, S, D)
        d_all_gates = d_projected[:, :, A:].reshape(T * B, -1)  # (T * B, 4H)
        d_weight = d_projected.flatten(0, 1).t() @ outputs[:-1].flatten(0, 1)  # (A + 4H, H)
        return (
            d_projected[:, :, A:].transpose(0, 1),
            d_keys,
            d_states,
            None,
            d_state,
            d_cell.to(d_state.dtype),
            d_weight[:A],
            d_score,
            d_all_gates.t() @ contexts.flatten(0, 1),
            d_weight[A:],
        )


def _time_first(gradient: Tensor | None, *, like: Tensor) -> Tensor:
    """Copy a (B, T, ...) gradient to (T, B, ...); zeros for an unused output."""
    if gradient is None:
        return torch.zeros_like(like)
    return gradient.transpose(0, 1).clone(memory_format=torch.contiguous_format)
