"""Nallapati et al. 2016 by hand: GRU decoder and large-vocabulary trick."""

import numpy as np
import pytest
import torch

from readagain.config.override import override
from readagain.networks.build import build_model, initialize_parameters
from readagain.networks.decoder import AttentionDecoder, DecoderState
from readagain.networks.network import SourceMemory, select_rows
from readagain.presets import PRESETS
from readagain.text.vocab import BOS, EOS, UNK

E, U, H, A, S, T, V, N = 3, 4, 5, 2, 4, 3, 40, 12


def numbers(tensor):
    return tensor.detach().numpy()


def sigma(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


def attend(s, h, decoder):
    """β = softmax(v . tanh(W s + U h_j)), c = Σ β_j h_j."""
    W, v, U = map(numbers, (decoder.weight_query, decoder.weight_score, decoder.key.weight))
    beta = softmax(np.array([v @ np.tanh(W @ s + U @ h_j) for h_j in h]))
    return beta, beta @ h


def gru_step(y, s, h, decoder):
    """z, r from [y, c] and s; the candidate from [y, c] and r * s; s' = (1 - z) s + z candidate."""
    beta, c = attend(s, h, decoder)
    W, b = numbers(decoder.input.weight), numbers(decoder.input.bias)
    C, U = numbers(decoder.weight_context), numbers(decoder.weight_hidden)
    z = sigma(W[:H] @ y + b[:H] + C[:H] @ c + U[:H] @ s)
    r = sigma(W[H : 2 * H] @ y + b[H : 2 * H] + C[H : 2 * H] @ c + U[H : 2 * H] @ s)
    new = np.tanh(W[2 * H :] @ y + b[2 * H :] + C[2 * H :] @ c + U[2 * H :] @ (r * s))
    return (1 - z) * s + z * new, c, beta


@pytest.fixture
def decoder():
    torch.manual_seed(5)
    decoder = AttentionDecoder(
        cell="gru",
        input_size=E,
        source_size=U,
        last_size=U,
        hidden_size=H,
        attention_size=A,
    ).double()
    initialize_parameters(decoder, hidden_size=H)
    return decoder


def test_gru_decoder_matches_equations(decoder):
    torch.manual_seed(6)
    h, words = torch.randn(1, S, U).double(), torch.randn(1, T, E).double()
    valid = torch.ones(1, S, dtype=torch.bool)
    memory = SourceMemory(states=h, valid=valid, keys=decoder.key(h), ext_ids=torch.zeros(1, S))
    state = decoder.start(torch.randn(1, U).double())
    assert state.cell is None
    s = numbers(state.hidden[0])
    trained = decoder(words, memory, state)
    for t in range(T):
        s, c, beta = gru_step(numbers(words[0, t]), s, numbers(h[0]), decoder)
        state, context, weights = decoder.step(words[:, t], memory, state)
        np.testing.assert_allclose(numbers(trained[0, t]), s, atol=1e-12)
        for expected, stepped in zip((s, c, beta), (state.hidden, context, weights), strict=True):
            np.testing.assert_allclose(numbers(stepped[0]), expected, atol=1e-12)


def test_gru_state_has_no_cell_after_selection():
    state = DecoderState(torch.arange(6.0).view(3, 2), None)
    chosen = select_rows(state, torch.tensor([2, 0]))
    assert chosen.hidden.tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert chosen.cell is None


@pytest.fixture
def network():
    """The row lvt2k_1sent, small; two sources share a list."""

    def build(**changes):
        torch.manual_seed(8)
        return (
            build_model(
                override(
                    PRESETS["lvt2k_1sent"],
                    {
                        "vocab_size": V,
                        "source_vocab_size": 50,
                        "model.embedding_size": E,
                        "model.encoder.hidden_size": 3,
                        "model.decoder.hidden_size": H,
                        "model.decoder.attention_size": A,
                        "model.shortlist_size": N,
                        "model.shortlist_sources": 2,
                        "data.max_source_words": S,
                        **changes,
                    },
                )
            )
            .double()
            .eval()
        )

    return build


SOURCE_IDS = torch.tensor([[[5, 6, 7, 8]], [[9, 10, 11, 0]], [[12, 0, 0, 0]]])
LENGTHS = torch.tensor([[4], [3], [1]])
EXT_IDS = torch.tensor([[30, V + 1, 5, V + 1], [31, 6, V + 2, 0], [7, 0, 0, 0]])
TARGET_IDS = torch.tensor([[30, V + 1, EOS], [31, 39, EOS], [7, 30, UNK]])
PREVIOUS_IDS = torch.cat([torch.full((3, 1), BOS), TARGET_IDS[:, :-1]], dim=1)
BATCH = (SOURCE_IDS, LENGTHS, EXT_IDS, PREVIOUS_IDS, TARGET_IDS)
# 30 and 31 are words of the two sources that share a list; the third source is alone.
LISTS = [[*range(N - 2), 30, 31], [*range(N - 2), 30, 31], [*range(N)]]


def decoder_states(network):
    """Decoder states of the batch, as the network has."""
    state = network.encode(SOURCE_IDS, LENGTHS, EXT_IDS)
    return numbers(network.decode(state, PREVIOUS_IDS))


def test_large_vocabulary_trick_matches_loop(network):
    model = network()
    found = numbers(model(*BATCH))
    hidden = decoder_states(model)
    W, b = numbers(model.output.project.weight), numbers(model.output.project.bias)
    for row, listed in enumerate(LISTS):
        for t in range(T):
            # A target that is not on the list counts as UNK, like one outside the vocabulary.
            target = int(TARGET_IDS[row, t])
            place = listed.index(target if target in listed else UNK)
            probs = softmax(W[listed] @ hidden[row, t] + b[listed])
            np.testing.assert_allclose(found[row, t], np.log(probs[place]), atol=1e-12)
