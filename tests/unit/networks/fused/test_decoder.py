"""The decoder's written-out gradient, on both kinds of kernels, against the plain recurrence."""

import pytest
import torch

from readagain.networks.decoders.recurrence import DecoderWeights, decode_teacher_forced
from readagain.networks.fused import attention, decoder
from readagain.networks.fused.kernels import attention as triton_attention

B, T, S, A, D, H = 3, 4, 19, 16, 24, 20
VALID = torch.arange(S) < torch.tensor([[19], [1], [7]])


def drawn(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(5)

    def normal(*size: int, scale: float = 1.0) -> torch.Tensor:
        return (scale * torch.randn(*size, generator=draw, dtype=dtype)).requires_grad_()

    return [
        normal(B, T, 4 * H),
        normal(B, S, A),
        normal(B, S, D),
        VALID,
        normal(B, H),
        normal(B, H),
        normal(A, H, scale=H**-0.5),
        normal(A),
        normal(4 * H, D, scale=D**-0.5),
        normal(4 * H, H, scale=H**-0.5),
    ]


@pytest.fixture(params=["torch", "triton"])
def kernels(request, monkeypatch):
    chosen = attention if request.param == "torch" else triton_attention
    monkeypatch.setattr(decoder, "_kernels", lambda device: chosen)


@pytest.mark.usefixtures("kernels")
def test_states_contexts_weights_and_gradients_are_those_of_the_plain_recurrence():
    arguments = drawn()
    leaves = [each for each in arguments if each.is_floating_point()]
    expected = decode_teacher_forced(*arguments[:6], DecoderWeights(*arguments[6:]))
    found = decoder.AttentionLstm.apply(*arguments)
    for mine, plain in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, plain, rtol=0, atol=1e-5)

    arriving = [torch.randn(B, T, H), torch.randn(B, T, D)]
    for mine, plain in zip(
        torch.autograd.grad(found[:2], leaves, arriving),
        torch.autograd.grad(expected[:2], leaves, arriving),
        strict=True,
    ):
        torch.testing.assert_close(mine, plain, rtol=0, atol=1e-4)


@pytest.mark.usefixtures("kernels")
def test_the_gradient_that_arrives_is_left_as_it_was():
    arguments = drawn()
    states, contexts, _ = decoder.AttentionLstm.apply(*arguments)
    arriving = torch.ones_like(contexts)
    torch.autograd.grad([states, contexts], [arguments[0]], [torch.ones_like(states), arriving])
    assert (arriving == 1).all()


def test_the_gradient_is_the_derivative():
    arguments = drawn(torch.float64)

    def without_weights(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return decoder.AttentionLstm.apply(*given)[:2]

    assert torch.autograd.gradcheck(without_weights, arguments, fast_mode=True)
