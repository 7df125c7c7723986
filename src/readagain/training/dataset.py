"""Pairs as padded batches, made on the device where the words lie.

A prepared corpus holds lexicon ids. They are moved to the device once if they fit, and a batch is
then a handful of gathers: no parsing, no Python loop over pairs, no copy from the host. A corpus
that does not fit stays where the host has it, and the same gathers run there.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.config.schema import DataSpec
from readagain.corpus.shards import Split
from readagain.text.vocab import BOS, EOS, PAD, UNK
from readagain.training.batch import Batch
from readagain.training.buckets import Bucket, assign_buckets

Ints = npt.NDArray[np.integer]

RESIDENT_SHARE = 0.25
"""A corpus larger than this share of the device's free memory stays on the host."""

FEWEST_BATCHES = 8
"""Batches that a padded shape should give in an epoch, since its last one is incomplete."""
MOST_SHAPES = 25
"""Shapes that are worth their capture on a GPU."""


@dataclass(frozen=True)
class BatchPlan:
    """Which pairs make a batch, and the shape they are padded to."""

    pairs: Tensor
    shape: Bucket


@dataclass(frozen=True)
class BatchIndices:
    """A batch still to be gathered from words that lie on the device.

    Gathering is part of a captured update, so that the host only says which pairs it wants.

    Args:
        source: where the words are.
        pairs: (B,) numbers of the pairs.
        num_real: () how many of them are meant; the rest fill the batch up.
        shape: what they are padded to.
    """

    source: "TrainingDataset"
    pairs: Tensor
    num_real: Tensor
    shape: Bucket

    def assemble(self) -> Batch:
        """Gather the batch."""
        return self.source.gather(self.pairs, self.num_real, self.shape)

    def size(self) -> tuple[int, ...]:
        """Return B and the padded lengths: what a captured update depends on."""
        return (self.pairs.size(0), self.shape.source_words, self.shape.summary_words)

    def held(self) -> "BatchIndices":
        """Return a copy for a captured graph to read."""
        return BatchIndices(self.source, self.pairs.clone(), self.num_real.clone(), self.shape)

    def hold(self, given: "BatchIndices") -> None:
        """Take the content of other rows of this size, in place."""
        self.pairs.copy_(given.pairs, non_blocking=True)
        self.num_real.copy_(given.num_real, non_blocking=True)


