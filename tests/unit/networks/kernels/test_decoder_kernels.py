"""The decoder kernels give the results and gradients of `functional.decode_teacher_forced`."""

import torch

from readagain.networks.functional import DecoderWeights, decode_teacher_forced
from readagain.networks.kernels.decoder import AttentionLstm

B, T, S, A, U, H = 3, 4, 19, 16, 24, 20
VALID = torch.arange(S) < torch.tensor([[19], [1], [7]])


def random_arguments() -> list[torch.Tensor]:
    """Return the arguments of `AttentionLstm.forward`."""
    generator = torch.Generator().manual_seed(5)

    def normal(*size: int, scale: float = 1.0) -> torch.Tensor:
        return (scale * torch.randn(*size, generator=generator)).requires_grad_()

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
    expected = decode_teacher_forced(*arguments[:6], DecoderWeights(*arguments[6:]))
    outputs = AttentionLstm.apply(*arguments)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-5)

    leaves = [tensor for tensor in arguments if tensor.is_floating_point()]
    d_outputs = torch.randn(B, T, H)
    gradients = torch.autograd.grad(outputs, leaves, d_outputs)
    expected_gradients = torch.autograd.grad(expected, leaves, d_outputs)
    torch.testing.assert_close(gradients, expected_gradients, rtol=0, atol=1e-4)


def test_decoder_kernels_do_not_modify_incoming_gradient():
    arguments = random_arguments()
    states = AttentionLstm.apply(*arguments)
    # The kernels read the gradient with time first: this one is not copied.
    d_states = torch.ones(T, B, H).transpose(0, 1)
    torch.autograd.grad(states, arguments[0], d_states)
    assert (d_states == 1).all()
