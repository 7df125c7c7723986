"""Output layer, copy scores, and the probabilities of words that result from the two.

Sections and equations are those of Zeng et al. 2016, if no other paper is named.
"""

import math

import torch
from torch import Tensor, nn

from readagain.networks.layers import Affine


class VocabularyOutput(nn.Module):
    """Logits of the V words of the vocabulary from the decoder state s_t (section 3.2)."""

    def __init__(self, hidden_size: int, vocab_size: int) -> None:
        super().__init__()
        self.project = Affine(hidden_size, vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Compute (..., V) logits of (..., H) states."""
        logits: Tensor = self.project(hidden)
        return logits


def target_log_probs(
    vocab_logits: Tensor, target_ids: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Return the (B, T) log-probabilities of (B, T) target words, at least in float32.

    `vocab_logits` is (B, T, V). `label_smoothing` is the fraction of each target that is spread
    evenly over the vocabulary; the result is then the expected value under the smoothed target.
    """
    log_probs = at_least_float32(vocab_logits).log_softmax(dim=-1)  # (B, T, V)
    target_log_prob = log_probs.gather(-1, target_ids.unsqueeze(-1)).squeeze(-1)  # (B, T)
    if label_smoothing:
        target_log_prob = torch.lerp(target_log_prob, log_probs.mean(dim=-1), label_smoothing)
    return target_log_prob


def at_least_float32(logits: Tensor) -> Tensor:
    """Convert half-precision logits to float32, because they are summed over a vocabulary."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


class CopyScorer(nn.Module):
    """Copy logits of the source positions.

    The paper does not define the copy score, but calls its copying similar to that of CopyNet. So
    the score is s_t . tanh(W_o h²_i + b_o), as in CopyNet (Gu, Lu, Li and Li 2016, equation 8).
    """

    def __init__(self, source_size: int, hidden_size: int) -> None:
        super().__init__()
        self.project = Affine(source_size, hidden_size)

    def keys(self, states: Tensor) -> Tensor:
        """Compute the copy keys once per source: (B, S, U) -> (B, S, H)."""
        return torch.tanh(self.project(states))

    def forward(self, hidden: Tensor, keys: Tensor) -> Tensor:
        """Compute (B, T, S) copy logits from (B, T, H) decoder states and (B, S, H) keys."""
        return hidden @ keys.transpose(1, 2)


def joint_probs(
    vocab_logits: Tensor, copy_logits: Tensor, source_valid: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the (B, V) probabilities of generating each word and (B, S) of copying each position.

    One softmax covers all words of the vocabulary and all source positions, with (B, V) and (B, S)
    logits. `source_valid` is (B, S), True at real words.
    """
    V = vocab_logits.size(1)
    copy_logits = copy_logits.masked_fill(~source_valid, -torch.inf)
    joint = torch.cat([vocab_logits, copy_logits], dim=1).softmax(dim=1)  # (B, V + S)
    return joint[:, :V], joint[:, V:]


def copy_target_log_probs(
    vocab_logits: Tensor,
    copy_logits: Tensor,
    source_valid: Tensor,
    source_ext_ids: Tensor,
    target_ids: Tensor,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the log-probabilities of target words, generated or copied, at least in float32.

    The probability of a target is the sum of the probabilities of generating it and of copying it
    from each of its source positions. A target that can be neither generated nor copied gets the
    log of the smallest normal float and no gradient.

    Args:
        vocab_logits: (B, T, V) logits of the vocabulary.
        copy_logits: (B, T, S) logits of the source positions.
        source_valid: (B, S) True at real words.
        source_ext_ids: (B, S) extended ids of the source.
        target_ids: (B, T) extended ids of the targets.
        label_smoothing: fraction of each target that is spread evenly over generating the words
            of the vocabulary; copying gets no share.

    Returns:
        (B, T) log-probabilities.
    """
    V, S = vocab_logits.size(-1), copy_logits.size(-1)
    vocab_logits = at_least_float32(vocab_logits)
    lowest = torch.finfo(vocab_logits.dtype).min
    copy_logits = copy_logits.to(vocab_logits.dtype)
    copy_logits = copy_logits.masked_fill(~source_valid.unsqueeze(1), lowest)
    log_probs = torch.cat([vocab_logits, copy_logits], dim=-1).log_softmax(-1)  # (B, T, V + S)

    # Gather 1 + S columns per target: generating the target, and copying each position. One gather
    # for both has a faster backward pass than two.
    is_known = target_ids < V  # (B, T)
    word_columns = target_ids.where(is_known, 0).unsqueeze(-1)  # (B, T, 1)
    copy_columns = torch.arange(V, V + S, device=target_ids.device).expand(*target_ids.shape, -1)
    columns = torch.cat([word_columns, copy_columns], dim=-1)  # (B, T, 1 + S)
    is_copy = source_ext_ids.unsqueeze(1) == target_ids.unsqueeze(-1)  # (B, T, S)
    is_target = torch.cat([is_known.unsqueeze(-1), is_copy], dim=-1)  # (B, T, 1 + S)
    target_terms = log_probs.gather(-1, columns).masked_fill(~is_target, lowest)  # (B, T, 1 + S)
    target_log_prob = target_terms.logsumexp(-1)  # (B, T)
    target_log_prob = target_log_prob.clamp_min(math.log(torch.finfo(log_probs.dtype).tiny))
    if label_smoothing:
        target_log_prob = torch.lerp(target_log_prob, log_probs[..., :V].mean(-1), label_smoothing)
    return target_log_prob
