"""Embeddings of previous words, including words copied from the source."""

import torch
from torch import Tensor, nn

from readagain.networks.layers import Affine, WordEmbedding
from readagain.text.vocab import UNK


class PreviousWords(nn.Module):
    """Embedding of previous words; a copied word outside the vocabulary by its position.

    The id V + i is the word at source position i, with the embedding p_i = tanh(W_c h²_i + b_c)
    (equation 15). A model without p_i uses the embedding of UNK, as for words in neither the
    vocabulary nor the source.

    Args:
        vocab_size: size V of the vocabulary.
        embedding_size: width E of an embedding.
        source_size: width D of a source state; None for a model without p_i.
    """

    def __init__(self, *, vocab_size: int, embedding_size: int, source_size: int | None) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.embedding = WordEmbedding(vocab_size, embedding_size)
        self.copied = None if source_size is None else Affine(source_size, embedding_size)

    def of_source(self, states: Tensor) -> Tensor | None:
        """Compute p_i of every position: (B, S, D) -> (B, S, E); None for a model without p_i."""
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
