"""Section 3.2 of the paper, as slow numpy code, against the decoder in float64."""

import numpy as np
import pytest
import torch
from copy_reference import copy_log_probs

from readagain.networks.build import initialize_parameters
from readagain.networks.decoder import AttentionDecoder, DecoderState, PreviousWordEmbedding
from readagain.networks.functional import decode_teacher_forced
from readagain.networks.network import SourceMemory
from readagain.networks.outputs import (
    CopyScorer,
    copy_target_log_probs,
)
from readagain.text.vocab import BOS, UNK

E, H, U, A, S, T, V = 3, 4, 5, 6, 7, 3, 8


def sigma(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def numbers(tensor):
    return tensor.detach().numpy()


def attention(s, h2, decoder):
    """Equations 13 and 14: c_t = Σ_i β_it h²_i, with β a softmax over
    o_it = v_a . tanh(W_a s_{t-1} + U_a h²_i).
    """
    W_a, U_a, v_a = map(numbers, (decoder.weight_query, decoder.key.weight, decoder.weight_score))
    o = np.array([v_a @ np.tanh(W_a @ s + U_a @ h) for h in h2])
    beta = softmax(o)
    return sum(b * h for b, h in zip(beta, h2, strict=True)), beta


def step(y, s, cell, h2, decoder):
    """Equation 12: s_t = LSTM([y_{t-1}, c_t], s_{t-1})."""
    c, beta = attention(s, h2, decoder)
    W = np.concatenate(
        [
            numbers(decoder.input.weight),
            numbers(decoder.weight_context),
            numbers(decoder.weight_hidden),
        ],
        axis=1,
    )
    gates = W @ np.concatenate([y, c, s]) + numbers(decoder.input.bias)
    i, f, C_new, o = np.split(gates, 4)
    C = sigma(f) * cell + sigma(i) * np.tanh(C_new)
    return sigma(o) * np.tanh(C), C, c, beta


@pytest.fixture
def decoder():
    torch.manual_seed(5)
    decoder = AttentionDecoder(
        cell="lstm",
        input_size=E,
        source_size=U,
        last_size=U,
        hidden_size=H,
        attention_size=A,
    ).double()
    initialize_parameters(decoder, hidden_size=H)
    return decoder


@pytest.fixture
def known_summary(decoder):
    """Return the encoded source, embedded previous words, a first state and expected outputs."""
    torch.manual_seed(6)
    h2, words = torch.randn(1, S, U).double(), torch.randn(1, T, E).double()
    start = DecoderState(torch.randn(1, H).double(), torch.randn(1, H).double())
    s, C, by_hand = numbers(start.hidden[0]), numbers(start.cell[0]), []
    for t in range(T):
        s, C, c, beta = step(numbers(words[0, t]), s, C, numbers(h2[0]), decoder)
        by_hand.append((s, c, beta))
    valid = torch.ones(1, S, dtype=torch.bool)
    memory = SourceMemory(states=h2, valid=valid, keys=decoder.key(h2), ext_ids=torch.zeros(1, S))
    return memory, words, start, by_hand


@pytest.mark.parametrize("way", ["as it is trained", "in plain steps"])
def test_equations_12_to_14_teacher_forced(decoder, known_summary, way):
    memory, words, start, by_hand = known_summary
    if way == "as it is trained":
        found = decoder(words, memory, start)
    else:
        gates, source = decoder.input(words), (memory.keys, memory.states, memory.valid)
        found = decode_teacher_forced(gates, *source, start.hidden, start.cell, decoder.weights())
    for t, (s, _, _) in enumerate(by_hand):
        np.testing.assert_allclose(numbers(found[0, t]), s, atol=1e-12)


def test_equations_12_to_14_single_steps(decoder, known_summary):
    memory, words, state, by_hand = known_summary
    for t, (s, c, beta) in enumerate(by_hand):
        state, context, weights = decoder.step(words[:, t], memory, state)
        np.testing.assert_allclose(numbers(state.hidden[0]), s, atol=1e-12)
        np.testing.assert_allclose(numbers(context[0]), c, atol=1e-12)
        np.testing.assert_allclose(numbers(weights[0]), beta, atol=1e-12)


def test_equation_15_embeds_copied_oov_word_by_position():
    """y_{t-1} = p_i = tanh(W_c h²_i + b_c) for a word of the source outside the vocabulary."""
    torch.manual_seed(7)
    words = PreviousWordEmbedding(vocab_size=V, embedding_size=E, source_size=U).double()
    h2 = torch.randn(1, S, U).double()
    embedded = words(torch.tensor([[BOS, 6, V + 2, UNK]]), words.embed_positions(h2))

    Y, W_c, b_c = map(numbers, (words.embedding.weight, words.copied.weight, words.copied.bias))
    p_2 = np.tanh(W_c @ numbers(h2[0, 2]) + b_c)
    np.testing.assert_allclose(numbers(embedded[0]), [Y[BOS], Y[6], p_2, Y[UNK]], atol=1e-12)


def joint_by_hand(vocab_logits, copy_logits, length, ext_ids):
    """Softmax over vocabulary and positions; the probabilities of a word are added in a loop."""
    joint = softmax(np.concatenate([vocab_logits, copy_logits[:length]]))
    probs = {}
    for word in range(V):
        probs[word] = joint[word]
    for position in range(length):
        word = int(ext_ids[position])
        probs[word] = probs.get(word, 0.0) + joint[V + position]
    return probs


@pytest.fixture
def scores():
    torch.manual_seed(8)
    ext_ids = torch.tensor([[3, V + 1, V + 1, 5, 3, V + 5, 0], [V, 4, 4, V, 7, 0, 0]])
    valid = torch.tensor([[True] * 6 + [False], [True] * 5 + [False] * 2])
    return torch.randn(2, T, V).double(), torch.randn(2, T, S).double(), valid, ext_ids


def test_copy_softmax_matches_double_loop(scores):
    vocab_logits, copy_logits, valid, ext_ids = scores
    for t in range(T):
        dense = copy_log_probs(vocab_logits[:, t], copy_logits[:, t], valid, ext_ids).exp()
        for b in range(2):
            by_hand = joint_by_hand(
                numbers(vocab_logits[b, t]),
                numbers(copy_logits[b, t]),
                int(valid[b].sum()),
                ext_ids[b],
            )
            for word in range(V + S):
                assert dense[b, word].item() == pytest.approx(by_hand.get(word, 0.0), abs=1e-14)


def test_target_log_probs_match_full_distribution(scores):
    vocab_logits, copy_logits, valid, ext_ids = scores
    targets = torch.tensor([[3, V + 1, 6], [V, 4, 2]])
    lean = copy_target_log_probs(vocab_logits, copy_logits, valid, ext_ids, targets)
    for t in range(T):
        dense = copy_log_probs(vocab_logits[:, t], copy_logits[:, t], valid, ext_ids)
        torch.testing.assert_close(lean[:, t], dense.gather(1, targets[:, t : t + 1]).squeeze(1))


def test_copy_score_is_state_times_tanh_of_projection():
    torch.manual_seed(9)
    copy = CopyScorer(source_size=U, hidden_size=H).double()
    h2, s = torch.randn(1, S, U).double(), torch.randn(1, T, H).double()
    logits = copy(s, copy.keys(h2))
    W, b = numbers(copy.project.weight), numbers(copy.project.bias)
    for t in range(T):
        for i in range(S):
            expected = numbers(s[0, t]) @ np.tanh(W @ numbers(h2[0, i]) + b)
            assert logits[0, t, i].item() == pytest.approx(expected, abs=1e-12)
