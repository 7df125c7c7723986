"""Half precision for all weights at once.

Autocast casts a weight when a product asks for it, and its gradient on the way back: some forty
small kernels in an update. Here all weights are cast in one, and all gradients in another.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from readagain.networks import dispatch
from readagain.networks.embedding import WordEmbedding


def call_with_weights_in(dtype: torch.dtype, model: nn.Module, *inputs: object) -> Tensor:
    """Call a model as if its weights had another precision; gradients reach the weights it has.

    Tables of words stay as they are: few of their rows are asked for. So do the weights of torch's
    own LSTM where it reads, which lays them out in memory as it likes.
    """
    kept = [
        each
        for each in model.modules()
        if isinstance(each, WordEmbedding)
        or (
            isinstance(each, nn.LSTM)
            and not dispatch.has_lstm_kernel(each.get_parameter("weight_hh_l0"))
        )
    ]
    as_they_are = {parameter for each in kept for parameter in each.parameters()}
    weights = {name: each for name, each in model.named_parameters() if each not in as_they_are}
    cast = _CastTogether.apply(dtype, *weights.values())  # type: ignore[no-untyped-call]
    result: Tensor = functional_call(model, dict(zip(weights, cast, strict=True)), inputs)
    return result


class _CastTogether(torch.autograd.Function):
    """Cast tensors of one precision to another, and their gradients back."""

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
