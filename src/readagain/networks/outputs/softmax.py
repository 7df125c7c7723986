"""Generate from a fixed vocabulary."""

import torch
from torch import Tensor, nn

from readagain.networks.affine import Affine


class VocabularyOutput(nn.Module):
    """Score every word of the vocabulary from the decoder state s_t alone (section 3.2).

    Args:
        hidden_size: width of a decoder state, H below.
        vocab_size: words that can be generated, V below.
    """

    def __init__(self, *, hidden_size: int, vocab_size: int) -> None:
        super().__init__()
        self.project = Affine(hidden_size, vocab_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score (..., H) states: (..., V) logits."""
        logits: Tensor = self.project(hidden)
        return logits


def target_log_probs(
    vocab_logits: Tensor, target_ids: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Log-probability of given words, summed in float32.

    Args:
        vocab_logits: (B, T, V) scores of the vocabulary.
        target_ids: (B, T) ids below V.
        label_smoothing: share of the target that is spread over the vocabulary: the result is
            then the expected log-probability under the smoothed target.

    Returns:
        (B, T), float32 or finer.
    """
    log_probs = at_least_float32(vocab_logits).log_softmax(dim=-1)  # (B, T, V)
    chosen = log_probs.gather(-1, target_ids.unsqueeze(-1)).squeeze(-1)  # (B, T)
    if label_smoothing:
        chosen = torch.lerp(chosen, log_probs.mean(dim=-1), label_smoothing)
    return chosen


def at_least_float32(logits: Tensor) -> Tensor:
    """Widen half precision, so that sums over a vocabulary keep their digits."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
