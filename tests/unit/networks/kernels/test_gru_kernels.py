"""The kernels of the GRU with importance weights compute `functional.importance_gru`."""

import pytest
import torch

from readagain.networks.functional import importance_gru
from readagain.networks.kernels.gru import TritonImportanceGru

kernel = TritonImportanceGru.apply
LENGTHS = torch.tensor([6, 1, 4, 6, 3])


def random_arguments(hidden_size: int, *, with_importance: bool):
    """Return random inputs, weights and importance for 5 rows of 6 words."""
    draw = torch.Generator().manual_seed(7)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=draw)

    H = hidden_size
    importance = torch.tanh(normal(5, 6, H)).requires_grad_() if with_importance else None
    inputs = normal(5, 6, 3 * H).requires_grad_()
    gates = (normal(2 * H, H) / H**0.5).requires_grad_()
    candidate = (normal(H, H) / H**0.5).requires_grad_()
    return inputs, gates, candidate, importance


@pytest.mark.parametrize("with_importance", [True, False])
def test_gru_kernel_matches_plain_gru(with_importance):
    arguments = random_arguments(16, with_importance=with_importance)
    leaves = [each for each in arguments if each is not None]
    gradient = torch.randn(5, 6, 16, generator=torch.Generator().manual_seed(8))

    expected = importance_gru(*arguments, LENGTHS)
    found = kernel(*arguments, LENGTHS)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    for found_gradient, expected_gradient in zip(
        torch.autograd.grad(found, leaves, gradient),
        torch.autograd.grad(expected, leaves, gradient),
        strict=True,
    ):
        torch.testing.assert_close(found_gradient, expected_gradient, rtol=0, atol=1e-4)


def test_gru_kernel_ignores_padding():
    inputs, *rest = random_arguments(16, with_importance=True)
    states = kernel(inputs, *rest, LENGTHS)
    torch.testing.assert_close(states[1, 5], states[1, 0])
    (d_inputs,) = torch.autograd.grad(states[1, 5].sum(), [inputs])
    assert d_inputs[1, 0].abs().sum() > 0
    assert d_inputs[1, 1:].abs().sum() == 0


def test_gru_kernel_covers_batch_with_several_launches():
    inputs, gates, candidate, _ = random_arguments(16, with_importance=False)
    many = inputs.detach().repeat(11, 1, 1)  # 55 rows; a launch in the interpreter processes 16
    states = kernel(many, gates, candidate, None, LENGTHS.repeat(11))
    few = kernel(inputs, gates, candidate, None, LENGTHS)
    torch.testing.assert_close(states, few.repeat(11, 1, 1))
