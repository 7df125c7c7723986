"""Training data as padded batches, built on the device.

A prepared corpus stores words as lexicon ids, the indices of its word list. These ids are copied to
the device once, if they fit. A batch is then a few gather operations, without parsing, Python loops
over pairs or copies from the CPU. If the ids do not fit, they stay in CPU memory, where the same
operations run.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from readagain.config.schema import DataSpec
from readagain.corpus.shards import CorpusShard, CorpusSplit
from readagain.search.model import Ints
from readagain.text.vocab import BOS, EOS, PAD, UNK
from readagain.training.batch import Batch, Bucket, assign_buckets

MAX_MEMORY_FRACTION = 0.25
"""Maximum fraction of the free device memory that a corpus may take."""

MIN_BATCHES_PER_BUCKET = 8
"""Minimum mean number of batches per bucket, since the last batch of a bucket is incomplete."""
MAX_BUCKETS = 25
"""Maximum number of buckets; on a GPU, a CUDA graph is captured for each bucket."""


@dataclass(frozen=True)
class BatchPlan:
    """Indices of the pairs of a batch, and their bucket."""

    pairs: Tensor
    bucket: Bucket


@dataclass(frozen=True)
class BatchIndices:
    """Batch as indices of pairs; `assemble` gathers the words.

    The CUDA graph of an update includes the gathering, so the CPU passes only indices to the GPU.

    Args:
        pairs: (B,) indices of the pairs.
        num_real: scalar, the number of real pairs; the indices after them are padding.
    """

    dataset: "TrainingDataset"
    pairs: Tensor
    num_real: Tensor
    bucket: Bucket

    def assemble(self) -> Batch:
        """Gather and pad the words of the pairs."""
        return self.dataset.gather(self.pairs, self.num_real, self.bucket)

    def shape_key(self) -> tuple[int, ...]:
        """Return B and the padded lengths; a CUDA graph is captured for each combination."""
        return (self.pairs.size(0), self.bucket.source_words, self.bucket.summary_words)

    def static_copy(self) -> "BatchIndices":
        """Return a copy as the input of a CUDA graph, which reads from fixed memory."""
        return BatchIndices(self.dataset, self.pairs.clone(), self.num_real.clone(), self.bucket)

    def copy_from(self, batch: "BatchIndices") -> None:
        """Overwrite the indices with those of another batch of the same shape."""
        self.pairs.copy_(batch.pairs, non_blocking=True)
        self.num_real.copy_(batch.num_real, non_blocking=True)


class TrainingDataset:
    """Split of a prepared corpus, as padded batches of ids.

    Args:
        source_id_by_lexicon_id: id in the source vocabulary, or UNK, of each lexicon id; the last
            element is UNK, for id -1, which stands for words that the lexicon does not contain.
        summary_id_by_lexicon_id: the same for the summary vocabulary.
        vocab_size: size V of the summary vocabulary.
        style_id: id of the style token, which is appended to each source sentence; None for models
            without styles.
        data: the maximum numbers of sentences and words, to which pairs are truncated.
    """

    def __init__(
        self,
        split: CorpusSplit,
        *,
        source_id_by_lexicon_id: Ints,
        summary_id_by_lexicon_id: Ints,
        vocab_size: int,
        style_id: int | None = None,
        data: DataSpec,
        device: torch.device,
    ) -> None:
        shard = CorpusShard.join(split.shards)
        words, segment_offsets, pair_offsets = shard.words, shard.segments, shard.pairs
        if style_id is not None:
            data = replace(data, max_source_words=data.max_source_words - 1)
        starts, lengths = find_sentences(segment_offsets, pair_offsets, data)
        summaries = pair_offsets[1:] - 1  # (P,) the last segment of each pair
        summary_lengths = segment_offsets[summaries + 1] - segment_offsets[summaries]
        storage_device = device if _fits_on(device, words.nbytes) else torch.device("cpu")

        def to_tensor(array: Ints) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(storage_device, torch.int64)

        self.words = _as_tensor(words).to(storage_device)  # (number of words,) lexicon ids
        self.sentence_starts = to_tensor(starts)  # (P, N) positions in `words`
        self.sentence_lengths = to_tensor(lengths)  # (P, N), 0 for a missing sentence
        self.summary_starts = to_tensor(segment_offsets[summaries])  # (P,) positions in `words`
        self.summary_lengths = to_tensor(np.minimum(summary_lengths, data.max_summary_words))
        self.source_id_by_lexicon_id = to_tensor(source_id_by_lexicon_id)
        self.summary_id_by_lexicon_id = to_tensor(summary_id_by_lexicon_id)
        self.vocab_size = vocab_size
        self.style_id = style_id
        # "cuda" and "cuda:0" are the same device, but compare unequal.
        self.device = self.words.device if storage_device == device else device

    def __len__(self) -> int:
        return self.summary_starts.size(0)

    def plan_epoch(self, *, epoch: int, batch_size: int, seed: int) -> list[BatchPlan]:
        """Divide all pairs into batches of pairs with similar lengths, in random order.

        The order depends only on the seed and the epoch, so it is the same on every process.
        """
        rng = np.random.default_rng([seed, epoch])
        plans = []
        for bucket, members in self._buckets(batch_size):
            plans += self._plan_bucket(rng.permutation(members), bucket, batch_size)
        return [plans[k] for k in rng.permutation(len(plans))]

    def plan_unshuffled(
        self, *, batch_size: int, pairs: Sequence[int] | None = None
    ) -> list[BatchPlan]:
        """Divide the pairs with these indices, or all pairs, into batches, bucket by bucket."""
        plans = []
        for bucket, members in self._buckets(batch_size):
            if pairs is not None:
                members = members[np.isin(members, pairs)]
            plans += self._plan_bucket(members, bucket, batch_size)
        return plans

    def sentences(self, pair: int) -> list[list[int]]:
        """Return the lexicon ids of the source words of a pair, by sentence, after truncation."""
        starts, lengths = self.sentence_starts[pair].tolist(), self.sentence_lengths[pair].tolist()
        return [
            self.words[start : start + length].tolist()
            for start, length in zip(starts, lengths, strict=True)
        ]

    def local_batch(
        self, plan: BatchPlan, *, batch_size: int, rank: int = 0, world_size: int = 1
    ) -> BatchIndices | Batch:
        """Return the rows of a batch for one process of distributed training.

        Every process gets `batch_size / world_size` rows, rounded up. Missing pairs are replaced
        with padding rows.

        Returns:
            Indices if the words are on the device; otherwise a batch that was gathered on the CPU
            and copied to the device.
        """
        local_size = math.ceil(batch_size / world_size)
        pairs = plan.pairs[rank * local_size : (rank + 1) * local_size]
        num_real = torch.full((), len(pairs), device=pairs.device)
        if len(pairs) < local_size:
            pairs = F.pad(pairs, (0, local_size - len(pairs)))
        batch = BatchIndices(self, pairs, num_real, plan.bucket)
        return batch if self.words.device == self.device else batch.assemble().to(self.device)

    def batch(self, plan: BatchPlan, *, batch_size: int) -> Batch:
        """Return the assembled batch of a plan."""
        return self.local_batch(plan, batch_size=batch_size).assemble()

    def gather(self, pairs: Tensor, num_real: Tensor, bucket: Bucket) -> Batch:
        """Gather and pad the words of pairs.

        Sources and summaries are processed in one tensor where possible, since on a GPU the time
        depends mainly on the number of operations.

        The arguments are the fields of `BatchIndices`; `bucket` has L and T - 1. Padding rows have
        one source word and no valid target.
        """
        is_real = torch.arange(pairs.size(0), device=pairs.device) < num_real  # (B,)
        lengths = self.sentence_lengths[pairs] * is_real.unsqueeze(1)  # (B, N)
        # Attention needs at least one position.
        lengths[:, 0].clamp_(min=1)
        target_lengths = self.summary_lengths[pairs] * is_real  # (B,)
        # (B, N, L) and (B, T - 1) positions in `self.words`
        source, source_valid = _word_positions(
            self.sentence_starts[pairs], lengths, bucket.source_words
        )
        summary, summary_valid = _word_positions(
            self.summary_starts[pairs], target_lengths, bucket.summary_words
        )
        S = source[0].numel()
        positions = torch.cat([source.flatten(1), summary], 1)  # (B, S + T - 1)
        valid = torch.cat([source_valid.flatten(1), summary_valid], 1)  # (B, S + T - 1)
        words = self.words[positions.clamp_max_(self.words.size(0) - 1)].long()  # (B, S + T - 1)
        ext_ids = self._extended_ids(words, valid, S)  # (B, S + T - 1)

        summary_ids = ext_ids[:, S:]  # (B, T - 1)
        previous_ids = F.pad(summary_ids, (1, 0), value=BOS)  # (B, T)
        steps = torch.arange(previous_ids.size(1), device=pairs.device)  # (T,)
        eos_step = target_lengths.unsqueeze(1)  # (B, 1)
        target_ids = torch.where(steps == eos_step, EOS, F.pad(summary_ids, (0, 1), value=PAD))
        source_ids = torch.where(valid[:, :S], self.source_id_by_lexicon_id[words[:, :S]], PAD)
        source_ids = source_ids.view_as(source)  # (B, N, L)
        source_ext_ids = ext_ids[:, :S].contiguous()  # (B, S)
        if self.style_id is not None:
            offsets = torch.arange(bucket.source_words, device=pairs.device)
            is_style = (offsets == lengths.unsqueeze(-1)) & (lengths > 0).unsqueeze(-1)  # (B, N, L)
            source_ids = torch.where(is_style, self.style_id, source_ids)
            source_ext_ids = torch.where(is_style.flatten(1), UNK, source_ext_ids)
            lengths = lengths + (lengths > 0)
        return Batch(
            source_ids=source_ids,
            source_lengths=lengths,
            source_ext_ids=source_ext_ids,
            previous_ids=previous_ids,
            target_ids=target_ids,
            target_valid=(steps <= eos_step) & is_real.unsqueeze(1),
        )

    def _extended_ids(self, words: Tensor, valid: Tensor, source_size: int) -> Tensor:
        """Return ids in the extended summary vocabulary.

        An out-of-vocabulary word that occurs in the source has the id V + the position of its first
        occurrence there. `words` are the (B, S + T - 1) lexicon ids of sources and summaries, and
        `valid` is True at words. The result has the same shape; `source_size` is S.
        """
        ids = torch.where(valid, self.summary_id_by_lexicon_id[words], PAD)
        source, source_valid = words[:, :source_size], valid[:, :source_size]
        positions = torch.arange(source_size, device=words.device, dtype=torch.int32)
        is_equal = words.unsqueeze(2) == source.unsqueeze(1)  # (B, S + T - 1, S)
        is_equal = is_equal & source_valid.unsqueeze(1)
        # (B, S + T - 1), S for words that are not in the source
        first = torch.where(is_equal, positions, source_size).amin(2)
        can_copy = (ids == UNK) & (words >= 0) & (first < source_size)
        return torch.where(can_copy, self.vocab_size + first, ids)

    def _plan_bucket(self, members: Ints, bucket: Bucket, batch_size: int) -> list[BatchPlan]:
        """Divide the pairs of a bucket into batches, in the order of `members`."""
        indices = torch.from_numpy(members).to(self.words.device)
        batches = torch.split(indices, batch_size) if len(members) else ()
        return [BatchPlan(pairs, bucket) for pairs in batches]

    def _buckets(self, batch_size: int) -> list[tuple[Bucket, Ints]]:
        """Return the buckets and the indices of their pairs."""
        return assign_buckets(
            self.sentence_lengths.amax(1).cpu().numpy() + (self.style_id is not None),
            self.summary_lengths.cpu().numpy(),
            max_buckets=min(
                MAX_BUCKETS, max(1, len(self) // (MIN_BATCHES_PER_BUCKET * batch_size))
            ),
        )


def _word_positions(starts: Tensor, lengths: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return (..., size) consecutive positions from each start, and a mask, True at words.

    `starts` and `lengths` are (...), the first position and the number of words of each sequence.
    """
    offsets = torch.arange(size, device=starts.device)
    return starts.unsqueeze(-1) + offsets, offsets < lengths.unsqueeze(-1)


def _as_tensor(words: npt.NDArray[np.int32]) -> Tensor:
    """Convert an array without copying it, and without torch's warning if it is read-only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(words)


def _fits_on(device: torch.device, num_bytes: int) -> bool:
    if device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(device)
    return num_bytes < MAX_MEMORY_FRACTION * free


def find_sentences(segment_offsets: Ints, pair_offsets: Ints, data: DataSpec) -> tuple[Ints, Ints]:
    """Return the (P, N) starts and lengths of the source sentences after truncation.

    N is 1 if sentences are joined. A segment is a source sentence or a summary (`CorpusShard`).
    """
    # (P, 1) indices of segments: the first sentence and the summary of each pair
    first, summary = pair_offsets[:-1, None], pair_offsets[1:, None] - 1
    if data.join_sentences:
        starts = segment_offsets[first]
        ends = segment_offsets[np.minimum(first + data.num_sentences, summary)]
    else:
        # A missing sentence is empty: it starts and ends where the summary starts.
        sentences = np.minimum(first + np.arange(data.num_sentences), summary)  # (P, N)
        starts = segment_offsets[sentences]
        ends = segment_offsets[np.minimum(sentences + 1, summary)]
    return starts, np.minimum(ends - starts, data.max_source_words)
