"""Large-vocabulary trick: score only a shortlist of words instead of the whole vocabulary.

A shortlist has the words of the source and the most frequent words. The trick was introduced for
translation (Jean, Cho, Memisevic and Bengio 2015) and used for summaries by Nallapati, Zhou, dos
Santos, Gulcehre and Xiang 2016 (section 2.1).

Vocabularies are sorted by frequency, so a more frequent word has a smaller id. The special tokens
have the smallest ids and are on every shortlist.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.networks.outputs import VocabularyOutput
from readagain.text.vocab import PAD, SPECIAL_TOKENS


def select_shortlists(source_ids: Tensor, *, vocab_size: int, size: int) -> Tensor:
    """Select the words of each source and the most frequent other words, `size` in total.

    If a source has more than `size` words, its most frequent words are selected. No shape depends
    on values in a tensor, so the CPU never waits for the GPU.

    `source_ids` is (M, number of words), extended ids; OOV words are ignored. `size` is W, at most
    `vocab_size`, special tokens included. Returns (M, W) ids in ascending order.
    """
    known_ids = torch.where(source_ids < vocab_size, source_ids, PAD)
    is_source = source_ids.new_zeros((source_ids.size(0), vocab_size), dtype=torch.float32)
    is_source.scatter_(1, known_ids, 1.0)  # (M, V), 1 for source words
    is_source[:, : len(SPECIAL_TOKENS)] = 1.0
    frequency_order = -torch.arange(vocab_size, device=source_ids.device, dtype=torch.float32)
    priority = is_source * vocab_size + frequency_order  # (M, V): source words, then by frequency
    return priority.topk(size, dim=1, sorted=False).indices.sort(dim=1).values  # (M, W)


def group_rows(rows: Tensor, num_groups: int) -> Tensor:
    """Split B rows into M groups of equal size: (B, T, ...) -> (M, ceil(B / M) * T, ...).

    Each row consists of T vectors or ids. If M does not divide B, rows of zeros are appended.
    """
    num_padding = -rows.size(0) % num_groups
    padded = F.pad(rows, (0, 0) * (rows.dim() - 1) + (0, num_padding))
    return padded.reshape(num_groups, -1, *rows.shape[2:])


def ungroup_rows(groups: Tensor, num_rows: int, length: int) -> Tensor:
    """Undo `group_rows`: (M, ceil(B / M) * T, ...) -> (B, T, ...); B is `num_rows`, T `length`."""
    return groups.reshape(-1, length, *groups.shape[2:])[:num_rows]


@dataclass(frozen=True)
class SourceShortlists:
    """Shortlists for decoding, one per source, as W + S columns of logits.

    The first W columns are the W most frequent words, whose ids are 0 to W - 1. The other source
    words are called rare here: column W + i is the rare word that first occurs at source position
    i. Each rare word displaces one frequent word from the shortlist, so the column of the displaced
    word is masked. Columns W + i without a rare word are masked too.

    With this layout, one matrix product scores the frequent words for the whole batch. Only S rows
    of the output matrix must be gathered per source, instead of W.

    Args:
        on_shortlist: (B, W + S) True where a column is a word of the shortlist.
        weights: (B, S, H) rows of the output matrix for the rare words.
        biases: (B, S) biases of the rare words.
        source_columns: (B, S) column of each source word, including OOV words.
    """

    on_shortlist: Tensor
    weights: Tensor
    biases: Tensor
    source_columns: Tensor

    def to_ext_ids(self, columns: Tensor, source_ext_ids: Tensor) -> Tensor:
        """Map (B, k) columns to (B, k) extended ids, given the (B, S) ids of the source."""
        W = self.on_shortlist.size(1) - self.source_columns.size(1)
        positions = (columns - W).clamp_min(0)  # (B, k)
        return torch.where(columns < W, columns, source_ext_ids.gather(1, positions))


class ShortlistOutput(VocabularyOutput):
    """Output layer that scores a shortlist; it has parameters for the whole vocabulary.

    Args:
        shortlist_size: size W of a shortlist; V if it is larger.
        num_sources: maximum number of sources that share a shortlist in training.
    """

    def __init__(
        self, hidden_size: int, vocab_size: int, *, shortlist_size: int, num_sources: int
    ) -> None:
        super().__init__(hidden_size, vocab_size)
        self.vocab_size = vocab_size
        self.size = min(shortlist_size, vocab_size)
        self.num_sources = num_sources

    def build_shared_shortlists(self, source_ext_ids: Tensor) -> Tensor:
        """Build the shortlists of (B, S) sources for training, as (M, W) ids in ascending order.

        Each is shared by a group of sources (`group_rows`). Sharing saves memory: the output matrix
        is gathered once per shortlist. One shortlist for a large batch could not hold all source
        words, and rare words would never be trained.
        """
        num_shortlists = math.ceil(source_ext_ids.size(0) / self.num_sources)
        groups = group_rows(source_ext_ids, num_shortlists)  # padded with 0, which is PAD
        return select_shortlists(groups, vocab_size=self.vocab_size, size=self.size)

    def to_columns(self, ext_ids: Tensor, shortlists: Tensor, *, default: int) -> Tensor:
        """Map (B, T) extended ids to (B, T) columns of the shared shortlist of their source.

        The OOV word V + i gets the column W + i. Words of the vocabulary that are not on the
        shortlist get the column `default`.
        """
        B, T = ext_ids.shape
        M, W = shortlists.shape
        ids = group_rows(ext_ids, M)  # (M, ceil(B / M) * T)
        columns = torch.searchsorted(shortlists, ids).clamp_max(W - 1)
        columns = torch.where(shortlists.gather(1, columns) == ids, columns, default)
        columns = torch.where(ids < self.vocab_size, columns, ids - self.vocab_size + W)
        return ungroup_rows(columns, B, T)

    def score_shared(self, hidden: Tensor, shortlists: Tensor) -> Tensor:
        """Compute (B, T, W) logits of (B, T, H) states, each for the shortlist of its source."""
        B, T, _ = hidden.shape
        M, W = shortlists.shape
        flat_ids = shortlists.flatten()
        weight = self.project.weight.index_select(0, flat_ids).view(M, W, -1)  # (M, W, H)
        bias = self.project.bias.index_select(0, flat_ids).view(M, 1, W)
        states = group_rows(hidden, M)  # (M, ceil(B / M) * T, H)
        logits = torch.baddbmm(bias, states, weight.transpose(1, 2))  # (M, ceil(B / M) * T, W)
        return ungroup_rows(logits, B, T)

    def build_source_shortlists(self, source_ext_ids: Tensor) -> SourceShortlists:
        """Build the shortlists of (B, S) sources for decoding.

        Each source has its own shortlist, so that its summary does not depend on the batch.
        """
        W, V = self.size, self.vocab_size
        ids = select_shortlists(source_ext_ids, vocab_size=V, size=W)  # (B, W)
        # All ids from W upwards are scattered into an additional column W, which is then dropped.
        columns = torch.zeros((len(ids), W + 1), dtype=torch.bool, device=ids.device)
        has_frequent_word = columns.scatter(1, ids.clamp_max(W), value=True)[:, :W]  # (B, W)
        is_same_word = source_ext_ids.unsqueeze(1) == source_ext_ids.unsqueeze(2)  # (B, S, S)
        first_positions = is_same_word.int().argmax(dim=2)  # (B, S) first occurrence of each word
        positions = torch.arange(source_ext_ids.size(1), device=source_ext_ids.device)  # (S,)
        is_rare = (source_ext_ids >= W) & (source_ext_ids < V)
        # A source with more than W words loses its rarest words. They have larger ids than the
        # last word of the shortlist.
        is_rare = is_rare & (source_ext_ids <= ids[:, -1:])
        has_rare_word = is_rare & (first_positions == positions)  # (B, S)
        rare_ids = torch.where(has_rare_word, source_ext_ids, PAD)
        return SourceShortlists(
            on_shortlist=torch.cat([has_frequent_word, has_rare_word], dim=1),
            weights=self.project.weight[rare_ids],
            biases=self.project.bias[rare_ids],
            source_columns=torch.where(source_ext_ids < W, source_ext_ids, W + first_positions),
        )

    def score_by_source(self, hidden: Tensor, shortlists: SourceShortlists) -> Tensor:
        """Compute (B, W + S) logits of (B, H) states; -inf in columns off the shortlist."""
        weight, bias = self.project.weight[: self.size], self.project.bias[: self.size]
        frequent = F.linear(hidden, weight, bias)  # (B, W)
        rare = torch.einsum("bh,bsh->bs", hidden, shortlists.weights) + shortlists.biases  # (B, S)
        logits = torch.cat([frequent, rare], dim=1)
        return logits.masked_fill(~shortlists.on_shortlist, -torch.inf)
