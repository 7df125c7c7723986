"""A layer y = W x + b whose bias learns faster on a GPU.

The gradient of a bias is the sum of all rows that reach it. torch adds them up by a reduction,
which takes as long as the gradient of the weight beside it; a product with a row of ones is faster.
Of an update of 64 pairs that saves a fiftieth.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Affine(nn.Linear):
    """torch's own layer and its parameters."""

    def forward(self, input: Tensor) -> Tensor:
        """Map (..., I) inputs to (..., O)."""
        return affine(input, self.weight, self.bias)


def affine(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map (..., I) inputs by an (O, I) weight and an (O,) bias to (..., O), as `F.linear` does."""
    if not (inputs.is_cuda and torch.is_grad_enabled()):
        return F.linear(inputs, weight, bias)
    outputs: Tensor = AffineByProducts.apply(inputs, weight, bias)  # type: ignore[no-untyped-call]
    return outputs


class AffineByProducts(torch.autograd.Function):
    """`F.linear` with all its gradients as products."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Multiply and add."""
        outputs = F.linear(inputs, weight, bias)
        # Under autocast they may be wider than the product was.
        ctx.save_for_backward(inputs.to(outputs.dtype), weight.to(outputs.dtype))
        return outputs

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        """Return the gradients of inputs, weight and bias."""
        inputs, weight = ctx.saved_tensors
        d_rows = d_outputs.reshape(-1, weight.size(0))  # (R, O)
        rows = inputs.reshape(-1, weight.size(1))  # (R, I)
        d_inputs = (d_rows @ weight).view_as(inputs) if ctx.needs_input_grad[0] else None
        d_bias = (d_rows.new_ones(1, d_rows.size(0)) @ d_rows).squeeze(0)
        return d_inputs, d_rows.t() @ rows, d_bias
