"""The large-vocabulary trick: only the words of the sources and the most frequent ones compete.

Jean, Cho, Memisevic and Bengio 2015 for translation; Nallapati, Zhou, dos Santos, Gulcehre and
Xiang 2016 (section 2.1) for summaries. Ids of a vocabulary fall in frequency, so "the most
frequent" are the smallest ids. The reserved words, which are the first, are always on the list.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.networks.outputs.softmax import VocabularyOutput
from readagain.text.vocab import PAD, SPECIAL_TOKENS


def shortlists(source_ids: Tensor, *, vocab_size: int, size: int) -> Tensor:
    """List the words of each row, and the most frequent others until there are `size`.

    A row with more words of its own keeps the most frequent of them. Shapes hang on `size` alone,
    and nothing waits for the device.

    Args:
        source_ids: (M, n) extended ids; those from `vocab_size` upwards are on no list.
        vocab_size: V.
        size: W, at most V; the reserved words count.

    Returns:
        (M, W) ids, rising.
    """
    known_ids = torch.where(source_ids < vocab_size, source_ids, PAD)
    is_own = source_ids.new_zeros((source_ids.size(0), vocab_size), dtype=torch.float32)
    is_own.scatter_(1, known_ids, 1.0)
    is_own[:, : len(SPECIAL_TOKENS)] = 1.0
    frequency = -torch.arange(vocab_size, device=source_ids.device, dtype=torch.float32)
    chosen = (is_own * vocab_size + frequency).topk(size, dim=1, sorted=False).indices
    return chosen.sort(dim=1).values


@dataclass(frozen=True)
class SharedShortlists:
    """Lists that every few sources of a batch share, for scoring known summaries.

    Args:
        ids: (M, W) the words on each list, rising.
        num_rows: B, rows of the batch; ceil(B / M) of them share a list, the last one fewer.
        vocab_size: V.
    """

    ids: Tensor
    num_rows: int
    vocab_size: int

    def share(self, rows: Tensor) -> Tensor:
        """Lay the rows of a list side by side: (B, T, ...) -> (M, rows of a list * T, ...)."""
        M = self.ids.size(0)
        filler = M * -(-self.num_rows // M) - self.num_rows
        filled = F.pad(rows, (0, 0) * (rows.dim() - 1) + (0, filler))
        return filled.reshape(M, -1, *rows.shape[2:])

    def unshare(self, rows: Tensor, length: int) -> Tensor:
        """Undo `share`: (M, rows of a list * T, ...) -> (B, T, ...), T being `length`."""
        return rows.reshape(-1, length, *rows.shape[2:])[: self.num_rows]

    def places(self, ext_ids: Tensor, *, absent: int) -> Tensor:
        """Find words on their list: (B, T) extended ids -> (B, T) ids as of a vocabulary of W.

        Args:
            ext_ids: extended ids; what lies beyond the vocabulary lies as far beyond the list.
            absent: the reserved word that stands for words of the vocabulary not on the list.
        """
        W = self.ids.size(1)
        shared = self.share(ext_ids)  # (M, rows of a list * T)
        places = torch.searchsorted(self.ids, shared).clamp_max(W - 1)
        places = torch.where(self.ids.gather(1, places) == shared, places, absent)
        places = torch.where(shared < self.vocab_size, places, shared - self.vocab_size + W)
        return self.unshare(places, ext_ids.size(1))


@dataclass(frozen=True)
class SourceShortlist:
    """The list of each source in columns, for writing summaries.

    The W most frequent words are W columns, and one product serves all rows; those that gave way
    to rarer words of the source are left out. The rarer words are in S more columns, one for each
    place of the source. So no row has a matrix of its own, only S rows of one.

    Args:
        is_word: (B, W + S) True where a column holds a word: one of the frequent words on the
            list, or at its first place one of the rarer ones.
        rows: (B, S, H) the rarer words' rows of the output matrix.
        biases: (B, S) their biases.
        columns: (B, S) the column of each source word, unknown ones included.
    """

    is_word: Tensor
    rows: Tensor
    biases: Tensor
    columns: Tensor

    def select(self, chosen: Tensor) -> "SourceShortlist":
        """Keep, drop or repeat rows."""
        return SourceShortlist(*(each.index_select(0, chosen) for each in vars(self).values()))

    def words(self, columns: Tensor, source_ext_ids: Tensor) -> Tensor:
        """Return the extended ids of the words in (B, k) columns, given the source's (B, S)."""
        W = self.is_word.size(1) - self.columns.size(1)
        places = (columns - W).clamp_min(0)  # (B, k)
        return torch.where(columns < W, columns, source_ext_ids.gather(1, places))


