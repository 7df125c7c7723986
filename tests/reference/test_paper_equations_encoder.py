"""Section 3.1 of the paper, as slow numpy code, against the encoders in float64.

The transcriptions keep the paper's letters. Matrices written W[x, h] in the paper act on joined
vectors; ours are separate and are joined here.
"""

import numpy as np
import pytest
import torch

from readagain.networks.build import initialize_parameters
from readagain.networks.encoders import OnePassEncoder, ReadAgainEncoder

E, H, L = 3, 4, 5


def sigma(x):
    return 1 / (1 + np.exp(-x))


def gru_parts(x, h, reading):
    """Equation 3: the update gate z and the candidate h̃."""
    W_z, W_r, W_h = reading["W_z"], reading["W_r"], reading["W_h"]
    z = sigma(W_z @ np.concatenate([x, h]) + reading["b_z"])
    r = sigma(W_r @ np.concatenate([x, h]) + reading["b_r"])
    candidate = np.tanh(W_h @ np.concatenate([x, r * h]) + reading["b_h"])
    return z, candidate


def gru(x, h, reading):
    """Equation 3, last line."""
    z, candidate = gru_parts(x, h, reading)
    return (1 - z) * h + z * candidate


def lstm(x, h, cell, reading):
    """Equation 7."""
    joined = np.concatenate([x, h])
    f = sigma(reading["W_f"] @ joined + reading["b_f"])
    i = sigma(reading["W_i"] @ joined + reading["b_i"])
    o = sigma(reading["W_o"] @ joined + reading["b_o"])
    C_new = np.tanh(reading["W_C"] @ joined + reading["b_C"])
    C = f * cell + i * C_new
    return o * np.tanh(C), C


def read_gru(xs, reading):
    h, states = np.zeros(H), []
    for x in xs:
        h = gru(x, h, reading)
        states.append(h)
    return np.array(states)


def read_lstm(xs, reading):
    h, C, states = np.zeros(H), np.zeros(H), []
    for x in xs:
        h, C = lstm(x, h, C, reading)
        states.append(h)
    return np.array(states)


def numbers(tensor):
    return tensor.detach().numpy()


def gru_matrices(module):
    from_x, bias = numbers(module.input.weight), numbers(module.input.bias)
    from_h = np.concatenate([numbers(module.weight_gates), numbers(module.weight_candidate)])
    joined = np.concatenate([from_x, from_h], axis=1)
    return {
        f"{kind}_{gate}": part
        for kind, whole in (("W", joined), ("b", bias))
        for gate, part in zip("zrh", np.split(whole, 3), strict=True)
    }


def lstm_matrices(module):
    lstm_module = module.lstm
    joined = np.concatenate(
        [numbers(lstm_module.weight_ih_l0), numbers(lstm_module.weight_hh_l0)], axis=1
    )
    bias = numbers(lstm_module.bias_ih_l0 + lstm_module.bias_hh_l0)
    return {
        f"{kind}_{gate}": part
        for kind, whole in (("W", joined), ("b", bias))
        for gate, part in zip("ifCo", np.split(whole, 4), strict=True)
    }


def prepared(encoder):
    torch.manual_seed(3)
    encoder.double().eval()
    initialize_parameters(encoder, hidden_size=H)
    return encoder


def encode(encoder, sentences):
    """Encode one text; return the states of its sentences without padding, and the importance."""
    lengths = [len(sentence) for sentence in sentences]
    words = torch.zeros(1, len(sentences), L, E, dtype=torch.float64)
    for n, sentence in enumerate(sentences):
        words[0, n, : len(sentence)] = torch.from_numpy(sentence)
    encoded = encoder(words, torch.tensor([lengths]))
    states = encoded.states[0].view(len(sentences), L, -1)
    return [numbers(states[n, :length]) for n, length in enumerate(lengths)], encoded


@pytest.fixture
def sentence():
    return np.random.default_rng(1).normal(size=(4, E))


