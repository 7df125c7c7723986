"""Section 3 of Rush, Chopra and Weston 2015, as slow numpy code, in float64."""

import numpy as np
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.text.vocab import BOS

V, D, H, C, Q, M = 9, 3, 4, 3, 1, 5
SOURCE = [5, 6, 4, 6, 8]
SUMMARY = [7, 4, 5, 8]


def build(**changes):
    settings = {
        "vocab_size": V,
        "source_vocab_size": 10,
        "model.kind": "abs",
        "model.embedding_size": D,
        "model.hidden_size": H,
        "model.context_words": C,
    }
    torch.manual_seed(5)
    run = override(RunSpec(title="small", paper="none"), settings | changes)
    return build_model(run).double().eval()


def weights(model):
    return {name: value.numpy() for name, value in model.state_dict().items()}


def softmax(x):
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def attention(w, x, y_c):
    """enc3: p ∝ exp(x̃ P ỹ'_c), x̄_i = Σ_{q=i-Q}^{i+Q} x̃_q / (2Q + 1), enc3 = pᵀ x̄."""
    x_tilde = np.array([w["source_embedding.weight"][word] for word in x])
    y_tilde = np.concatenate([w["encoder.embedding.weight"][word] for word in y_c])
    p = softmax(x_tilde @ w["encoder.query.weight"] @ y_tilde)
    x_bar = np.zeros_like(x_tilde)
    for i in range(M):
        for q in range(i - Q, i + Q + 1):
            if 0 <= q < M:
                x_bar[i] += x_tilde[q] / (2 * Q + 1)
    return p @ x_bar, p


def distribution(w, x, y_c):
    """p(y | y_c, x) ∝ exp(V h + W enc(x, y_c)) with h = tanh(U ỹ_c); U, V and W have biases."""
    y_tilde = np.concatenate([w["previous_words.embedding.weight"][word] for word in y_c])
    h = np.tanh(w["hidden.weight"] @ y_tilde + w["hidden.bias"])
    V_, W_ = w["output.project.weight"][:, :H], w["output.project.weight"][:, H:]
    context, p = attention(w, x, y_c)
    return softmax(V_ @ h + W_ @ context + w["output.project.bias"]), p


def test_abs_probabilities_match_paper():
    model = build(**{"model.encoder.smoothing": Q})
    w = weights(model)
    written = [BOS] * C
    state = model.start(torch.tensor([[SOURCE]]), torch.tensor([[M]]), torch.tensor([SOURCE]))
    by_hand = []
    for word in SUMMARY:
        expected, p = distribution(w, SOURCE, written[-C:])
        logits, state = model.step(state, torch.tensor([written[-1]]))
        np.testing.assert_allclose(logits.vocab[0].softmax(0).detach(), expected, atol=1e-12)
        np.testing.assert_allclose(logits.attention[0].detach(), p, atol=1e-12)
        by_hand.append(np.log(expected[word]))
        written.append(word)
    log_probs = model(
        torch.tensor([[SOURCE]]),
        torch.tensor([[M]]),
        torch.tensor([SOURCE]),
        torch.tensor([[BOS, *SUMMARY[:-1]]]),
        torch.tensor([SUMMARY]),
    )
    np.testing.assert_allclose(log_probs[0].detach(), by_hand, atol=1e-12)
