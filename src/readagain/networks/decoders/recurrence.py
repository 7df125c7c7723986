"""The attending LSTM of section 3.2, or a GRU in its place: one step, and all of a summary."""

from typing import NamedTuple

import torch
from torch import Tensor

from readagain.networks.attention import attend


class DecoderWeights(NamedTuple):
    """The matrices a step multiplies with; y's own part of the gates is made beforehand.

    Args:
        query: (A, H) W_a, from the decoder state to attention.
        score: (A,) v_a.
        context: (4H, D) from the context to the gates: input, forget, candidate, output;
            (3H, D) for a GRU: update, reset, candidate.
        hidden: (4H, H) from the decoder state to the gates; (3H, H) for a GRU.
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
    cell: Tensor,
    weights: DecoderWeights,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Take one step: s_t = LSTM([y_{t-1}, c_t], s_{t-1}), with c_t attended from s_{t-1}.

    Args:
        input_gates: (B, 4H) the part of the gates that y_{t-1} gives, biases included.
        keys: (B, S, A) what attention compares.
        states: (B, S, D) the source states h².
        valid: (B, S) True at real words.
        hidden: (B, H) s_{t-1}.
        cell: (B, H) the LSTM's cell before the step.
        weights: of attention and gates.

    Returns:
        The (B, H) state and cell after the step, the (B, D) context, its (B, S) weights.
    """
    context, attention = attend(hidden, keys, states, valid, weights.query, weights.score)
    gates = input_gates + context @ weights.context.T + hidden @ weights.hidden.T  # (B, 4H)
    admit, keep, candidate, show = gates.chunk(4, dim=1)  # (B, H) each
    cell = torch.sigmoid(keep) * cell + torch.sigmoid(admit) * torch.tanh(candidate)
    hidden = torch.sigmoid(show) * torch.tanh(cell)
    return hidden, cell, context, attention


def gru_decoder_step(
    input_gates: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    hidden: Tensor,
    weights: DecoderWeights,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take one step: s_t = GRU([y_{t-1}, c_t], s_{t-1}), with c_t attended from s_{t-1}.

    The GRU is that of the encoder (equation 3) and of Bahdanau, Cho and Bengio 2015: the reset
    gate meets the state before the matrix product.

    Args:
        input_gates: (B, 3H) the part of z, r and the candidate that y_{t-1} gives, with biases.
        keys: (B, S, A) what attention compares.
        states: (B, S, D) the source states.
        valid: (B, S) True at real words.
        hidden: (B, H) s_{t-1}.
        weights: of attention and gates.

    Returns:
        The (B, H) state after the step, the (B, D) context, its (B, S) weights.
    """
    context, attention = attend(hidden, keys, states, valid, weights.query, weights.score)
    H = hidden.size(1)
    seen = input_gates + context @ weights.context.T  # (B, 3H)
    gates = torch.sigmoid(seen[:, : 2 * H] + hidden @ weights.hidden[: 2 * H].T)  # (B, 2H)
    update, reset = gates.chunk(2, dim=1)  # (B, H) each
    candidate = torch.tanh(seen[:, 2 * H :] + (reset * hidden) @ weights.hidden[2 * H :].T)
    hidden = (1 - update) * hidden + update * candidate
    return hidden, context, attention


def decode_teacher_forced(
    input_gates: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weights: DecoderWeights,
) -> tuple[Tensor, Tensor, Tensor]:
    """Take all T steps of a known summary.

    Args:
        input_gates: (B, T, 4H) the part of the gates that each previous word gives; 3H for a GRU.
        keys: (B, S, A) what attention compares.
        states: (B, S, D) the source states h².
        valid: (B, S) True at real words.
        hidden: (B, H) s_0.
        cell: (B, H) the LSTM's cell before the first step; None for a GRU.
        weights: of attention and gates.

    Returns:
        (B, T, H) decoder states, (B, T, D) contexts, (B, T, S) attention weights.
    """
    taken = []
    for t in range(input_gates.size(1)):
        seen = (input_gates[:, t], keys, states, valid, hidden)
        if cell is None:
            hidden, context, attention = gru_decoder_step(*seen, weights)
        else:
            hidden, cell, context, attention = decoder_step(*seen, cell, weights)
        taken.append((hidden, context, attention))
    all_hidden, contexts, attentions = (
        torch.stack(each, dim=1) for each in zip(*taken, strict=True)
    )
    return all_hidden, contexts, attentions
