"""`AffineFunction` gives the results and gradients of `F.linear`."""

import pytest
import torch
import torch.nn.functional as F

from readagain.networks.layers import AffineFunction


def arguments(*shape, requires_grad=True):
    """Return random (*shape, 3) inputs, a (4, 3) weight and a (4,) bias."""
    torch.manual_seed(5)
    inputs = torch.randn(*shape, 3, dtype=torch.float64, requires_grad=requires_grad)
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    return inputs, weight, torch.randn(4, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("shape", [(6,), (2, 5), (2, 3, 4)])
def test_affine_matches_torch(shape):
    inputs, weight, bias = arguments(*shape)
    expected = F.linear(inputs, weight, bias)
    torch.testing.assert_close(AffineFunction.apply(inputs, weight, bias), expected)


@pytest.mark.parametrize("shape", [(6,), (2, 5), (2, 3, 4)])
def test_affine_gradient(shape):
    assert torch.autograd.gradcheck(AffineFunction.apply, arguments(*shape))


def test_affine_skips_gradient_of_constant_inputs():
    inputs, weight, bias = arguments(6, requires_grad=False)
    AffineFunction.apply(inputs, weight, bias).sum().backward()
    assert inputs.grad is None
    torch.testing.assert_close(bias.grad, torch.full((4,), 6.0, dtype=torch.float64))


def test_affine_gradients_have_dtype_of_their_tensor():
    inputs, weight, bias = (tensor.detach().float().requires_grad_() for tensor in arguments(6))
    with torch.autocast("cpu", torch.bfloat16):
        outputs = AffineFunction.apply(inputs, weight, bias)
    assert outputs.dtype == torch.bfloat16
    outputs.sum().backward()
    assert {tensor.grad.dtype for tensor in (inputs, weight, bias)} == {torch.float32}
    expected = inputs.detach().sum(0).expand(4, 3)
    torch.testing.assert_close(weight.grad, expected, rtol=0.02, atol=0.05)
