"""Additive attention, exactly as the paper prints it."""

import torch
from torch import Tensor

from readagain.networks.masks import masked_softmax


def attend(
    query: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    weight_query: Tensor,
    weight_score: Tensor,
) -> tuple[Tensor, Tensor]:
    """Weigh source states by how well each one fits the decoder state.

    o_it = v_a . tanh(W_a s_{t-1} + U_a h²_i);  β_t = softmax(o_t);  c_t = Σ_i β_it h²_i
    (equations 13 and 14)

    Args:
        query: (B, Q) the decoder state s_{t-1}.
        keys: (B, S, A) the products U_a h²_i, made once for each source.
        states: (B, S, H) the source states h²_i.
        valid: (B, S) True at real words.
        weight_query: (A, Q) W_a.
        weight_score: (A,) v_a.

    Returns:
        The (B, H) context and its (B, S) weights.
    """
    compared = torch.tanh((query @ weight_query.T).unsqueeze(1) + keys)  # (B, S, A)
    weights = masked_softmax(compared @ weight_score, valid)  # (B, S)
    context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)  # (B, H)
    return context, weights
