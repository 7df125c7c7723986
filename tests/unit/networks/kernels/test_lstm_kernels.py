"""The LSTM kernel gives the states and gradients of `nn.LSTM`."""

import torch
import torch.nn.functional as F

from readagain.networks.kernels.lstm import Lstm


def test_lstm_kernel_matches_torch():
    torch.manual_seed(3)
    lstm = torch.nn.LSTM(5, 16, batch_first=True)
    weight_ih, weight_hh, bias_ih, bias_hh = lstm.all_weights[0]
    words = torch.randn(19, 4, 5, requires_grad=True)  # more rows than one program processes
    gradient = torch.randn(19, 4, 16)

    expected, _ = lstm(words)
    found = Lstm.apply(F.linear(words, weight_ih, bias_ih + bias_hh), weight_hh)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    leaves = [words, weight_ih, weight_hh, bias_ih]
    for found_gradient, expected_gradient in zip(
        torch.autograd.grad(found, leaves, gradient),
        torch.autograd.grad(expected, leaves, gradient),
        strict=True,
    ):
        torch.testing.assert_close(found_gradient, expected_gradient, rtol=0, atol=1e-4)