class TrainingDataset:
    """A split of a prepared corpus, ready to be cut into batches.

    Args:
        words: (W,) lexicon ids; a negative id is an unknown word that has no spelling.
        sentence_starts: (P, N) where each sentence begins in `words`.
        sentence_lengths: (P, N) its words; 0 for a missing sentence.
        summary_starts: (P,) where each summary begins.
        summary_lengths: (P,) its words.
        source_ids_of: lexicon id → id in the encoder's vocabulary, UNK where it has none; its
            last entry answers for negative ids.
        ids_of: lexicon id → id in the decoder's vocabulary, likewise.
        vocab_size: V, size of the decoder's vocabulary.
        device: where batches are wanted.
    """

    def __init__(
        self,
        *,
        words: Tensor,
        sentence_starts: Tensor,
        sentence_lengths: Tensor,
        summary_starts: Tensor,
        summary_lengths: Tensor,
        source_ids_of: Tensor,
        ids_of: Tensor,
        vocab_size: int,
        device: torch.device,
    ) -> None:
        self.words = words
        self.sentence_starts = sentence_starts
        self.sentence_lengths = sentence_lengths
        self.summary_starts = summary_starts
        self.summary_lengths = summary_lengths
        self.source_ids_of = source_ids_of
        self.ids_of = ids_of
        self.vocab_size = vocab_size
        self.device = device

    @classmethod
    def load(
        cls,
        split: Split,
        *,
        source_ids_of: Ints,
        ids_of: Ints,
        vocab_size: int,
        data: DataSpec,
        device: torch.device,
    ) -> Self:
        """Lay out a split as `data` asks: how many sentences, joined or apart, how long.

        Args:
            split: train or dev of a prepared corpus.
            source_ids_of: `lexicon.vocab_ids` of the encoder's vocabulary.
            ids_of: `lexicon.vocab_ids` of the decoder's vocabulary.
            vocab_size: V, size of the decoder's vocabulary.
            data: what of each pair the network sees.
            device: where batches are wanted.
        """
        words, segments, pairs = join_shards(split)
        starts, lengths = find_sentences(segments, pairs, data)
        summaries = pairs[1:] - 1
        summary_lengths = segments[summaries + 1] - segments[summaries]
        home = device if _fits(words.nbytes, device) else torch.device("cpu")

        def place(array: Ints) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(home, torch.int64)

        resident = _mapped(words).to(home)
        return cls(
            words=resident,
            sentence_starts=place(starts),
            sentence_lengths=place(lengths),
            summary_starts=place(segments[summaries]),
            summary_lengths=place(np.minimum(summary_lengths, data.max_summary_words)),
            source_ids_of=place(source_ids_of),
            ids_of=place(ids_of),
            vocab_size=vocab_size,
            # "cuda" and "cuda:0" are one device, and unequal.
            device=resident.device if home == device else device,
        )

    def __len__(self) -> int:
        return self.summary_starts.size(0)

    def plan_epoch(self, *, epoch: int, batch_size: int, seed: int) -> list[BatchPlan]:
        """Shuffle all pairs into batches of like lengths, the same on every process.

        Batch k of an epoch depends on the seed, the epoch and k alone.
        """
        draw = np.random.default_rng([seed, epoch])
        plans = []
        for bucket, members in self._buckets(batch_size):
            plans += self._plans(draw.permutation(members), bucket, batch_size)
        return [plans[k] for k in draw.permutation(len(plans))]

    def plan_in_order(self, *, batch_size: int) -> list[BatchPlan]:
        """Cut all pairs into batches of like lengths without shuffling, for validation."""
        plans = []
        for bucket, members in self._buckets(batch_size):
            plans += self._plans(members, bucket, batch_size)
        return plans

    def feed(
        self, plan: BatchPlan, *, batch_size: int, rank: int = 0, world_size: int = 1
    ) -> BatchIndices | Batch:
        """Give one process's part of a batch, filled up to an equal share of `batch_size`."""
        share = -(-batch_size // world_size)
        pairs = plan.pairs[rank * share : (rank + 1) * share]
        num_real = torch.full((), len(pairs), device=pairs.device)
        if len(pairs) < share:
            pairs = F.pad(pairs, (0, share - len(pairs)))
        rows = BatchIndices(self, pairs, num_real, plan.shape)
        return rows if self.words.device == self.device else rows.assemble().to(self.device)

    def batch(
        self, plan: BatchPlan, *, batch_size: int, rank: int = 0, world_size: int = 1
    ) -> Batch:
        """Make what `feed` gives into a batch."""
        fed = self.feed(plan, batch_size=batch_size, rank=rank, world_size=world_size)
        return fed.assemble()

    def gather(self, rows: Tensor, num_real: Tensor, shape: Bucket) -> Batch:
        """Pad the pairs at (B,) `rows` to `shape`; fillers keep one word and no target.

        Sources and summaries stand side by side in one tensor as long as they can: on a GPU this
        is a row of tiny kernels, and their number is what it costs.
        """
        is_real = torch.arange(rows.size(0), device=rows.device) < num_real
        lengths = self.sentence_lengths[rows] * is_real.unsqueeze(1)  # (B, N)
        # An empty source would leave attention nothing to look at.
        lengths[:, 0].clamp_(min=1)
        target_lengths = self.summary_lengths[rows] * is_real  # (B,)
        source, is_source = _runs(self.sentence_starts[rows], lengths, shape.source_words)
        summary, is_summary = _runs(self.summary_starts[rows], target_lengths, shape.summary_words)
        S = source[0].numel()
        places = torch.cat([source.flatten(1), summary], 1)  # (B, S + T - 1)
        valid = torch.cat([is_source.flatten(1), is_summary], 1)
        words = self.words[places.clamp_max_(self.words.size(0) - 1)].long()
        ext_ids = self._extended(words, valid, S)  # (B, S + T - 1)

        summary_ids = ext_ids[:, S:]
        previous_ids = F.pad(summary_ids, (1, 0), value=BOS)  # (B, T)
        positions = torch.arange(previous_ids.size(1), device=rows.device)
        ends = target_lengths.unsqueeze(1)
        target_ids = torch.where(positions == ends, EOS, F.pad(summary_ids, (0, 1), value=PAD))
        return Batch(
            source_ids=_known(self.source_ids_of[words[:, :S]], valid[:, :S]).view_as(source),
            source_lengths=lengths,
            source_ext_ids=ext_ids[:, :S].contiguous(),
            previous_ids=previous_ids,
            target_ids=target_ids,
            target_valid=(positions <= ends) & is_real.unsqueeze(1),
        )

    def _extended(self, words: Tensor, valid: Tensor, source_size: int) -> Tensor:
        """Give words outside the vocabulary V + the position of their first occurrence.

        Args:
            words: (B, S + T - 1) lexicon ids of sources and summaries.
            valid: (B, S + T - 1) True where a word stands.
            source_size: S.
        """
        ids = _known(self.ids_of[words], valid)
        source, source_valid = words[:, :source_size], valid[:, :source_size]
        positions = torch.arange(source_size, device=words.device, dtype=torch.int32)
        same = (words.unsqueeze(2) == source.unsqueeze(1)) & source_valid.unsqueeze(1)
        first = torch.where(same, positions, source_size).amin(2)  # S where it stands nowhere
        can_copy = (ids == UNK) & (words >= 0) & (first < source_size)
        return torch.where(can_copy, self.vocab_size + first, ids)

    def _plans(self, members: Ints, bucket: Bucket, batch_size: int) -> list[BatchPlan]:
        on_device = torch.from_numpy(members).to(self.words.device)
        return [BatchPlan(pairs, bucket) for pairs in torch.split(on_device, batch_size)]

    def _buckets(self, batch_size: int) -> Sequence[tuple[Bucket, Ints]]:
        return assign_buckets(
            self.sentence_lengths.amax(1).cpu().numpy(),
            self.summary_lengths.cpu().numpy(),
            most=min(MOST_SHAPES, max(1, len(self) // (FEWEST_BATCHES * batch_size))),
        )


def _runs(starts: Tensor, lengths: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Lay (...) runs of words out as (..., size) places, and say which hold a word of the run."""
    offsets = torch.arange(size, device=starts.device)
    return starts.unsqueeze(-1) + offsets, offsets < lengths.unsqueeze(-1)


def _known(ids: Tensor, valid: Tensor) -> Tensor:
    """Put PAD where there is no word."""
    return torch.where(valid, ids, PAD)


def _mapped(words: npt.NDArray[np.int32]) -> Tensor:
    """Wrap words that may be mapped from a file; torch warns that nobody should write to them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(words)


def _fits(num_bytes: int, device: torch.device) -> bool:
    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    return num_bytes < RESIDENT_SHARE * free


def join_shards(split: Split) -> tuple[npt.NDArray[np.int32], Ints, Ints]:
    """Join the arrays of all shards as if the split were one; a single shard stays mapped."""
    if len(split.shards) == 1:
        shard = split.shards[0]
        return shard.words, shard.segments, shard.pairs
    words_before, segments_before = 0, 0
    segments, pairs = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    for shard in split.shards:
        segments.append(shard.segments[1:] + words_before)
        pairs.append(shard.pairs[1:] + segments_before)
        words_before += len(shard.words)
        segments_before += len(shard.segments) - 1
    words = np.concatenate([shard.words for shard in split.shards])
    return words, np.concatenate(segments), np.concatenate(pairs)


def find_sentences(segments: Ints, pairs: Ints, data: DataSpec) -> tuple[Ints, Ints]:
    """Find the (P, N) starts and lengths of the sentences that are read."""
    first, summary = pairs[:-1, None], pairs[1:, None] - 1  # (P, 1) segments
    if data.join_sentences:
        last = np.minimum(first + data.num_sentences, summary)
        starts, ends = segments[first], segments[last]
    else:
        chosen = np.minimum(first + np.arange(data.num_sentences), summary)  # (P, N)
        starts = segments[chosen]
        ends = segments[np.minimum(chosen + 1, summary)]
    return starts, np.minimum(ends - starts, data.max_source_words)
