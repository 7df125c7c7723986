"""Log-probabilities of given words with the gradient written out, in plain torch operations.

For the CPU: autograd would walk the logits of the whole vocabulary some nine times, this does it
four times.
"""

from typing import Any

import torch
from torch import Tensor

from readagain.networks.outputs.softmax import at_least_float32


class TargetLogProbsFunction(torch.autograd.Function):
    """`copy_target_log_probs`, or `target_log_probs` where there are no copy logits."""

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
        """Return the (B, T) log-probabilities of the targets; shapes as in the plain functions."""
        vocab_logits = at_least_float32(vocab_logits)
        V = vocab_logits.size(-1)
        lowest = torch.finfo(vocab_logits.dtype).min
        probs = vocab_logits.softmax(-1)  # (B, T, V), copying aside
        # The largest probability is exp(largest logit - log of the sum).
        log_total = vocab_logits.amax(-1) - probs.amax(-1).log()  # (B, T)
        log_vocab = log_total
        is_known = target_ids < V  # (B, T)
        known_ids = target_ids.where(is_known, 0).unsqueeze(-1)  # (B, T, 1)
        generated = vocab_logits.gather(-1, known_ids).squeeze(-1).masked_fill(~is_known, lowest)
        log_chosen = generated
        stands_here = None
        if copy_logits is not None:
            copy_logits = at_least_float32(copy_logits)
            copy_logits = copy_logits.masked_fill(~source_valid.unsqueeze(1), lowest)  # (B, T, S)
            log_total = torch.logaddexp(log_vocab, copy_logits.logsumexp(-1))
            stands_here = source_ext_ids.unsqueeze(1) == target_ids.unsqueeze(-1)  # (B, T, S)
            copied = copy_logits.masked_fill(~stands_here, lowest).logsumexp(-1)  # (B, T)
            log_chosen = torch.logaddexp(generated, copied)
        floor = torch.tensor(torch.finfo(vocab_logits.dtype).tiny).log().item()
        log_probs = log_chosen - log_total
        is_reached = log_probs > floor
        ctx.save_for_backward(
            probs, copy_logits, stands_here, known_ids, is_reached, source_valid,
            (log_vocab - log_total).exp(), (generated - log_chosen).exp(), log_total, log_chosen,
        )  # fmt: skip
        ctx.label_smoothing = label_smoothing
        log_probs = log_probs.clamp_min(floor)
        if label_smoothing:
            log_probs = torch.lerp(log_probs, vocab_logits.mean(-1) - log_total, label_smoothing)
        return log_probs

    @staticmethod
    def backward(ctx: Any, arriving: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of both kinds of logits."""
        (
            probs, copy_logits, stands_here, known_ids, is_reached, source_valid,
            vocab_share, generated_share, log_total, log_chosen,
        ) = ctx.saved_tensors  # fmt: skip
        smoothed = arriving * ctx.label_smoothing  # (B, T)
        hit = ((1 - ctx.label_smoothing) * arriving).masked_fill(~is_reached, 0.0)
        miss = hit + smoothed
        d_vocab = probs * (-miss * vocab_share).unsqueeze(-1)  # (B, T, V)
        if ctx.label_smoothing:
            d_vocab += (smoothed / probs.size(-1)).unsqueeze(-1)
        d_vocab.scatter_add_(-1, known_ids, (hit * generated_share).unsqueeze(-1))
        d_copy = None
        if copy_logits is not None:
            d_copy = -miss.unsqueeze(-1) * (copy_logits - log_total.unsqueeze(-1)).exp()
            share = (copy_logits - log_chosen.unsqueeze(-1)).clamp_max(0.0).exp()
            d_copy += (hit.unsqueeze(-1) * share).masked_fill(~stands_here, 0.0)
            d_copy.masked_fill_(~source_valid.unsqueeze(1), 0.0)
        return d_vocab, d_copy, None, None, None, None
