"""What the decoder is fed: embeddings of known words, and of words copied from the source."""

import torch
from torch import Tensor, nn

from readagain.networks.affine import Affine
from readagain.networks.embedding import WordEmbedding
from readagain.text.vocab import UNK


class PreviousWords(nn.Module):
    """Embed the summary so far, words outside the vocabulary by their place in the source.

    Ids from V upwards say where a word stands: id V + i is the word at source position i, and its
    embedding is p_i = tanh(W_c h²_i + b_c) (equation 15). A model that cannot copy, or that shares
    one embedding among all such words, sees UNK there, as for words that stand in neither.

    Args:
        vocab_size: words with an embedding of their own, V.
        embedding_size: width of an embedding, E below.
        source_size: width of a source state, D below; None for a model without p_i.
    """

    def __init__(self, *, vocab_size: int, embedding_size: int, source_size: int | None) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = WordEmbedding(vocab_size, embedding_size)
        self.copied = None if source_size is None else Affine(source_size, embedding_size)

    def of_source(self, states: Tensor) -> Tensor | None:
        """Make p_i for every position once: (B, S, D) -> (B, S, E); None without them."""
        return None if self.copied is None else torch.tanh(self.copied(states))

    def forward(self, previous_ids: Tensor, of_source: Tensor | None) -> Tensor:
        """Embed (B, T) extended ids as (B, T, E)."""
        is_known = previous_ids < self.vocab_size  # (B, T)
        known: Tensor = self.embedding(torch.where(is_known, previous_ids, UNK))  # (B, T, E)
        if of_source is None:
            return known
        positions = (previous_ids - self.vocab_size).clamp_min(0).unsqueeze(-1)  # (B, T, 1)
        copied = of_source.gather(1, positions.expand(-1, -1, known.size(-1)))  # (B, T, E)
        return torch.where(is_known.unsqueeze(-1), known, copied)
