"""Choice between Triton kernels (on CUDA) and PyTorch functions (on other devices).

A kernel gives the same results as its PyTorch function; `tests/unit/networks/kernels` compares
them. The docstrings of the PyTorch functions describe arguments and shapes.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from readagain.networks import functional, outputs
from readagain.networks.functional import DecoderWeights

KERNEL_WIDTH = 16
"""Hidden sizes must be multiples of this number for the GRU and LSTM kernels."""


def importance_gru(
    inputs: Tensor,
    weight_gates: Tensor,
    weight_candidate: Tensor,
    importance: Tensor | None,
    lengths: Tensor,
) -> Tensor:
    """Compute `functional.importance_gru`."""
    if not has_recurrent_kernel(weight_candidate):
        return functional.importance_gru(
            inputs, weight_gates, weight_candidate, importance, lengths
        )
    from readagain.networks.kernels.gru import TritonImportanceGru

    arguments = _cast([inputs, weight_gates, weight_candidate, importance])
    return _apply(TritonImportanceGru, *arguments, lengths)


def has_recurrent_kernel(weight: Tensor) -> bool:
    """Return whether the GRU and LSTM kernels support an (O, H) recurrent weight."""
    return can_use_kernels(weight) and weight.size(1) % KERNEL_WIDTH == 0


def lstm(inputs: Tensor, weight: Tensor) -> Tensor:
    """Return the (B, L, H) states of the LSTM kernel.

    `inputs` are the (B, L, 4H) projections of the words to the gates, biases included. `weight` is
    (4H, H), from the previous state to the gates.
    """
    from readagain.networks.kernels.lstm import Lstm

    return _apply(Lstm, *_cast([inputs, weight]))


def decode_teacher_forced(
    input_gates: Tensor,
    keys: Tensor,
    states: Tensor,
    valid: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weights: DecoderWeights,
) -> Tensor:
    """Compute `functional.decode_teacher_forced`; the kernel supports only an LSTM."""
    if cell is None or not can_use_kernels(keys):
        return functional.decode_teacher_forced(
            input_gates, keys, states, valid, hidden, cell, weights
        )
    from readagain.networks.kernels.decoder import AttentionLstm

    return _apply(AttentionLstm, *_cast([input_gates, keys, states, valid, hidden, cell, *weights]))


def target_log_probs(
    vocab_logits: Tensor,
    copy_logits: Tensor | None,
    source_valid: Tensor,
    source_ext_ids: Tensor,
    target_ids: Tensor,
    label_smoothing: float,
) -> Tensor:
    """Compute `outputs.copy_target_log_probs`.

    Without copy logits, compute `outputs.target_log_probs`.
    """
    if can_use_kernels(vocab_logits):
        from readagain.networks.kernels.target_log_probs import TritonTargetLogProbs

        return _apply(
            TritonTargetLogProbs,
            vocab_logits,
            copy_logits,
            source_valid,
            source_ext_ids,
            target_ids,
            label_smoothing,
        )
    if copy_logits is None:
        return outputs.target_log_probs(vocab_logits, target_ids, label_smoothing)
    return outputs.copy_target_log_probs(
        vocab_logits, copy_logits, source_valid, source_ext_ids, target_ids, label_smoothing
    )


def can_use_kernels(tensor: Tensor) -> bool:
    """Return whether Triton kernels can process a tensor, which depends on its device."""
    return tensor.is_cuda and _has_triton()


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def _apply(function: type[torch.autograd.Function], *arguments: object) -> Tensor:
    result: Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return result


def _cast(tensors: list[Tensor | None]) -> list[Tensor | None]:
    """Cast floating tensors to the dtype of CUDA autocast, if it is enabled."""
    if not torch.is_autocast_enabled("cuda"):
        return tensors
    dtype = torch.get_autocast_dtype("cuda")
    return [
        tensor.to(dtype) if tensor is not None and tensor.is_floating_point() else tensor
        for tensor in tensors
    ]