@pytest.fixture
def two_sentences():
    random = np.random.default_rng(2)
    return [random.normal(size=(5, E)), random.normal(size=(3, E))]


settings = {"input_size": E, "hidden_size": H, "bidirectional": False, "dropout": 0.2}
weighing = {"importance": "vector", "activation": "tanh"}


def test_equations_2_and_3_gru_first_pass(sentence):
    encoder = prepared(OnePassEncoder(cell="gru", **settings))
    (states,), _ = encode(encoder, [sentence])
    expected = read_gru(sentence, gru_matrices(encoder.reading.directions[0]))
    np.testing.assert_allclose(states, expected, atol=1e-12)


def test_equation_7_lstm_first_pass(sentence):
    encoder = prepared(OnePassEncoder(cell="lstm", **settings))
    (states,), _ = encode(encoder, [sentence])
    expected = read_lstm(sentence, lstm_matrices(encoder.reading.directions[0]))
    np.testing.assert_allclose(states, expected, atol=1e-12)


def alphas(xs, first, whole, module, activation=np.tanh):
    """Equation 5: α_i = tanh(W_e h¹_i + U_e h¹_n + V_e x_i)."""
    W_e, U_e, V_e = map(numbers, (module.state.weight, module.whole.weight, module.word.weight))
    return [activation(W_e @ h + U_e @ whole + V_e @ x) for x, h in zip(xs, first, strict=True)]


def read_again_gru(xs, alpha, reading):
    """Equation 4, before it is simplified: (1 - α) h² + α GRU²(x, h²)."""
    h, states = np.zeros(H), []
    for x, a in zip(xs, alpha, strict=True):
        h = (1 - a) * h + a * gru(x, h, reading)
        states.append(h)
    return np.array(states)


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
@pytest.mark.parametrize("importance", ["vector", "scalar"])
def test_equations_4_and_5_gru_second_pass(sentence, importance, activation):
    encoder = prepared(
        ReadAgainEncoder(cell="gru", importance=importance, activation=activation, **settings)
    )
    (states,), encoded = encode(encoder, [sentence])
    first = read_gru(sentence, gru_matrices(encoder.first.directions[0]))
    function = np.tanh if activation == "tanh" else sigma
    alpha = alphas(sentence, first, first[-1], encoder.second.importance[0], function)
    expected = read_again_gru(sentence, alpha, gru_matrices(encoder.second.directions[0]))
    np.testing.assert_allclose(states, expected, atol=1e-12)
    np.testing.assert_allclose(numbers(encoded.importance[0, : len(sentence)]), alpha, atol=1e-12)


def test_equation_6_equals_equation_4(sentence):
    """h² = (1 - α z) h² + (α z) h̃² gives what equation 4 gives."""
    encoder = prepared(ReadAgainEncoder(cell="gru", **weighing, **settings))
    reading = gru_matrices(encoder.second.directions[0])
    alpha = np.random.default_rng(4).normal(size=(len(sentence), H))
    h, states = np.zeros(H), []
    for x, a in zip(sentence, alpha, strict=True):
        z, candidate = gru_parts(x, h, reading)
        h = (1 - a * z) * h + (a * z) * candidate
        states.append(h)
    np.testing.assert_allclose(read_again_gru(sentence, alpha, reading), states, atol=1e-12)


