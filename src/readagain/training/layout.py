"""Where in the words of a split the sentences of each pair lie."""

import numpy as np
import numpy.typing as npt

from readagain.config.schema import DataSpec
from readagain.corpus.shards import Split

Ints = npt.NDArray[np.integer]


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
