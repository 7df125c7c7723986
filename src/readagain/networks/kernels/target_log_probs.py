"""Triton kernels for the log-probabilities of target words, with or without copying.

The PyTorch functions convert the logits of the whole vocabulary to float32 and keep several tensors
of this size. Here, a program reads the logits of one target word once, in half precision, and sums
them in registers in float32. The row of a target is its index among all B * T targets.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK_V = 2048
"""Number of vocabulary words that a program processes at a time."""
BLOCK_S = 64
"""Number of source positions that a program processes at a time."""
LOW = -1e30
"""Finite number in place of the log of zero."""
FLOOR = math.log(torch.finfo(torch.float32).tiny)
"""Smallest log-probability before label smoothing, as in the PyTorch functions."""


@triton.jit
def _add_exp(largest, total, scores, LOW: tl.constexpr):
    """Add exp(scores) to a running sum that is stored as total * exp(largest)."""
    new_largest = tl.maximum(largest, tl.max(scores, 0))
    terms = tl.where(scores > LOW, tl.exp(scores - new_largest), 0.0)
    return new_largest, total * tl.exp(largest - new_largest) + tl.sum(terms, 0)


@triton.jit
def _forward(
    vocab_logits, copy_logits, valid, ext_ids, targets, log_probs, log_denominators, log_numerators,
    T, V, S, smoothing,
    BLOCK: tl.constexpr, COPY_BLOCK: tl.constexpr, HAS_COPY: tl.constexpr, LOW: tl.constexpr,
    FLOOR: tl.constexpr,
):  # fmt: skip
    """Compute the log-probability of one target, with label smoothing.

    Reads (B, T, V) vocab_logits, (B, T, S) copy_logits, (B, S) valid and ext_ids, (B, T) targets.
    Stores (B, T) log_probs and, for the backward pass, the logs of the softmax denominator (sum
    over all words and positions) and numerator (sum over those of the target).
    """
    row = tl.program_id(0).to(tl.int64)
    b = row // T
    target = tl.load(targets + row)
    running_max, running_sum, logit_sum = LOW, 0.0, 0.0
    for block_start in range(0, V, BLOCK):
        word = block_start + tl.arange(0, BLOCK)
        logits = tl.load(vocab_logits + row * V + word, mask=word < V, other=LOW).to(tl.float32)
        logits = tl.where(word < V, logits, LOW)
        logit_sum += tl.sum(tl.where(word < V, logits, 0.0), 0)
        running_max, running_sum = _add_exp(running_max, running_sum, logits, LOW)
    mean_logit = logit_sum / V
    vocab_id = tl.minimum(target, V - 1)
    vocab_logit = tl.load(vocab_logits + row * V + vocab_id).to(tl.float32)
    target_max, target_sum = tl.where(target < V, vocab_logit, LOW), tl.where(target < V, 1.0, 0.0)
    if HAS_COPY:
        for block_start in range(0, S, COPY_BLOCK):
            position = block_start + tl.arange(0, COPY_BLOCK)
            is_word = tl.load(valid + b * S + position, mask=position < S, other=0) != 0
            logits = tl.load(copy_logits + row * S + position, mask=position < S, other=LOW).to(
                tl.float32
            )
            logits = tl.where(is_word, logits, LOW)
            running_max, running_sum = _add_exp(running_max, running_sum, logits, LOW)
            is_target = tl.load(ext_ids + b * S + position, mask=position < S, other=-1) == target
            target_max, target_sum = _add_exp(
                target_max, target_sum, tl.where(is_target, logits, LOW), LOW
            )
    log_denominator = running_max + tl.log(running_sum)
    is_reachable = target_sum > 0.0
    log_numerator = tl.where(is_reachable, target_max + tl.log(tl.maximum(target_sum, 1e-30)), LOW)
    tl.store(log_denominators + row, log_denominator)
    tl.store(log_numerators + row, log_numerator)
    log_prob = tl.maximum(log_numerator - log_denominator, FLOOR)
    tl.store(log_probs + row, log_prob + smoothing * (mean_logit - log_denominator - log_prob))


@triton.jit
def _backward(
    vocab_logits, copy_logits, valid, ext_ids, targets, log_denominators, log_numerators,
    d_log_probs, d_vocab, d_copy,
    T, V, S, smoothing,
    BLOCK: tl.constexpr, COPY_BLOCK: tl.constexpr, HAS_COPY: tl.constexpr, LOW: tl.constexpr,
    FLOOR: tl.constexpr,
):  # fmt: skip
    """Compute the gradients of the logits of one target.

    Reads the tensors of the forward pass and (B, T) d_log_probs. Stores (B, T, V) d_vocab and
    (B, T, S) d_copy.
    """
    row = tl.program_id(0).to(tl.int64)
    b = row // T
    target = tl.load(targets + row)
    log_denominator = tl.load(log_denominators + row)
    log_numerator = tl.load(log_numerators + row)
    d_log_prob = tl.load(d_log_probs + row)
    has_gradient = (log_numerator > LOW) & (log_numerator - log_denominator > FLOOR)
    numerator_scale = tl.where(has_gradient, d_log_prob * (1.0 - smoothing), 0.0)
    denominator_scale = numerator_scale + d_log_prob * smoothing
    for block_start in range(0, V, BLOCK):
        word = block_start + tl.arange(0, BLOCK)
        logits = tl.load(vocab_logits + row * V + word, mask=word < V, other=LOW).to(tl.float32)
        d = d_log_prob * smoothing / V - denominator_scale * tl.exp(logits - log_denominator)
        d += tl.where(
            word == target, numerator_scale * tl.exp(tl.minimum(logits - log_numerator, 0.0)), 0.0
        )
        tl.store(d_vocab + row * V + word, d, mask=word < V)
    if HAS_COPY:
        for block_start in range(0, S, COPY_BLOCK):
            position = block_start + tl.arange(0, COPY_BLOCK)
            is_word = tl.load(valid + b * S + position, mask=position < S, other=0) != 0
            logits = tl.load(copy_logits + row * S + position, mask=position < S, other=LOW).to(
                tl.float32
            )
            is_target = tl.load(ext_ids + b * S + position, mask=position < S, other=-1) == target
            d = -denominator_scale * tl.exp(logits - log_denominator)
            d += tl.where(
                is_target, numerator_scale * tl.exp(tl.minimum(logits - log_numerator, 0.0)), 0.0
            )
            d = tl.where(is_word, d, 0.0)
            tl.store(d_copy + row * S + position, d, mask=position < S)


class TritonTargetLogProbs(torch.autograd.Function):
    """`copy_target_log_probs`, or `target_log_probs` if there are no copy logits."""

    @staticmethod
    def forward(
        ctx: Any,
        vocab_logits: Tensor,
        copy_logits: Tensor | None,
        source_valid: Tensor,
        source_ext_ids: Tensor,
        target_ids: Tensor,
        label_smoothing: float,
    ) -> Tensor:
        """Return the (B, T) log-probabilities of the targets.

        The arguments are those of `copy_target_log_probs`; `copy_logits` may be None.
        """
        B, T, V = vocab_logits.shape
        vocab_logits, target_ids = vocab_logits.contiguous(), target_ids.contiguous()
        copy_logits = None if copy_logits is None else copy_logits.contiguous()
        source_valid, source_ext_ids = source_valid.contiguous(), source_ext_ids.contiguous()
        S = 0 if copy_logits is None else copy_logits.size(2)
        log_probs, log_denominators, log_numerators = torch.empty(
            (3, B, T), dtype=torch.float32, device=vocab_logits.device
        ).unbind()
        _forward[(B * T,)](
            vocab_logits, copy_logits, source_valid, source_ext_ids, target_ids,
            log_probs, log_denominators, log_numerators, T, V, S, label_smoothing,
            BLOCK=BLOCK_V, COPY_BLOCK=BLOCK_S, HAS_COPY=S > 0, LOW=LOW,
            FLOOR=FLOOR,
        )  # fmt: skip
        ctx.save_for_backward(
            vocab_logits, copy_logits, source_valid, source_ext_ids, target_ids,
            log_denominators, log_numerators,
        )  # fmt: skip
        ctx.label_smoothing = label_smoothing
        return log_probs

    @staticmethod
    def backward(ctx: Any, d_log_probs: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the arguments of `forward`; only the logits have one."""
        (
            vocab_logits, copy_logits, source_valid, source_ext_ids, target_ids,
            log_denominators, log_numerators,
        ) = ctx.saved_tensors  # fmt: skip
        B, T, V = vocab_logits.shape
        S = 0 if copy_logits is None else copy_logits.size(2)
        d_vocab = torch.empty_like(vocab_logits)
        d_copy = None if copy_logits is None else torch.empty_like(copy_logits)
        _backward[(B * T,)](
            vocab_logits, copy_logits, source_valid, source_ext_ids, target_ids,
            log_denominators, log_numerators, d_log_probs.contiguous(), d_vocab, d_copy,
            T, V, S, ctx.label_smoothing,
            BLOCK=BLOCK_V, COPY_BLOCK=BLOCK_S, HAS_COPY=S > 0, LOW=LOW,
            FLOOR=FLOOR,
        )  # fmt: skip
        return d_vocab, d_copy, None, None, None, None
