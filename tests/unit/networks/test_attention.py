import torch
from torch.autograd import gradcheck

from readagain.networks.functional import attend

B, S, A, Q, U = 2, 4, 3, 2, 5


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_equal_scores_average_valid_states():
    states = torch.tensor([[[1.0], [3.0], [100.0]]])
    context, weights = attend(
        torch.zeros(1, Q),
        torch.zeros(1, 3, A),
        states,
        torch.tensor([[True, True, False]]),
        torch.zeros(A, Q),
        torch.zeros(A),
    )
    assert context.tolist() == [[2.0]]
    assert weights.tolist() == [[0.5, 0.5, 0.0]]


def test_attention_gradient():
    torch.manual_seed(4)
    valid = torch.tensor([[True] * 4, [True, True, False, False]])
    arguments = draw(B, Q), draw(B, S, A), draw(B, S, U), draw(A, Q), draw(A)
    assert gradcheck(
        lambda query, keys, states, *weights: attend(query, keys, states, valid, *weights),
        arguments,
    )
