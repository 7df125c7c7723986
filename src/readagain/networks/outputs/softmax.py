"""Output layer over a fixed vocabulary."""

import torch
from torch import Tensor, nn

from readagain.networks.layers import Affine


class VocabularyOutput(nn.Module):
    """Logits of the vocabulary from the decoder state s_t (section 3.2).

    Args:
        hidden_size: width H of a decoder state.
        vocab_size: size V of the vocabulary.
    """

    def __init__(self, *, hidden_size: int, vocab_size: int) -> None:
        super().__init__()
        self.project = Affine(hidden_size, vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Compute (..., V) logits of (..., H) states."""
        logits: Tensor = self.project(hidden)
        return logits


def target_log_probs(
    vocab_logits: Tensor, target_ids: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Return the log-probabilities of target words, computed at least in float32.

    Args:
        vocab_logits: (B, T, V) logits.
        target_ids: (B, T) ids below V.
        label_smoothing: fraction of the target that is spread over the vocabulary; the result is
            the expected log-probability under the smoothed target.

    Returns:
        (B, T), at least float32.
    """
    log_probs = at_least_float32(vocab_logits).log_softmax(dim=-1)  # (B, T, V)
    target_log_prob = log_probs.gather(-1, target_ids.unsqueeze(-1)).squeeze(-1)  # (B, T)
    if label_smoothing:
        target_log_prob = torch.lerp(target_log_prob, log_probs.mean(dim=-1), label_smoothing)
    return target_log_prob


def at_least_float32(logits: Tensor) -> Tensor:
    """Convert half precision to float32, for sums over a vocabulary."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