def test_equation_8_lstm_second_pass(sentence):
    """h²_i = LSTM²([x_i, h¹_i, h¹_n], h²_{i-1})."""
    encoder = prepared(ReadAgainEncoder(cell="lstm", **weighing, **settings))
    (states,), encoded = encode(encoder, [sentence])
    first = read_lstm(sentence, lstm_matrices(encoder.first.directions[0]))
    widened = [np.concatenate([x, h, first[-1]]) for x, h in zip(sentence, first, strict=True)]
    expected = read_lstm(widened, lstm_matrices(encoder.second.reading.directions[0]))
    np.testing.assert_allclose(states, expected, atol=1e-12)
    assert encoded.importance is None


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_backward_direction_reads_reversed_text(sentence, cell):
    encoder = prepared(
        ReadAgainEncoder(cell=cell, **weighing, **(settings | {"bidirectional": True}))
    )
    (states,), encoded = encode(encoder, [sentence])
    read, matrices = (read_gru, gru_matrices) if cell == "gru" else (read_lstm, lstm_matrices)
    left, right = map(matrices, encoder.first.directions)
    forward, backward = read(sentence, left), read(sentence[::-1], right)[::-1]
    first = np.concatenate([forward, backward], axis=1)
    whole = np.concatenate([forward[-1], backward[0]])
    if cell == "gru":
        second = [
            read_again_gru(xs, alpha, matrices(direction))
            for direction, xs, alpha in zip(
                encoder.second.directions,
                (sentence, sentence[::-1]),
                (
                    alphas(sentence, first, whole, encoder.second.importance[0]),
                    alphas(sentence, first, whole, encoder.second.importance[1])[::-1],
                ),
                strict=True,
            )
        ]
    else:
        widened = np.array(
            [np.concatenate([x, h, whole]) for x, h in zip(sentence, first, strict=True)]
        )
        left, right = map(matrices, encoder.second.reading.directions)
        second = [read(widened, left), read(widened[::-1], right)]
    expected = np.concatenate([second[0], second[1][::-1]], axis=1)
    np.testing.assert_allclose(states, expected, atol=1e-12)
    last = np.concatenate([second[0][-1], second[1][-1]])
    np.testing.assert_allclose(numbers(encoded.last_states[0]), last, atol=1e-12)


def second_readings(encoder, cell, sentences, firsts, wholes):
    """RNN²([x_i, h¹_i, whole], h²_{i-1}) of each sentence; for the GRU through α."""
    for xs, first, whole in zip(sentences, firsts, wholes, strict=True):
        if cell == "gru":
            alpha = alphas(xs, first, whole, encoder.second.importance[0])
            yield read_again_gru(xs, alpha, gru_matrices(encoder.second.directions[0]))
        else:
            widened = [np.concatenate([x, h, whole]) for x, h in zip(xs, first, strict=True)]
            yield read_lstm(widened, lstm_matrices(encoder.second.reading.directions[0]))


def first_readings(encoder, cell, sentences):
    (reading,) = encoder.first.directions
    if cell == "gru":
        return [read_gru(xs, gru_matrices(reading)) for xs in sentences]
    return [read_lstm(xs, lstm_matrices(reading)) for xs in sentences]


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_equation_9_option_1_concatenates_sentences(two_sentences, cell):
    encoder = prepared(
        ReadAgainEncoder(cell=cell, num_sentences=2, combine="concat", **weighing, **settings)
    )
    states, encoded = encode(encoder, two_sentences)
    firsts = first_readings(encoder, cell, two_sentences)
    joined = np.concatenate([firsts[0][-1], firsts[1][-1]])
    expected = list(second_readings(encoder, cell, two_sentences, firsts, [joined, joined]))
    for ours, theirs in zip(states, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    last = np.concatenate([expected[0][-1], expected[1][-1]])
    np.testing.assert_allclose(numbers(encoded.last_states[0]), last, atol=1e-12)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_equations_10_and_11_option_2_global_vector(two_sentences, cell):
    """h_global = tanh(W_r h¹_n + U_r h'¹_m + v_r)."""
    encoder = prepared(
        ReadAgainEncoder(cell=cell, num_sentences=2, combine="global", **weighing, **settings)
    )
    states, _ = encode(encoder, two_sentences)
    firsts = first_readings(encoder, cell, two_sentences)
    W_r, U_r = np.split(numbers(encoder.combine.combine.weight), 2, axis=1)
    v_r = numbers(encoder.combine.combine.bias)
    h_global = np.tanh(W_r @ firsts[0][-1] + U_r @ firsts[1][-1] + v_r)
    wholes = [np.concatenate([first[-1], h_global]) for first in firsts]
    expected = second_readings(encoder, cell, two_sentences, firsts, wholes)
    for ours, theirs in zip(states, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
