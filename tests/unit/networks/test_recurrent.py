import torch
from torch.autograd import gradcheck

from readagain.networks.functional import importance_gru
from readagain.networks.recurrent import GruLayer, RnnLayer

B, L, H = 2, 4, 3


def importance_gru_arguments():
    """Return inputs, weights of the gates and of the candidate, importance and lengths."""
    random = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(*shape, generator=random, dtype=torch.float64, requires_grad=True)

    return draw(B, L, 3 * H), draw(2 * H, H), draw(H, H), draw(B, L, H), torch.tensor([4, 2])


def test_importance_of_one_gives_plain_gru():
    inputs, gates, candidate, _, lengths = importance_gru_arguments()
    ones = torch.ones(B, L, H, dtype=torch.float64)
    weighted = importance_gru(inputs, gates, candidate, ones, lengths)
    plain = importance_gru(inputs, gates, candidate, None, lengths)
    assert torch.equal(weighted, plain)


def test_importance_of_zero_keeps_state():
    inputs, gates, candidate, importance, lengths = importance_gru_arguments()
    importance = importance.detach().clone()
    importance[:, 1] = 0.0
    states = importance_gru(inputs, gates, candidate, importance, lengths)
    assert torch.equal(states[:, 1], states[:, 0])
    assert not torch.equal(states[0, 2], states[0, 1])


def test_gru_repeats_last_state_at_padding():
    inputs, gates, candidate, importance, lengths = importance_gru_arguments()
    states = importance_gru(inputs, gates, candidate, importance, lengths)
    assert torch.equal(states[1, 2:], states[1, 1].expand(2, H))


def test_importance_gru_gradient():
    inputs, gates, candidate, importance, lengths = importance_gru_arguments()
    assert gradcheck(
        lambda *tensors: importance_gru(*tensors, lengths), (inputs, gates, candidate, importance)
    )


def test_plain_gru_gradient():
    inputs, gates, candidate, _, lengths = importance_gru_arguments()
    assert gradcheck(
        lambda *tensors: importance_gru(*tensors, None, lengths), (inputs, gates, candidate)
    )


def test_scalar_importance_equals_repeated_vector():
    torch.manual_seed(2)
    layer = GruLayer(input_size=2, hidden_size=H)
    torch.nn.init.normal_(layer.weight_gates)
    torch.nn.init.normal_(layer.weight_candidate)
    words, lengths, alpha = torch.randn(B, L, 2), torch.tensor([4, 2]), torch.rand(B, L, 1)
    torch.testing.assert_close(
        layer(words, lengths, alpha), layer(words, lengths, alpha.repeat(1, 1, H))
    )


def test_bidirectional_states_depend_on_whole_text():
    torch.manual_seed(3)
    layer = RnnLayer(cell="lstm", input_size=2, hidden_size=H, bidirectional=True)
    words, lengths = torch.randn(1, L, 2), torch.tensor([L])
    states, last = layer(words, lengths)
    changed = words.clone()
    changed[0, -1] += 1.0
    states_after, _ = layer(changed, lengths)
    assert torch.equal(states[0, 0, :H], states_after[0, 0, :H])
    assert not torch.equal(states[0, 0, H:], states_after[0, 0, H:])
    torch.testing.assert_close(last, torch.cat([states[:, -1, :H], states[:, 0, H:]], dim=1))
