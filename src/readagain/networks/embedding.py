"""Words as vectors."""

import torch
from torch import Tensor, nn


class WordEmbedding(nn.Embedding):
    """A table of word vectors that hands them out in the precision of the products to come.

    Autocast leaves look-ups in float32, and joining them with half-precision states would widen
    those too; the table and its gradient stay in float32.
    """

    def forward(self, ids: Tensor) -> Tensor:
        """Look up (...) ids as (..., E) vectors."""
        vectors = super().forward(ids)
        if torch.is_autocast_enabled(vectors.device.type):
            return vectors.to(torch.get_autocast_dtype(vectors.device.type))
        return vectors
