"""One attention of the decoder, its gradient, and the LSTM cell, in plain torch operations.

The same five functions as `kernels.attention`, for the CPU: each fills the tensors it is given.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def attend(
    query: Tensor, keys: Tensor, states: Tensor, valid: Tensor, score: Tensor,
    weights: Tensor, context: Tensor,
) -> Tensor:  # fmt: skip
    """Fill the (B, S) weights and the (B, D) context of a (B, A) query.

    Returns:
        The (B, S, A) comparisons, which the gradient wants to see again: on a CPU, keeping them
        costs less than another tanh.
    """
    compared = (query.unsqueeze(1) + keys).tanh_()  # (B, S, A)
    fit = (compared @ score).masked_fill_(~valid, torch.finfo(keys.dtype).min)  # (B, S)
    torch.softmax(fit, 1, out=weights)
    context.copy_(torch.bmm(weights.unsqueeze(1), states).squeeze(1))
    return compared


def attend_gradient(
    compared: Tensor, keys: Tensor, states: Tensor, score: Tensor, weights: Tensor,
    d_context: Tensor, d_fit: Tensor, d_query: Tensor,
) -> None:  # fmt: skip
    """Fill the gradients of the (B, S) scores before the softmax and of the (B, A) query."""
    d_weights = torch.bmm(states, d_context.unsqueeze(2)).squeeze(2)  # (B, S)
    mean = (weights * d_weights).sum(1, keepdim=True)  # (B, 1)
    torch.mul(weights, d_weights.sub_(mean), out=d_fit)
    slope = 1 - compared.square()  # (B, S, A)
    d_query.copy_(torch.bmm(d_fit.unsqueeze(1), slope).squeeze(1).mul_(score))


def keys_gradient(
    kept: Sequence[Tensor], keys: Tensor, score: Tensor, d_fit: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of the (B, S, A) keys and the (A,) score from all T words at once."""
    d_keys = d_fit.sum(0).unsqueeze(2).repeat(1, 1, keys.size(2))  # (B, S, A)
    d_score = torch.zeros_like(score)
    for compared, owed in zip(kept, d_fit, strict=True):
        d_score += owed.flatten() @ compared.flatten(0, 1)
        d_keys.addcmul_(owed.unsqueeze(2), compared.square(), value=-1)
    return d_keys.mul_(score), d_score


def lstm_cell(
    context_gates: Tensor, state_gates: Tensor, cell_before: Tensor,
    gates: Tensor, cell: Tensor, state: Tensor,
) -> None:  # fmt: skip
    """Fill gates, cell and state of one step from the two summands of its (B, 4H) gates."""
    torch.add(context_gates, state_gates, out=gates)
    i, f, g, o = gates.chunk(4, dim=1)  # (B, H) each, views of `gates`
    gates[:, : 2 * cell.size(1)].sigmoid_()
    g.tanh_()
    o.sigmoid_()
    torch.mul(f, cell_before, out=cell).addcmul_(i, g)
    torch.mul(o, cell.tanh(), out=state)


def lstm_cell_gradient(
    gates: Tensor, cell_before: Tensor, cell: Tensor, d_state: Tensor, d_later: Tensor,
    d_cell: Tensor, d_gates: Tensor,
) -> None:  # fmt: skip
    """Fill the gradient of the gates; carry that of the cell one step back, in place."""
    i, f, g, o = gates.chunk(4, dim=1)
    d_i, d_f, d_g, d_o = d_gates.chunk(4, dim=1)
    squashed = cell.tanh()
    arriving = d_state + d_later
    d_cell.add_(arriving * o * (1 - squashed.square()))
    torch.mul(d_cell, g * i * (1 - i), out=d_i)
    torch.mul(d_cell, cell_before * f * (1 - f), out=d_f)
    torch.mul(d_cell, i * (1 - g.square()), out=d_g)
    torch.mul(arriving, squashed * o * (1 - o), out=d_o)
    d_cell.mul_(f)
