"""Choose the fastest way through a recurrence or a loss on the device at hand.

On CUDA the Triton kernels, on the CPU the gradients written out; all are tested against the plain
functions whose names they carry here.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from readagain.networks.fused.decoder import AttentionLstm
from readagain.networks.fused.gru import GatedGruFunction
from readagain.networks.fused.target_log_probs import TargetLogProbsFunction

TRITON_WIDTH = 16
"""The kernels take hidden sizes that are multiples of this."""


def read_gated_gru(
    inputs: Tensor,
    weight_gates: Tensor,
    weight_candidate: Tensor,
    importance: Tensor | None,
    lengths: Tensor,
) -> Tensor:
    """Do what `recurrent.read_gated_gru` says."""
    arguments = [inputs, weight_gates, weight_candidate, importance]
    if not _on_triton(inputs, weight_candidate.size(0)):
        return _apply(GatedGruFunction, *_cast(arguments), lengths)
    from readagain.networks.fused.kernels import gru

    return _apply(gru.TritonGatedGru, *_cast(arguments), lengths)


def can_read_lstm(weight: Tensor) -> bool:
    """Say whether `read_lstm` is the way with a (4H, H) weight, and not torch's own LSTM."""
    return _on_triton(weight, weight.size(1))


def read_lstm(inputs: Tensor, weight: Tensor) -> Tensor | None:
    """Read (B, L, 4H) x-parts with the (4H, H) weight; None where torch's own LSTM is the way."""
    if not can_read_lstm(weight):
        return None
    from readagain.networks.fused.kernels import lstm

    return _apply(lstm.Lstm, *_cast([inputs, weight]))


def decode_teacher_forced(*arguments: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
    """Do what `decoders.recurrence.decode_teacher_forced` says; None where that is the way."""
    keys = arguments[1]
    if keys.is_cuda and not _has_triton():
        return None
    return AttentionLstm.apply(*_cast(list(arguments)))  # type: ignore[no-any-return, no-untyped-call]


def target_log_probs(
    vocab_logits: Tensor,
    copy_logits: Tensor | None,
    source_valid: Tensor,
    source_ext_ids: Tensor,
    target_ids: Tensor,
    label_smoothing: float,
) -> Tensor | None:
    """Do what `target_log_probs` or `copy_target_log_probs` says; None where those are the way."""
    function: type[torch.autograd.Function] = TargetLogProbsFunction
    if vocab_logits.is_cuda:
        if not _has_triton():
            return None
        from readagain.networks.fused.kernels import target_log_probs as kernels

        function = kernels.TritonTargetLogProbs
    return _apply(
        function,
        vocab_logits,
        copy_logits,
        source_valid,
        source_ext_ids,
        target_ids,
        label_smoothing,
    )


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def _on_triton(tensor: Tensor, hidden_size: int) -> bool:
    return tensor.is_cuda and hidden_size % TRITON_WIDTH == 0 and _has_triton()


def _apply(function: type[torch.autograd.Function], *arguments: object) -> Tensor:
    result: Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return result


def _cast(tensors: list[Tensor | None]) -> list[Tensor | None]:
    """Give floating tensors the dtype that autocast asks of matrix products, if it is on."""
    if not torch.is_autocast_enabled("cuda"):
        return tensors
    dtype = torch.get_autocast_dtype("cuda")
    return [
        each.to(dtype) if each is not None and each.is_floating_point() else each
        for each in tensors
    ]