class ShortlistOutput(VocabularyOutput):
    """Score a shortlist instead of the vocabulary; the parameters are those of all words.

    Args:
        hidden_size: width of a decoder state, H below.
        vocab_size: words that can be generated, V below.
        shortlist_size: words that compete at once, W below; V where that is smaller.
        num_sources: sources that share a list in training.
    """

    def __init__(
        self, *, hidden_size: int, vocab_size: int, shortlist_size: int, num_sources: int
    ) -> None:
        super().__init__(hidden_size=hidden_size, vocab_size=vocab_size)
        self.vocab_size = vocab_size
        self.size = min(shortlist_size, vocab_size)
        self.num_sources = num_sources

    def share(self, source_ext_ids: Tensor) -> SharedShortlists:
        """Make a list for every few of the (B, S) sources.

        Sources share one so that the output matrix is gathered once for all of them. How many do
        is a setting of its own, not the batch size: the sources of a large batch have more words
        than fit, and their rarer ones would never be trained.
        """
        B = source_ext_ids.size(0)
        M = -(-B // self.num_sources)
        filler = M * -(-B // M) - B
        sources = F.pad(source_ext_ids, (0, 0, 0, filler), value=PAD).view(M, -1)
        ids = shortlists(sources, vocab_size=self.vocab_size, size=self.size)
        return SharedShortlists(ids, B, self.vocab_size)

    def score_shared(self, hidden: Tensor, lists: SharedShortlists) -> Tensor:
        """Score (B, T, H) states: (B, T, W) logits of the words on each row's list."""
        M, W = lists.ids.shape
        flat = lists.ids.flatten()
        weight = self.project.weight.index_select(0, flat).view(M, W, -1)
        bias = self.project.bias.index_select(0, flat).view(M, 1, W)
        logits = torch.baddbmm(bias, lists.share(hidden), weight.transpose(1, 2))
        return lists.unshare(logits, hidden.size(1))

    def prepare(self, source_ext_ids: Tensor) -> SourceShortlist:
        """Make a list for each of the (B, S) sources.

        Every source has its own, so that a summary does not depend on what else is in the batch.
        """
        W, V = self.size, self.vocab_size
        ids = shortlists(source_ext_ids, vocab_size=V, size=W)  # (B, W)
        on_list = torch.zeros_like(ids, dtype=torch.bool)
        on_list = F.pad(on_list, (0, 1)).scatter(1, ids.clamp_max(W), value=True)[:, :W]
        same = source_ext_ids.unsqueeze(1) == source_ext_ids.unsqueeze(2)  # (B, S, S)
        first = same.int().argmax(dim=2)  # (B, S)
        is_first = first == torch.arange(first.size(1), device=first.device)
        # A source with more words than there is room for keeps the most frequent.
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
        """Score (B, H) states: (B, W + S) logits of the columns, -inf where no word is."""
        weight, bias = self.project.weight[: self.size], self.project.bias[: self.size]
        frequent = F.linear(hidden, weight, bias)
        rare = torch.einsum("bh,bsh->bs", hidden, shortlist.rows) + shortlist.biases
        logits = torch.cat([frequent, rare], dim=1)
        return logits.masked_fill(~shortlist.is_word, -torch.inf)
