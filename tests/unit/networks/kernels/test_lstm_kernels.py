"""The LSTM kernels give the results and gradients of `nn.LSTM`."""

import torch
import torch.nn.functional as F

from readagain.networks.kernels.lstm import Lstm


def test_lstm_kernel_matches_torch():
    torch.manual_seed(3)
    lstm = torch.nn.LSTM(5, 16, batch_first=True)
    weight_ih, weight_hh, bias_ih, bias_hh = lstm.all_weights[0]
    words = torch.randn(19, 4, 5, requires_grad=True)  # more sequences than a program processes
    d_states = torch.randn(19, 4, 16)

    expected, _ = lstm(words)
    states = Lstm.apply(F.linear(words, weight_ih, bias_ih + bias_hh), weight_hh)
    torch.testing.assert_close(states, expected, rtol=0, atol=1e-5)

    leaves = [words, weight_ih, weight_hh, bias_ih]
    gradients = torch.autograd.grad(states, leaves, d_states)
    expected_gradients = torch.autograd.grad(expected, leaves, d_states)
    torch.testing.assert_close(gradients, expected_gradients, rtol=0, atol=1e-4)
