"""Section 3 of Chopra, Auli and Rush 2016, as slow numpy code, in float64."""

import numpy as np
import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.text.vocab import BOS

V, E, H, Q, M = 9, 3, 4, 3, 5
SOURCE = [5, 6, 4, 6, 8]
SUMMARY = [7, 4, 5, 8]


def build(cell):
    settings = {
        "vocab_size": V,
        "source_vocab_size": 10,
        "model.kind": "ras",
        "model.cell": cell,
        "model.embedding_size": E,
        "model.hidden_size": H,
        "model.window": Q,
        "model.num_positions": M,
    }
    torch.manual_seed(5)
    return build_model(override(RunSpec(title="small", paper="none"), settings)).double().eval()


def sigma(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def aggregate(w, x):
    """Section 3.1: a_i = x_i + l_i; z_ik = Σ_{h=-q/2}^{q/2} a_{i+h} . b^k_{q/2+h}."""
    a = [x[i] + w["encoder.positions"][i] for i in range(M)]
    B = w["encoder.filters.weight"].reshape(H, Q, E)
    z = np.zeros((M, H))
    for i in range(M):
        for k in range(H):
            for h in range(-(Q // 2), Q // 2 + 1):
                if 0 <= i + h < M:
                    z[i, k] += a[i + h] @ B[k, Q // 2 + h]
    return z


def sums(w, y, h, c):
    return (
        w["decoder.input.weight"] @ y
        + w["decoder.input.bias"]
        + w["decoder.weight_hidden"] @ h
        + w["decoder.weight_context"] @ c
    )


def elman(w, y, h, m, c):
    """h_t = σ(W_1 y_{t-1} + W_2 h_{t-1} + W_3 c_t)."""
    return sigma(sums(w, y, h, c)), m


def lstm(w, y, h, m, c):
    """m_t = m_{t-1} f_t + i_t i'_t, h_t = m_t o_t."""
    i, f, i_new, o = np.split(sums(w, y, h, c), 4)
    m = m * sigma(f) + sigma(i) * np.tanh(i_new)
    return m * sigma(o), m


@pytest.mark.parametrize(("cell", "recurrence"), [("elman", elman), ("lstm", lstm)])
def test_ras_probabilities_match_paper(cell, recurrence):
    model = build(cell)
    w = {name: value.numpy() for name, value in model.state_dict().items()}
    x = np.array([w["source_embedding.weight"][word] for word in SOURCE])
    z = aggregate(w, x)
    first = np.tanh(w["decoder.first"])  # the paper does not say how decoding starts
    h, m = first[0], first[-1]
    source = torch.tensor([[SOURCE]]), torch.tensor([[M]]), torch.tensor([SOURCE])
    state, previous, by_hand = model.start(*source), BOS, []
    for word in SUMMARY:
        alpha = softmax(np.array([z[j] @ h for j in range(M)]))
        c = sum(alpha[j] * x[j] for j in range(M))
        h, m = recurrence(w, w["previous_words.embedding.weight"][previous], h, m, c)
        W_4, W_5 = w["output.project.weight"][:, :H], w["output.project.weight"][:, H:]
        expected = softmax(W_4 @ h + W_5 @ c + w["output.project.bias"])

        logits, state = model.step(state, torch.tensor([previous]))
        np.testing.assert_allclose(logits.vocab[0].softmax(0).detach(), expected, atol=1e-12)
        np.testing.assert_allclose(logits.attention[0].detach(), alpha, atol=1e-12)
        by_hand.append(np.log(expected[word]))
        previous = word
    log_probs = model(*source, torch.tensor([[BOS, *SUMMARY[:-1]]]), torch.tensor([SUMMARY]))
    np.testing.assert_allclose(log_probs[0].detach(), by_hand, atol=1e-12)
