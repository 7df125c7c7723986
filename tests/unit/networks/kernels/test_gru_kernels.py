"""The GRU kernels give the results and gradients of `functional.importance_gru`."""

import pytest
import torch

from readagain.networks.functional import importance_gru
from readagain.networks.kernels.gru import TritonImportanceGru

kernel = TritonImportanceGru.apply
LENGTHS = torch.tensor([6, 1, 4, 6, 3])


def random_arguments(hidden_size: int, *, with_importance: bool):
    """Return inputs, weights of gates and candidate, and importance for 5 sequences of 6 words."""
    generator = torch.Generator().manual_seed(7)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=generator)

    H = hidden_size
    importance = torch.tanh(normal(5, 6, H)).requires_grad_() if with_importance else None
    inputs = normal(5, 6, 3 * H).requires_grad_()
    gates = (normal(2 * H, H) / H**0.5).requires_grad_()
    candidate = (normal(H, H) / H**0.5).requires_grad_()
    return inputs, gates, candidate, importance


@pytest.mark.parametrize("with_importance", [True, False])
def test_gru_kernel_matches_plain_gru(with_importance):
    arguments = random_arguments(16, with_importance=with_importance)
    expected = importance_gru(*arguments, LENGTHS)
    states = kernel(*arguments, LENGTHS)
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-5)

    leaves = [tensor for tensor in arguments if tensor is not None]
    d_states = torch.randn(5, 6, 16, generator=torch.Generator().manual_seed(8))
    gradients = torch.autograd.grad(states, leaves, d_states)
    expected_gradients = torch.autograd.grad(expected, leaves, d_states)
    torch.testing.assert_close(gradients, expected_gradients, rtol=0, atol=1e-4)


def test_gru_kernel_ignores_padding():
    inputs, *other_arguments = random_arguments(16, with_importance=True)
    states = kernel(inputs, *other_arguments, LENGTHS)
    torch.testing.assert_close(states[1, 5], states[1, 0])
    (d_inputs,) = torch.autograd.grad(states[1, 5].sum(), [inputs])
    assert d_inputs[1, 0].abs().sum() > 0
    assert d_inputs[1, 1:].abs().sum() == 0


def test_gru_kernel_covers_batch_with_several_launches():
    inputs, gates, candidate, _ = random_arguments(16, with_importance=False)
    # 55 sequences; in the interpreter, a launch processes 16.
    repeated_inputs = inputs.detach().repeat(11, 1, 1)
    repeated_states = kernel(repeated_inputs, gates, candidate, None, LENGTHS.repeat(11))
    states = kernel(inputs, gates, candidate, None, LENGTHS)
    torch.testing.assert_close(repeated_states, states.repeat(11, 1, 1))
