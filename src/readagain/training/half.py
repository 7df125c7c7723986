"""Half-precision copies of all weights in one kernel.

Autocast casts each weight and each gradient separately, about forty small kernels per update. Here
all weights are cast in one kernel, and all gradients in another.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from readagain.networks import dispatch
from readagain.networks.layers import WordEmbedding


def call_in_precision(dtype: torch.dtype, model: nn.Module, *inputs: object) -> Tensor:
    """Call a model with its weights cast to `dtype`; gradients go to the original weights.

    Embedding tables are not cast, since a batch uses few of their rows. The weights of cuDNN's LSTM
    are not cast either, since cuDNN needs them in one block of memory.
    """
    not_cast = {
        parameter
        for module in model.modules()
        if isinstance(module, WordEmbedding) or _uses_cudnn(module)
        for parameter in module.parameters()
    }
    weights = {name: each for name, each in model.named_parameters() if each not in not_cast}
    cast = _CastAll.apply(dtype, *weights.values())  # type: ignore[no-untyped-call]
    result: Tensor = functional_call(model, dict(zip(weights, cast, strict=True)), inputs)
    return result


def _uses_cudnn(module: nn.Module) -> bool:
    return isinstance(module, nn.LSTM) and not dispatch.has_lstm_kernel(
        module.get_parameter("weight_hh_l0")
    )


class _CastAll(torch.autograd.Function):
    """Cast tensors to another precision, and their gradients back."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        ctx.dtype_before = tensors[0].dtype
        return tuple(_cast(tensors, dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        cast = iter(_cast([each for each in gradients if each is not None], ctx.dtype_before))
        return None, *(None if each is None else next(cast) for each in gradients)


def _cast(tensors: list[Tensor] | tuple[Tensor, ...], dtype: torch.dtype) -> list[Tensor]:
    cast = [torch.empty_like(each, dtype=dtype) for each in tensors]
    torch._foreach_copy_(cast, tensors)
    return cast
