"""The recurrent equations of Zeng et al. 2016 as PyTorch functions.

`kernels/` has Triton kernels for the same equations. `dispatch.py` calls the kernels on a GPU and
the functions of this module elsewhere.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from readagain.networks.masks import masked_softmax, valid_positions


def importance_gru(
    inputs: Tensor,
    weight_gates: Tensor,
    weight_candidate: Tensor,
    importance: Tensor | None,
    lengths: Tensor,
) -> Tensor:
    """Run the GRU of equation 3, with an update gate z that is scaled by the importance α.

    h_i = (1 - α_i z_i) h_{i-1} + (α_i z_i) h̃_i    (equation 6)

    Args:
        inputs: (B, L, 3H) projections of the words, biases included: H values each for the update
            gate z, the reset gate r and the candidate h̃.
        weight_gates: (2H, H) weights from the previous state to z and r.
        weight_candidate: (H, H) weights from the reset state r * h_{i-1} to h̃.
        importance: (B, L, H) α, or None for a plain GRU (α = 1).
        lengths: (B,) number of real words of each sequence.

    Returns:
        (B, L, H) states; at padding, the state of the last real word is repeated.
    """
    B, L, _ = inputs.shape
    H = weight_candidate.size(0)
    alpha = valid_positions(lengths, L).unsqueeze(-1).to(inputs.dtype)  # (B, L, 1), 0 at padding
    if importance is not None:
        alpha = alpha * importance.to(inputs.dtype)  # (B, L, H)
    gate_inputs, candidate_inputs = inputs[..., : 2 * H], inputs[..., 2 * H :]
    state = inputs.new_zeros(B, H)
    states = []
    # addmm and lerp keep the autograd graph at eight operations per word. On a CPU, this is 1.3
    # times faster than separate additions and products.
    for gate_input, candidate_input, alpha_i in zip(
        gate_inputs.unbind(1), candidate_inputs.unbind(1), alpha.unbind(1), strict=True
    ):
        gates = torch.sigmoid(torch.addmm(gate_input, state, weight_gates.T))  # (B, 2H)
        update, reset = gates.chunk(2, dim=1)  # (B, H) each
        candidate = torch.tanh(torch.addmm(candidate_input, reset * state, weight_candidate.T))
        state = torch.lerp(state, candidate, update * alpha_i)  # (B, H)
        states.append(state)
    return torch.stack(states, dim=1)


def attend(
    query: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    weight_query: Tensor,
    weight_score: Tensor,
) -> tuple[Tensor, Tensor]:
    """Compute additive attention (equations 13 and 14).

    o_it = v_a . tanh(W_a s_{t-1} + U_a h²_i);  β_t = softmax(o_t);  c_t = Σ_i β_it h²_i

    Args:
        query: (B, H) the decoder state s_{t-1}.
        keys: (B, S, A) the products U_a h²_i, computed once per source.
        states: (B, S, U) the source states h²_i.
        valid: (B, S) True at real words.
        weight_query: (A, H) W_a.
        weight_score: (A,) v_a.

    Returns:
        (B, U) context and (B, S) attention weights.
    """
    energy = torch.tanh((query @ weight_query.T).unsqueeze(1) + keys)  # (B, S, A)
    weights = masked_softmax(energy @ weight_score, valid)  # (B, S)
    context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)  # (B, U)
    return context, weights


class DecoderWeights(NamedTuple):
    """Weights of a decoder step, except those that project the previous word.

    An LSTM has four gates: input, forget, candidate and output. A GRU has three: update, reset and
    candidate, and 3H in place of 4H below.

    Args:
        query: (A, H) W_a, from the decoder state to the attention query.
        score: (A,) v_a, from the attention energy to the attention score.
        context: (4H, U) from the context to the gates.
        hidden: (4H, H) from the decoder state to the gates.
    """

    query: Tensor
    score: Tensor
    context: Tensor
    hidden: Tensor


def decoder_step(
    input_gates: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weights: DecoderWeights,
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Compute the next decoder state s_t = RNN([y_{t-1}, c_t], s_{t-1}).

    The context c_t comes from attention with s_{t-1} as query. The RNN is an LSTM, or a GRU if
    `cell` is None. As in equation 3 and Bahdanau, Cho and Bengio 2015, the reset gate of the GRU is
    applied to the state before the matrix product.

    Args:
        input_gates: (B, 4H) projection of y_{t-1} to the gates, biases included; (B, 3H) for a GRU.
        keys: (B, S, A) attention keys.
        states: (B, S, U) the source states h².
        valid: (B, S) True at real words.
        hidden: (B, H) s_{t-1}.
        cell: (B, H) the LSTM cell before the step; None for a GRU.
        weights: weights of attention and gates.

    Returns:
        (B, H) state s_t, (B, H) cell or None, (B, U) context and (B, S) attention weights.
    """
    context, attention = attend(hidden, keys, states, valid, weights.query, weights.score)
    inputs = input_gates + context @ weights.context.T  # (B, 4H or 3H)
    if cell is None:
        H = hidden.size(1)
        gates = torch.sigmoid(inputs[:, : 2 * H] + hidden @ weights.hidden[: 2 * H].T)  # (B, 2H)
        update, reset = gates.chunk(2, dim=1)  # (B, H) each
        candidate = torch.tanh(inputs[:, 2 * H :] + (reset * hidden) @ weights.hidden[2 * H :].T)
        return (1 - update) * hidden + update * candidate, None, context, attention
    gates = inputs + hidden @ weights.hidden.T  # (B, 4H)
    input_gate, forget, candidate, output = gates.chunk(4, dim=1)  # (B, H) each
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(input_gate) * torch.tanh(candidate)
    return torch.sigmoid(output) * torch.tanh(cell), cell, context, attention


def decode_teacher_forced(
    input_gates: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weights: DecoderWeights,
) -> Tensor:
    """Return the (B, T, H) states of all T steps of a reference summary (teacher forcing).

    The arguments are those of `decoder_step`, with two differences: `input_gates` are the
    (B, T, 4H or 3H) projections of all previous words; `hidden` and `cell` are the state before the
    first step.
    """
    all_hidden = []
    for gates in input_gates.unbind(1):
        hidden, cell, _, _ = decoder_step(gates, keys, states, valid, hidden, cell, weights)
        all_hidden.append(hidden)
    return torch.stack(all_hidden, 1)
