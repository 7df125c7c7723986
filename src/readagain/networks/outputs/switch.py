"""Generate or point: a switch decides (Nallapati et al. 2016, section 2.3)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.outputs.softmax import at_least_float32


class Switch(nn.Module):
    """Decide between generating a word and pointing at one in the source.

    P(s_i = 1) = σ(v . (W_h h_i + W_e E[o_{i-1}] + W_c c_i + b))    (equation 1 of that paper)

    As printed nothing stands between v and the matrices, so together they are one vector.

    Args:
        hidden_size: width of a decoder state, H below.
        embedding_size: width of the previous word, E below.
        source_size: width of a context, D below.
    """

    def __init__(self, *, hidden_size: int, embedding_size: int, source_size: int) -> None:
        super().__init__()
        self.project = nn.Linear(hidden_size + embedding_size + source_size, 1)

    def forward(self, hidden: Tensor, words: Tensor, contexts: Tensor) -> Tensor:
        """Return the logit of generating: (..., H), (..., E), (..., D) -> (...)."""
        seen = torch.cat([hidden, words.to(hidden.dtype), contexts.to(hidden.dtype)], dim=-1)
        logit: Tensor = self.project(seen).squeeze(-1)
        return logit


def switched_log_probs(
    generated: Tensor,
    switch_logits: Tensor,
    attention: Tensor,
    target_ids: Tensor,
    vocab_size: int,
) -> Tensor:
    """Log-probability of given words and of the right way to them.

    Training says where the switch belongs: words outside the vocabulary are pointed at, at their
    first place, all others are generated. Words in neither vocabulary nor source, about which the
    paper is silent, are generated as UNK.

    Args:
        generated: (B, T) log-probabilities of the targets where they are generated.
        switch_logits: (B, T) of generating.
        attention: (B, T, S) the weights that a pointer is drawn from.
        target_ids: (B, T) extended ids; those from `vocab_size` upwards say where they stand.
        vocab_size: V.

    Returns:
        (B, T), float32 or finer.
    """
    switch_logits, attention = at_least_float32(switch_logits), at_least_float32(attention)
    place = (target_ids - vocab_size).clamp_min(0).unsqueeze(-1)  # (B, T, 1)
    weight = attention.gather(-1, place).squeeze(-1)  # (B, T)
    pointed = weight.clamp_min(torch.finfo(weight.dtype).tiny).log() + F.logsigmoid(-switch_logits)
    generated = generated + F.logsigmoid(switch_logits)
    return torch.where(target_ids < vocab_size, generated, pointed)


def pointing_logits(vocab_logits: Tensor, switch_logits: Tensor, attention: Tensor) -> Tensor:
    """Score pointing so that one softmax with the words gives the switch its say.

    The words together have exp(l), l their log-sum; pointing then gets exp(l - g) in all, and
    generating 1 / (1 + exp(-g)) = σ(g) of the whole.

    Args:
        vocab_logits: (B, V) scores of the vocabulary.
        switch_logits: (B,) g.
        attention: (B, S) the weights that a pointer is drawn from; 0 at padding.

    Returns:
        (B, S) logits, -inf at padding.
    """
    level = at_least_float32(vocab_logits).logsumexp(dim=1) - at_least_float32(switch_logits)
    return at_least_float32(attention).log() + level.unsqueeze(1)
