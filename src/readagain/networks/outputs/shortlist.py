"""Large-vocabulary trick: a shortlist of source words and the most frequent words is scored.

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
    """Return the words of each row and the most frequent others, `size` in total.

    A row with more words keeps its most frequent ones. Shapes depend on `size` only, so that the
    device is not synchronized.

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
        num_rows: B, rows of the batch; ceil(B / M) of them share a shortlist.
        vocab_size: V.
    """

    ids: Tensor
    num_rows: int
    vocab_size: int

    def share(self, rows: Tensor) -> Tensor:
        """Group rows by shortlist: (B, T, ...) -> (M, rows of a list * T, ...)."""
        M = self.ids.size(0)
        filler = M * -(-self.num_rows // M) - self.num_rows
        filled = F.pad(rows, (0, 0) * (rows.dim() - 1) + (0, filler))
        return filled.reshape(M, -1, *rows.shape[2:])

    def unshare(self, rows: Tensor, length: int) -> Tensor:
        """Undo `share`: (M, rows of a list * T, ...) -> (B, T, ...), T being `length`."""
        return rows.reshape(-1, length, *rows.shape[2:])[: self.num_rows]

    def columns(self, ext_ids: Tensor, *, absent: int) -> Tensor:
        """Map (B, T) extended ids to (B, T) extended ids of a vocabulary of W words.

        Args:
            ext_ids: extended ids; V + i becomes W + i.
            absent: special token for words of the vocabulary that are not on the shortlist.
        """
        W = self.ids.size(1)
        shared = self.share(ext_ids)  # (M, rows of a list * T)
        columns = torch.searchsorted(self.ids, shared).clamp_max(W - 1)
        columns = torch.where(self.ids.gather(1, columns) == shared, columns, absent)
        columns = torch.where(shared < self.vocab_size, columns, shared - self.vocab_size + W)
        return self.unshare(columns, ext_ids.size(1))


@dataclass(frozen=True)
class SourceShortlist:
    """Shortlist of each source for decoding, as columns of logits.

    The W most frequent words are the first W columns, computed with one product for all rows;
    those replaced by rare source words are masked. Rare words have S more columns, one per source
    position, so a row needs S rows of the output matrix and no matrix of its own.

    Args:
        is_word: (B, W + S) True where a column is a word of the shortlist.
        rows: (B, S, H) rows of the output matrix for rare words.
        biases: (B, S) their biases.
        columns: (B, S) column of each source word, including words outside the vocabulary.
    """

    is_word: Tensor
    rows: Tensor
    biases: Tensor
    columns: Tensor

    def words(self, columns: Tensor, source_ext_ids: Tensor) -> Tensor:
        """Return the extended ids of (B, k) columns, given those of the source, (B, S)."""
        W = self.is_word.size(1) - self.columns.size(1)
        positions = (columns - W).clamp_min(0)  # (B, k)
        return torch.where(columns < W, columns, source_ext_ids.gather(1, positions))


class ShortlistOutput(VocabularyOutput):
    """Output layer that scores a shortlist; it has parameters for the whole vocabulary.

    Args:
        hidden_size: width H of a decoder state.
        vocab_size: size V of the vocabulary.
        shortlist_size: size W of a shortlist, at most V.
        num_sources: sources that share a shortlist in training.
    """

    def __init__(
        self, *, hidden_size: int, vocab_size: int, shortlist_size: int, num_sources: int
    ) -> None:
        super().__init__(hidden_size=hidden_size, vocab_size=vocab_size)
        self.vocab_size = vocab_size
        self.size = min(shortlist_size, vocab_size)
        self.num_sources = num_sources

    def share(self, source_ext_ids: Tensor) -> SharedShortlists:
        """Return shortlists for (B, S) sources, each for `num_sources` of them.

        The output matrix is gathered once per shortlist. The number of sources does not depend on
        the batch size: the words of a large batch would not fit, and rare ones would never be
        trained.
        """
        B = source_ext_ids.size(0)
        M = -(-B // self.num_sources)
        filler = M * -(-B // M) - B
        sources = F.pad(source_ext_ids, (0, 0, 0, filler), value=PAD).view(M, -1)
        ids = shortlists(sources, vocab_size=self.vocab_size, size=self.size)
        return SharedShortlists(ids, B, self.vocab_size)

    def score_shared(self, hidden: Tensor, lists: SharedShortlists) -> Tensor:
        """Compute (B, T, W) logits of (B, T, H) states for the words of their shortlist."""
        M, W = lists.ids.shape
        flat = lists.ids.flatten()
        weight = self.project.weight.index_select(0, flat).view(M, W, -1)
        bias = self.project.bias.index_select(0, flat).view(M, 1, W)
        logits = torch.baddbmm(bias, lists.share(hidden), weight.transpose(1, 2))
        return lists.unshare(logits, hidden.size(1))

    def prepare(self, source_ext_ids: Tensor) -> SourceShortlist:
        """Return a shortlist per source, (B, S), so that a summary does not depend on its batch."""
        W, V = self.size, self.vocab_size
        ids = shortlists(source_ext_ids, vocab_size=V, size=W)  # (B, W)
        on_list = torch.zeros_like(ids, dtype=torch.bool)
        on_list = F.pad(on_list, (0, 1)).scatter(1, ids.clamp_max(W), value=True)[:, :W]
        same = source_ext_ids.unsqueeze(1) == source_ext_ids.unsqueeze(2)  # (B, S, S)
        first = same.int().argmax(dim=2)  # (B, S)
        is_first = first == torch.arange(first.size(1), device=first.device)
        # A source with too many words keeps the most frequent ones.
        is_rare = is_first & (source_ext_ids >= W) & (source_ext_ids < V)
        is_rare = is_rare & (source_ext_ids <= ids[:, -1:])
        rare_ids = torch.where(is_rare, source_ext_ids, PAD)
        return SourceShortlist(
            is_word=torch.cat([on_list, is_rare], dim=1),
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
        return logits.masked_fill(~shortlist.is_word, -torch.inf)
