"""Embedding and linear layers for training in mixed precision on a GPU."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class WordEmbedding(nn.Embedding):
    """Embedding whose vectors have the dtype of autocast, if autocast is enabled.

    Autocast itself leaves the output of an embedding in float32. A concatenation with
    half-precision states would then be float32 too. The embedding table and its gradient stay in
    float32.
    """

    def forward(self, ids: Tensor) -> Tensor:
        """Embed (...) ids as (..., E) vectors."""
        vectors = super().forward(ids)
        if torch.is_autocast_enabled(vectors.device.type):
            return vectors.to(torch.get_autocast_dtype(vectors.device.type))
        return vectors


class Affine(nn.Linear):
    """`nn.Linear` with a faster gradient of the bias on a GPU.

    The gradient of the bias is a sum over all inputs. PyTorch computes this sum with a reduction,
    which takes as long as the gradient of the weight. A matrix product with a row of ones is
    faster: a training update at batch size 64 takes 2% less time.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Map (..., I) inputs to (..., O)."""
        return affine(input, self.weight, self.bias)


def affine(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map (..., I) inputs by an (O, I) weight and an (O,) bias to (..., O), as `F.linear` does."""
    if not (inputs.is_cuda and torch.is_grad_enabled()):
        return F.linear(inputs, weight, bias)
    outputs: Tensor = AffineFunction.apply(inputs, weight, bias)  # type: ignore[no-untyped-call]
    return outputs


class AffineFunction(torch.autograd.Function):
    """`F.linear` that computes all gradients with matrix products."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Map (..., I) inputs by an (O, I) weight and an (O,) bias to (..., O)."""
        outputs = F.linear(inputs, weight, bias)
        # Under autocast, the arguments may be float32 and the outputs half precision.
        ctx.save_for_backward(inputs.to(outputs.dtype), weight.to(outputs.dtype))
        return outputs

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        """Return the gradients of inputs, weight and bias from the (..., O) gradient of outputs."""
        inputs, weight = ctx.saved_tensors
        # All leading dimensions are flattened into one, of size R.
        flat_d_outputs = d_outputs.reshape(-1, weight.size(0))  # (R, O)
        flat_inputs = inputs.reshape(-1, weight.size(1))  # (R, I)
        d_inputs = (flat_d_outputs @ weight).view_as(inputs) if ctx.needs_input_grad[0] else None
        d_weight = flat_d_outputs.t() @ flat_inputs  # (O, I)
        ones = flat_d_outputs.new_ones(1, flat_d_outputs.size(0))  # (1, R)
        d_bias = (ones @ flat_d_outputs).squeeze(0)  # (O,)
        return d_inputs, d_weight, d_bias
