"""What is known of a source word beside the word: the feature-rich encoder's other embeddings.

Nallapati et al. 2016, section 2.2: part of speech, named entity, and bins of TF and IDF, each with
an embedding that is joined to the word's.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from readagain.config.features import (
    BEFORE_VERBS,
    ENTITIES,
    NOUN,
    NOUN_OR_VERB,
    NUM_FREQUENCIES,
    NUM_RARITIES,
    PARTS_OF_SPEECH,
    VERB,
)
from readagain.networks.embedding import WordEmbedding
from readagain.text.vocab import SPECIAL_TOKENS, UNK


class FeatureEmbedding(nn.Module):
    """Embed the kind of each source word, how often its text has it, and how rare it is.

    Kinds are facts about the words of the encoder's vocabulary, given once (`fill`) and kept with
    the weights. Rarity needs no counts: ids fall in frequency, and by Zipf's law the logarithm of
    a rank grows as IDF does.

    Args:
        vocab_size: words that the encoder knows.
        size: width of each of the four embeddings, so that their join is 4 times as wide.
    """

    kinds: Tensor

    def __init__(self, *, vocab_size: int, size: int) -> None:
        super().__init__()
        kinds = torch.zeros(vocab_size, 3)  # part of speech, entity, rarity
        kinds[:, 2] = rarities(vocab_size)
        # Whole numbers, but stored as weights are, which may be averaged or read by any engine.
        self.register_buffer("kinds", kinds)
        self.part_of_speech = WordEmbedding(len(PARTS_OF_SPEECH), size)
        self.entity = WordEmbedding(len(ENTITIES), size)
        self.frequency = WordEmbedding(NUM_FREQUENCIES, size)
        self.rarity = WordEmbedding(NUM_RARITIES, size)

    @torch.no_grad()
    def fill(self, kinds: Tensor) -> None:
        """Say of which kinds the words are: (vocab_size, 2), part of speech and entity."""
        self.kinds[:, :2] = kinds

    def forward(self, source_ids: Tensor) -> Tensor:
        """Embed (B, N, L) ids as (B, N, L, 4 * size)."""
        part, entity, rarity = self.kinds[source_ids].long().unbind(-1)  # (B, N, L) each
        embedded = (
            self.part_of_speech(settled(part)),
            self.entity(entity),
            self.frequency(frequencies(source_ids)),
            self.rarity(rarity),
        )
        return torch.cat(embedded, dim=-1)


def rarities(vocab_size: int) -> Tensor:
    """Bin the words of a vocabulary by rank, each bin four times as large as the last.

    The unknown word and the other reserved ones, which have no rank, are in the last bin.
    """
    ranks = torch.arange(vocab_size) - len(SPECIAL_TOKENS)
    bounds = torch.tensor([4**power for power in range(1, NUM_RARITIES)])
    bins = torch.bucketize(ranks, bounds, right=True)
    return torch.where(ranks < 0, NUM_RARITIES - 1, bins).float()


def settled(parts: Tensor) -> Tensor:
    """Decide by the word before whether a word that can be both is a noun or a verb."""
    before = F.pad(parts[..., :-1], (1, 0))
    is_verb = torch.zeros_like(before, dtype=torch.bool)
    for part in BEFORE_VERBS:
        is_verb |= before == part
    decided = torch.where(is_verb, VERB, NOUN)
    return torch.where(parts == NOUN_OR_VERB, decided, parts)


def frequencies(source_ids: Tensor) -> Tensor:
    """Bin how often each word stands in its text, all sentences together: 0 for once.

    Unknown words and padding count as once: they need not be the same word.
    """
    flat = source_ids.flatten(1)  # (B, S)
    same = flat.unsqueeze(1) == flat.unsqueeze(2)  # (B, S, S)
    counts = same.sum(dim=2).clamp_max(NUM_FREQUENCIES) - 1
    return torch.where(flat > UNK, counts, 0).view_as(source_ids)
