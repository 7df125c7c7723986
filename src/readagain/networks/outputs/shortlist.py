"""Large-vocabulary trick: score only a shortlist, the source words and the most frequent words.

Jean, Cho, Memisevic and Bengio 2015 for translation; Nallapati, Zhou, dos Santos, Gulcehre and
Xiang 2016 (section 2.1) for summaries. Vocabularies are sorted by frequency, so the most frequent
words have the smallest ids. The special tokens, which come first, are on every shortlist.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.networks.outputs.softmax import VocabularyOutput
from readagain.text.vocab import PAD, SPECIAL_TOKENS


def shortlists(source_ids: Tensor, *, vocab_size: int, size: int) -> Tensor:
    """Return the words of each row and the most frequent other words, `size` in total.

    A row with more words keeps its most frequent ones. Shapes depend only on the arguments, which
    avoids a synchronization with the device.

    Args:
        source_ids: (M, n) extended ids; those from `vocab_size` upwards are ignored.
        vocab_size: V.
        size: W, at most V, special tokens included.

    Returns:
        (M, W) ids in ascending order.
    """
    known_ids = torch.where(source_ids < vocab_size, source_ids, PAD)
    is_source = source_ids.new_zeros((source_ids.size(0), vocab_size), dtype=torch.float32)
    is_source.scatter_(1, known_ids, 1.0)
    is_source[:, : len(SPECIAL_TOKENS)] = 1.0
    frequency = -torch.arange(vocab_size, device=source_ids.device, dtype=torch.float32)
    chosen = (is_source * vocab_size + frequency).topk(size, dim=1, sorted=False).indices
    return chosen.sort(dim=1).values


@dataclass(frozen=True)
class SharedShortlists:
    """Shortlists for training, each shared by several sources of a batch.

    Args:
        ids: (M, W) words of each shortlist in ascending order.
        num_rows: B, number of rows of the batch; ceil(B / M) rows share a shortlist.
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

    def columns(self, ext_ids: Tensor, *, absent: int) -> Tensor:
        """Map (B, T) extended ids to (B, T) extended ids of a vocabulary of W words.

        Args:
            ext_ids: extended ids; V + i becomes W + i.
            absent: special token for words of the vocabulary that are not on the shortlist.
        """
        W = self.ids.size(1)
        grouped = self.group(ext_ids)  # (M, rows per shortlist * T)
        columns = torch.searchsorted(self.ids, grouped).clamp_max(W - 1)
        columns = torch.where(self.ids.gather(1, columns) == grouped, columns, absent)
        columns = torch.where(grouped < self.vocab_size, columns, grouped - self.vocab_size + W)
        return self.ungroup(columns, ext_ids.size(1))


@dataclass(frozen=True)
class SourceShortlist:
    """Shortlist of each source for decoding, as columns of logits.

    The W most frequent words are the first W columns, computed with one matrix product for the
    whole batch; those replaced by rare source words are masked. Rare words have S more columns, one
    per source position, so a source needs S rows of the output matrix instead of a gathered (W, H)
    matrix.

    Args:
        on_shortlist: (B, W + S) True where a column is a word of the shortlist.
        rows: (B, S, H) rows of the output matrix for rare words.
        biases: (B, S) their biases.
        columns: (B, S) column of each source word, including words outside the vocabulary.
    """

    on_shortlist: Tensor
    rows: Tensor
    biases: Tensor
    columns: Tensor

    def words(self, columns: Tensor, source_ext_ids: Tensor) -> Tensor:
        """Map (B, k) columns to extended ids.

        `source_ext_ids` (B, S) are the extended ids of the source positions.
        """
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
        self, *, hidden_size: int, vocab_size: int, shortlist_size: int, num_sources: int
    ) -> None:
        super().__init__(hidden_size=hidden_size, vocab_size=vocab_size)
        self.vocab_size = vocab_size
        self.size = min(shortlist_size, vocab_size)
        self.num_sources = num_sources

    def shared_shortlists(self, source_ext_ids: Tensor) -> SharedShortlists:
        """Return shortlists for (B, S) sources, each shared by `num_sources` sources.

        The output matrix is gathered once per shortlist. The number of sources does not depend on
        the batch size, because the source words of a large batch would not fit on one shortlist,
        and rare words would never be trained.
        """
        B = source_ext_ids.size(0)
        M = -(-B // self.num_sources)
        num_padding = M * -(-B // M) - B
        sources = F.pad(source_ext_ids, (0, 0, 0, num_padding), value=PAD).view(M, -1)
        ids = shortlists(sources, vocab_size=self.vocab_size, size=self.size)
        return SharedShortlists(ids, B, self.vocab_size)

    def score_shared(self, hidden: Tensor, lists: SharedShortlists) -> Tensor:
        """Compute (B, T, W) logits of (B, T, H) states for the words of their shortlist."""
        M, W = lists.ids.shape
        flat = lists.ids.flatten()
        weight = self.project.weight.index_select(0, flat).view(M, W, -1)
        bias = self.project.bias.index_select(0, flat).view(M, 1, W)
        logits = torch.baddbmm(bias, lists.group(hidden), weight.transpose(1, 2))
        return lists.ungroup(logits, hidden.size(1))

    def prepare(self, source_ext_ids: Tensor) -> SourceShortlist:
        """Return one shortlist per (B, S) source, so that summaries do not depend on the batch."""
        W, V = self.size, self.vocab_size
        ids = shortlists(source_ext_ids, vocab_size=V, size=W)  # (B, W)
        is_frequent = torch.zeros_like(ids, dtype=torch.bool)
        is_frequent = F.pad(is_frequent, (0, 1)).scatter(1, ids.clamp_max(W), value=True)[:, :W]
        same = source_ext_ids.unsqueeze(1) == source_ext_ids.unsqueeze(2)  # (B, S, S)
        first = same.int().argmax(dim=2)  # (B, S)
        is_first = first == torch.arange(first.size(1), device=first.device)
        # A source with too many words keeps the most frequent ones.
        is_rare = is_first & (source_ext_ids >= W) & (source_ext_ids < V)
        is_rare = is_rare & (source_ext_ids <= ids[:, -1:])
        rare_ids = torch.where(is_rare, source_ext_ids, PAD)
        return SourceShortlist(
            on_shortlist=torch.cat([is_frequent, is_rare], dim=1),
            rows=self.project.weight[rare_ids],
            biases=self.project.bias[rare_ids],
            columns=torch.where(source_ext_ids < W, source_ext_ids, W + first),
        )

    def score(self, hidden: Tensor, shortlist: SourceShortlist) -> Tensor:
        """Compute (B, W + S) logits of (B, H) states; -inf in columns without a word."""
        weight, bias = self.project.weight[: self.size], self.project.bias[: self.size]
        frequent = F.linear(hidden, weight, bias)
        rare = torch.einsum("bh,bsh->bs", hidden, shortlist.rows) + shortlist.biases
        logits = torch.cat([frequent, rare], dim=1)
        return logits.masked_fill(~shortlist.on_shortlist, -torch.inf)
