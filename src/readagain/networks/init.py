"""How parameters begin (section 4)."""

import math

import torch
from torch import nn

BIAS = 0.1


def initialise(module: nn.Module, *, hidden_size: int) -> None:
    """Draw weights uniformly from ±√(3/d), d the size of the hidden state; set biases to 0.1.

    torch's LSTM has two biases that are added up; the second begins at zero, so that the sum is
    the printed one.
    """
    bound = math.sqrt(3 / hidden_size)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            last = name.rpartition(".")[2]
            if last.startswith("bias"):
                parameter.fill_(0.0 if last.startswith("bias_hh") else BIAS)
            else:
                parameter.uniform_(-bound, bound)
