"""The α-gated GRU reading with its gradient written out, in plain torch operations for the CPU.

Autograd would record some fifteen small operations a word. Written out, a word costs two matrix
products and a few operations in place, and the weight gradients are two products in the end.
"""

from typing import Any

import torch
from torch import Tensor

from readagain.networks.masks import valid_positions


class GatedGruFunction(torch.autograd.Function):
    """`read_gated_gru`, stepwise."""

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
        # Time first inside, so that what belongs to one word lies together.
        inputs = inputs.transpose(0, 1)  # (L, B, 3H)
        weigh = valid_positions(lengths, L).t().unsqueeze(2).to(inputs.dtype)  # (L, B, 1)
        if importance is not None:
            weigh = weigh * importance.transpose(0, 1)  # (L, B, H)
        states = inputs.new_zeros((L + 1, B, H))
        gates = inputs.new_empty((L, B, 2 * H))
        gated, candidate = inputs.new_empty((2, L, B, H)).unbind()
        for t in range(L):
            torch.addmm(inputs[t, :, : 2 * H], states[t], weight_gates.t(), out=gates[t]).sigmoid_()
            update, reset = gates[t].chunk(2, dim=1)
            torch.mul(reset, states[t], out=gated[t])
            torch.addmm(
                inputs[t, :, 2 * H :], gated[t], weight_candidate.t(), out=candidate[t]
            ).tanh_()
            torch.lerp(states[t], candidate[t], update * weigh[t], out=states[t + 1])
        ctx.save_for_backward(
            weight_gates, weight_candidate, weigh, states, gates, gated, candidate
        )
        ctx.has_importance = importance is not None
        ctx.lengths = lengths
        return states[1:].transpose(0, 1)

    @staticmethod
    def backward(ctx: Any, states_gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of inputs, both weights and the importance."""
        weight_gates, weight_candidate, weigh, states, gates, gated, candidate = ctx.saved_tensors
        L, B, H = gated.shape
        arriving = states_gradient.transpose(0, 1)  # (L, B, H)
        d_inputs = states.new_empty((L, B, 3 * H))
        d_weigh = torch.empty_like(weigh) if ctx.has_importance else None
        carried = torch.zeros_like(states[0])
        for t in reversed(range(L)):
            update, reset = gates[t].chunk(2, dim=1)
            d_update, d_reset, d_candidate = d_inputs[t].chunk(3, dim=1)
            carried = carried + arriving[t]
            step = update * weigh[t]
            d_step = carried * (candidate[t] - states[t])
            if d_weigh is not None:
                torch.mul(d_step, update, out=d_weigh[t])
            torch.mul(d_step.mul_(weigh[t]), update * (1 - update), out=d_update)
            torch.mul(carried * step, 1 - candidate[t].square(), out=d_candidate)
            d_gated = d_candidate @ weight_candidate  # (B, H)
            torch.mul(d_gated * states[t], reset * (1 - reset), out=d_reset)
            carried = torch.addmm(
                carried.mul_(1 - step).addcmul_(d_gated, reset),
                d_inputs[t, :, : 2 * H],
                weight_gates,
            )
        d_gates = d_inputs[:, :, : 2 * H].reshape(L * B, 2 * H)
        d_candidates = d_inputs[:, :, 2 * H :].reshape(L * B, H)
        d_importance = None
        if d_weigh is not None:
            is_word = valid_positions(ctx.lengths, L).unsqueeze(2)  # (B, L, 1)
            d_importance = d_weigh.transpose(0, 1) * is_word
        return (
            d_inputs.transpose(0, 1),
            d_gates.t() @ states[:-1].reshape(L * B, H),
            d_candidates.t() @ gated.reshape(L * B, H),
            d_importance,
            None,
        )
