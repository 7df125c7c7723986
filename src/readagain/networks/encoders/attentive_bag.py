"""Attention-based encoder of ABS."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.embedding import WordEmbedding
from readagain.networks.masks import masked_softmax
from readagain.networks.windows import full_windows


class AttentiveBag(nn.Module):
    """Weigh the source's words by the last words of the summary (enc3).

    p ∝ exp(x̃ P ỹ'_c);  x̄_i = mean of x̃_{i-Q} ... x̃_{i+Q};  enc3(x, y_c) = pᵀ x̄

    ỹ'_c are the last C words in an embedding of their own, G. The paper divides the sum of 2Q + 1
    words by Q; the mean differs by a factor that W takes up, and lets Q be zero. Beyond the ends of
    the source stand zeros.

    Args:
        vocab_size: words of the summary, V.
        embedding_size: width of a summary word, E below.
        context_words: how many of the last words are seen, C.
        hidden_size: width of a source word, H below.
        smoothing: words on either side that a word is averaged with, Q.
    """

    def __init__(
        self,
        *,
        vocab_size: int,
        embedding_size: int,
        context_words: int,
        hidden_size: int,
        smoothing: int,
    ) -> None:
        super().__init__()
        self.smoothing = smoothing
        self.context_words = context_words
        self.embedding = WordEmbedding(vocab_size, embedding_size)  # G
        self.query = nn.Linear(context_words * embedding_size, hidden_size, bias=False)  # P

    def read(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is compared and what is averaged, (B, S, H) each, of (B, S, H) words."""
        window = 2 * self.smoothing + 1
        smoothed = F.avg_pool1d(
            words.transpose(1, 2), window, stride=1, padding=self.smoothing
        ).transpose(1, 2)  # (B, S, H)
        return words, smoothed

    def look(
        self, fed_ids: Tensor, keys: Tensor, states: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Look at the source as every C of the (B, C - 1 + T) words ask.

        Returns:
            (B, T, H) contexts and the (B, T, S) weights of the source's words.
        """
        last_words = full_windows(self.embedding(fed_ids), self.context_words)  # (B, T, C * E)
        query = self.query(last_words)  # (B, T, H)
        scores = torch.bmm(query, keys.transpose(1, 2))  # (B, T, S)
        weights = masked_softmax(scores, valid.unsqueeze(1))
        return torch.bmm(weights, states), weights
