"""The kernels of the teacher-forced decoder compute `functional.decode_teacher_forced`."""

import torch

from readagain.networks.functional import DecoderWeights, decode_teacher_forced
from readagain.networks.kernels.decoder import AttentionLstm

B, T, S, A, U, H = 3, 4, 19, 16, 24, 20
VALID = torch.arange(S) < torch.tensor([[19], [1], [7]])


def random_arguments() -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(5)

    def normal(*size: int, scale: float = 1.0) -> torch.Tensor:
        return (scale * torch.randn(*size, generator=draw)).requires_grad_()

    return [
        normal(B, T, 4 * H),
        normal(B, S, A),
        normal(B, S, U),
        VALID,
        normal(B, H),
        normal(B, H),
        normal(A, H, scale=H**-0.5),
        normal(A),
        normal(4 * H, U, scale=U**-0.5),
        normal(4 * H, H, scale=H**-0.5),
    ]


def test_decoder_kernels_match_plain_decoder():
    arguments = random_arguments()
    leaves = [each for each in arguments if each.is_floating_point()]
    expected = decode_teacher_forced(*arguments[:6], DecoderWeights(*arguments[6:]))
    found = AttentionLstm.apply(*arguments)
    for found_gradient, expected_gradient in zip(found, expected, strict=True):
        torch.testing.assert_close(found_gradient, expected_gradient, rtol=0, atol=1e-5)

    gradient = [torch.randn(B, T, H), torch.randn(B, T, U)]
    for found_gradient, expected_gradient in zip(
        torch.autograd.grad(found[:2], leaves, gradient),
        torch.autograd.grad(expected[:2], leaves, gradient),
        strict=True,
    ):
        torch.testing.assert_close(found_gradient, expected_gradient, rtol=0, atol=1e-4)


def test_decoder_kernels_do_not_modify_incoming_gradient():
    arguments = random_arguments()
    states, contexts, _ = AttentionLstm.apply(*arguments)
    gradient = torch.ones_like(contexts)
    torch.autograd.grad([states, contexts], [arguments[0]], [torch.ones_like(states), gradient])
    assert (gradient == 1).all()
