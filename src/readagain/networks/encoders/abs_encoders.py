"""The three encoders of ABS: what a language model is shown of the source before each word."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.networks.embedding import WordEmbedding
from readagain.networks.masks import masked_softmax, valid_positions
from readagain.networks.windows import full_windows, windows


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


class _SeenAlike(nn.Module):
    """What is shown of a source before every word alike."""

    def __init__(self, *, context_words: int) -> None:
        super().__init__()
        self.context_words = context_words

    def repeated(self, fed_ids: Tensor, context: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Give every C of (B, C - 1 + T) words the same (B, 1, H) context, (B, 1, S) weights."""
        T = fed_ids.size(1) + 1 - self.context_words
        return context.expand(-1, T, -1), weights.expand(-1, T, -1)


class BagOfWords(_SeenAlike):
    """Show the mean of the source's words, whatever was written (enc1).

    enc1(x, y_c) = pᵀ x̃ with p_i = 1 / M

    Args:
        context_words: how many of the last words are seen, C.
    """

    def read(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, S, H) words, which are averaged."""
        return words, words

    def look(
        self, fed_ids: Tensor, keys: Tensor, states: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return (B, T, H) contexts and (B, T, S) weights, the same before every word."""
        share = valid.to(states.dtype) / valid.sum(dim=1, keepdim=True).clamp_min(1)  # (B, S)
        share = share.unsqueeze(1)
        return self.repeated(fed_ids, torch.bmm(share, states), share)


class Convolution(_SeenAlike):
    """Show what layers of convolution and pooling keep of the source, whatever was written (enc2).

    x̄^l_i = Q^l x̃^{l-1}_{i-Q ... i+Q};  x̃^l_i = tanh(max(x̄^l_{2i-1}, x̄^l_{2i}));
    enc2(x, y_c) = max_i x̃^L_i

    A last place without a neighbour is pooled alone. Nothing weighs words here, so the weights that
    are given are zeros.

    Args:
        context_words: how many of the last words are seen, C.
        hidden_size: width of a source word and of every layer, H below.
        num_layers: L in the paper.
        reach: places on either side that a convolution sees, Q.
    """

    def __init__(
        self, *, context_words: int, hidden_size: int, num_layers: int, reach: int
    ) -> None:
        super().__init__(context_words=context_words)
        self.reach = reach
        self.layers = nn.ModuleList(
            nn.Linear((2 * reach + 1) * hidden_size, hidden_size, bias=False)
            for _ in range(num_layers)
        )

    def read(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the (B, 1, H) whole of (B, S, H) words; nothing is compared with it."""
        for layer in self.layers:
            convolved = layer(windows(words, before=self.reach, after=self.reach))  # (B, S, H)
            lowest = torch.finfo(convolved.dtype).min
            is_word = valid_positions(lengths, words.size(1)).unsqueeze(2)
            convolved = convolved.masked_fill(~is_word, lowest)
            convolved = F.pad(convolved, (0, 0, 0, words.size(1) % 2), value=lowest)
            B, _, H = convolved.shape
            pooled = convolved.view(B, -1, 2, H).amax(dim=2)  # (B, ⌈S / 2⌉, H)
            lengths = (lengths + 1) // 2
            is_word = valid_positions(lengths, pooled.size(1)).unsqueeze(2)
            words = torch.tanh(pooled).masked_fill(~is_word, 0.0)
        whole = words.masked_fill(~is_word, -1.0).amax(dim=1, keepdim=True)  # (B, 1, H)
        return whole, whole

    def look(
        self, fed_ids: Tensor, keys: Tensor, states: Tensor, valid: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return (B, T, H) contexts, the same before every word, and (B, T, S) zeros."""
        nothing = torch.zeros_like(valid, dtype=states.dtype).unsqueeze(1)
        return self.repeated(fed_ids, states, nothing)


AbsEncoder = AttentiveBag | BagOfWords | Convolution
