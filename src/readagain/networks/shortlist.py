"""Large-vocabulary trick: score only a shortlist of source words and most frequent words.

Jean, Cho, Memisevic and Bengio 2015 for translation; Nallapati, Zhou, dos Santos, Gulcehre and
Xiang 2016 (section 2.1) for summaries. Vocabularies are sorted by frequency, so the most frequent
words have the smallest ids. The special tokens, which come first, are on every shortlist.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.networks.outputs import VocabularyOutput
from readagain.text.vocab import PAD, SPECIAL_TOKENS


def select_shortlists(source_ids: Tensor, *, vocab_size: int, size: int) -> Tensor:
    """Return the words of each row and the most frequent other words, `size` in total.

    A row with more than `size` words keeps its most frequent ones. No shape depends on values in a
    tensor, so the CPU never waits for the GPU.

    Args:
        source_ids: (M, number of words) extended ids; OOV words are ignored.
        vocab_size: V.
        size: W, at most V, special tokens included.

    Returns:
        (M, W) ids in ascending order.
    """
    known_ids = torch.where(source_ids < vocab_size, source_ids, PAD)
    is_source = source_ids.new_zeros((source_ids.size(0), vocab_size), dtype=torch.float32)
    is_source.scatter_(1, known_ids, 1.0)
    is_source[:, : len(SPECIAL_TOKENS)] = 1.0
    # Source words first, then by frequency: a smaller id is a more frequent word.
    frequency = -torch.arange(vocab_size, device=source_ids.device, dtype=torch.float32)
    priority = is_source * vocab_size + frequency  # (M, V)
    return priority.topk(size, dim=1, sorted=False).indices.sort(dim=1).values  # (M, W)


@dataclass(frozen=True)
class SharedShortlists:
    """Shortlists for training, each shared by several sources of a batch.

    Args:
        ids: (M, W) words of each shortlist in ascending order.
        num_rows: batch size B; ceil(B / M) rows share a shortlist.
        vocab_size: V.
    """

    ids: Tensor
    num_rows: int
    vocab_size: int

    def group(self, rows: Tensor) -> Tensor:
        """Group rows by shortlist: (B, T, ...) -> (M, rows per shortlist * T, ...)."""
        M = self.ids.size(0)
        rows_per_list = -(-self.num_rows // M)
        num_padding = M * rows_per_list - self.num_rows
        padded = F.pad(rows, (0, 0) * (rows.dim() - 1) + (0, num_padding))
        return padded.reshape(M, -1, *rows.shape[2:])

    def ungroup(self, rows: Tensor, length: int) -> Tensor:
        """Undo `group`: (M, rows per shortlist * T, ...) -> (B, T, ...), where T is `length`."""
        return rows.reshape(-1, length, *rows.shape[2:])[: self.num_rows]

    def to_columns(self, ext_ids: Tensor, *, absent: int) -> Tensor:
        """Map (B, T) extended ids to (B, T) columns of the shortlist of their row.

        Args:
            ext_ids: extended ids; V + i (an OOV word) becomes W + i.
            absent: id that replaces words of the vocabulary that are not on the shortlist.
        """
        W = self.ids.size(1)
        grouped = self.group(ext_ids)  # (M, rows per shortlist * T)
        columns = torch.searchsorted(self.ids, grouped).clamp_max(W - 1)
        columns = torch.where(self.ids.gather(1, columns) == grouped, columns, absent)
        columns = torch.where(grouped < self.vocab_size, columns, grouped - self.vocab_size + W)
        return self.ungroup(columns, ext_ids.size(1))


@dataclass(frozen=True)
class SourceShortlist:
    """Shortlist of each source for decoding, as W + S columns of logits.

    The first W columns are the W most frequent words; one matrix product computes them for the
    whole batch. The other S columns are the source positions; they hold the rare source words.
    Because the frequent words are shared, only S rows of the output matrix are gathered per source
    instead of W. A frequent word that a rare word displaces from the shortlist is masked.

    Args:
        on_shortlist: (B, W + S) True where a column is a word of the shortlist.
        weights: (B, S, H) rows of the output matrix for rare words.
        biases: (B, S) their biases.
        columns: (B, S) column of each source word, including OOV words.
    """

    on_shortlist: Tensor
    weights: Tensor
    biases: Tensor
    columns: Tensor

    def to_ext_ids(self, columns: Tensor, source_ext_ids: Tensor) -> Tensor:
        """Map (B, k) columns to extended ids, given the (B, S) extended ids of the source."""
        W = self.on_shortlist.size(1) - self.columns.size(1)
        positions = (columns - W).clamp_min(0)  # (B, k)
        return torch.where(columns < W, columns, source_ext_ids.gather(1, positions))


class ShortlistOutput(VocabularyOutput):
    """Output layer that scores a shortlist; it has parameters for the whole vocabulary.

    Args:
        hidden_size: width H of a decoder state.
        vocab_size: size V of the vocabulary.
        shortlist_size: size W of a shortlist, at most V.
        num_sources: number of sources that share a shortlist in training.
    """

    def __init__(
        self, hidden_size: int, vocab_size: int, *, shortlist_size: int, num_sources: int
    ) -> None:
        super().__init__(hidden_size, vocab_size)
        self.vocab_size = vocab_size
        self.size = min(shortlist_size, vocab_size)
        self.num_sources = num_sources

    def shared_shortlists(self, source_ext_ids: Tensor) -> SharedShortlists:
        """Return shortlists for (B, S) sources, each shared by at most `num_sources` sources.

        Sharing saves memory: the output matrix is gathered once per shortlist. One shortlist for a
        large batch could not hold all source words, and rare words would never be trained.
        """
        B = source_ext_ids.size(0)
        M = -(-B // self.num_sources)  # ceil(B / num_sources)
        num_padding = M * -(-B // M) - B
        sources = F.pad(source_ext_ids, (0, 0, 0, num_padding), value=PAD).view(M, -1)
        ids = select_shortlists(sources, vocab_size=self.vocab_size, size=self.size)
        return SharedShortlists(ids, B, self.vocab_size)

    def score_shared(self, hidden: Tensor, shortlists: SharedShortlists) -> Tensor:
        """Compute (B, T, W) logits of (B, T, H) states for the words of their shortlist."""
        M, W = shortlists.ids.shape
        flat_ids = shortlists.ids.flatten()
        weight = self.project.weight.index_select(0, flat_ids).view(M, W, -1)  # (M, W, H)
        bias = self.project.bias.index_select(0, flat_ids).view(M, 1, W)
        logits = torch.baddbmm(bias, shortlists.group(hidden), weight.transpose(1, 2))
        return shortlists.ungroup(logits, hidden.size(1))

    def prepare(self, source_ext_ids: Tensor) -> SourceShortlist:
        """Return one shortlist per (B, S) source, so that summaries do not depend on the batch."""
        W, V = self.size, self.vocab_size
        ids = select_shortlists(source_ext_ids, vocab_size=V, size=W)  # (B, W)
        # The additional column W receives all ids from W upwards and is dropped.
        is_frequent = torch.zeros_like(ids, dtype=torch.bool)
        is_frequent = F.pad(is_frequent, (0, 1)).scatter(1, ids.clamp_max(W), value=True)[:, :W]
        is_same_word = source_ext_ids.unsqueeze(1) == source_ext_ids.unsqueeze(2)  # (B, S, S)
        first = is_same_word.int().argmax(dim=2)  # (B, S) first position of each word
        is_first = first == torch.arange(first.size(1), device=first.device)
        is_rare = is_first & (source_ext_ids >= W) & (source_ext_ids < V)
        # If a source has more than W distinct words, drop the rarest: ids above the last of the
        # shortlist.
        is_rare = is_rare & (source_ext_ids <= ids[:, -1:])
        rare_ids = torch.where(is_rare, source_ext_ids, PAD)
        return SourceShortlist(
            on_shortlist=torch.cat([is_frequent, is_rare], dim=1),
            weights=self.project.weight[rare_ids],
            biases=self.project.bias[rare_ids],
            columns=torch.where(source_ext_ids < W, source_ext_ids, W + first),
        )

    def score(self, hidden: Tensor, shortlist: SourceShortlist) -> Tensor:
        """Compute (B, W + S) logits of (B, H) states; -inf in columns without a word."""
        weight, bias = self.project.weight[: self.size], self.project.bias[: self.size]
        frequent = F.linear(hidden, weight, bias)  # (B, W)
        rare = torch.einsum("bh,bsh->bs", hidden, shortlist.weights) + shortlist.biases  # (B, S)
        logits = torch.cat([frequent, rare], dim=1)
        return logits.masked_fill(~shortlist.on_shortlist, -torch.inf)
