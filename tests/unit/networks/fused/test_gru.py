"""Both fast α-gated GRU readings against the plain one."""

import pytest
import torch

from readagain.networks.fused import gru as stepwise
from readagain.networks.fused.kernels import gru as kernels
from readagain.networks.recurrent import read_gated_gru

READINGS = {"stepwise": stepwise.GatedGruFunction.apply, "kernel": kernels.TritonGatedGru.apply}
LENGTHS = torch.tensor([6, 1, 4, 6, 3])


def drawn(hidden_size: int, *, with_importance: bool, dtype: torch.dtype = torch.float32):
    """Inputs, weights and importance of 5 rows and 6 words."""
    draw = torch.Generator().manual_seed(7)

    def normal(*size: int) -> torch.Tensor:
        return torch.randn(*size, generator=draw, dtype=dtype)

    H = hidden_size
    importance = torch.tanh(normal(5, 6, H)).requires_grad_() if with_importance else None
    inputs = normal(5, 6, 3 * H).requires_grad_()
    gates = (normal(2 * H, H) / H**0.5).requires_grad_()
    candidate = (normal(H, H) / H**0.5).requires_grad_()
    return inputs, gates, candidate, importance


@pytest.fixture(params=READINGS)
def reading(request):
    return READINGS[request.param]


@pytest.mark.parametrize("with_importance", [True, False])
def test_states_and_gradients_are_those_of_the_plain_reading(reading, with_importance):
    arguments = drawn(16, with_importance=with_importance)
    leaves = [each for each in arguments if each is not None]
    arriving = torch.randn(5, 6, 16, generator=torch.Generator().manual_seed(8))

    expected = read_gated_gru(*arguments, LENGTHS)
    found = reading(*arguments, LENGTHS)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    for mine, plain in zip(
        torch.autograd.grad(found, leaves, arriving),
        torch.autograd.grad(expected, leaves, arriving),
        strict=True,
    ):
        torch.testing.assert_close(mine, plain, rtol=0, atol=1e-4)


def test_steps_beyond_the_end_keep_the_last_state_and_owe_nothing(reading):
    inputs, *rest = drawn(16, with_importance=True)
    states = reading(inputs, *rest, LENGTHS)
    torch.testing.assert_close(states[1, 5], states[1, 0])
    (owed,) = torch.autograd.grad(states[1, 5].sum(), [inputs])
    assert owed[1, 0].abs().sum() > 0
    assert owed[1, 1:].abs().sum() == 0


def test_more_rows_than_one_launch_covers(reading):
    inputs, gates, candidate, _ = drawn(16, with_importance=False)
    many = inputs.detach().repeat(11, 1, 1)  # 55 rows; the interpreter takes 16 at a time
    states = reading(many, gates, candidate, None, LENGTHS.repeat(11))
    few = reading(inputs, gates, candidate, None, LENGTHS)
    torch.testing.assert_close(states, few.repeat(11, 1, 1))


def test_the_stepwise_gradient_is_the_derivative():
    arguments = drawn(3, with_importance=True, dtype=torch.float64)
    assert torch.autograd.gradcheck(stepwise.GatedGruFunction.apply, (*arguments, LENGTHS))
