"""Turn the chunks of a preparation into lexicon and shards, chunk by chunk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.cases import write_cases
from readagain.corpus.chunk import UNKNOWN_WORD, Chunk, SplitChunk
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon, alphabetical_ranks
from readagain.corpus.select import SPLITS, TRAIN
from readagain.corpus.shards import LEXICON_FILE, CorpusShard
from readagain.corpus.statistics import Statistics, summary_ranks

SHARD_PAIRS = 1 << 18


def build_lexicon(
    chunks: Sequence[SplitChunk], tick: Callable[[], None]
) -> tuple[Lexicon, list[NDArray[np.int32]]]:
    """Count the words of every pair that has a place, and order them.

    Returns:
        The lexicon, and for each chunk the table from its own word numbers to lexicon ids.
    """
    numbers: dict[str, int] = {}
    tables: list[NDArray[np.int32]] = []
    counts = np.zeros((3, 1 << 16), dtype=np.int64)  # in sources, in summaries, in other splits
    for placed in chunks:
        chunk = Chunk.load(placed.path)
        table = np.array([numbers.setdefault(word, len(numbers)) for word in chunk.words], np.int32)
        while len(numbers) > counts.shape[1]:
            counts = np.concatenate([counts, np.zeros_like(counts)], axis=1)
        for row, wanted in enumerate(_word_groups(chunk, placed.places)):
            counts[row, table] += np.bincount(chunk.ids[wanted], minlength=len(table))
        tables.append(table)
        tick()
    lexicon, final_ids = _order(list(numbers), counts[:, : len(numbers)])
    return lexicon, [final_ids[table] for table in tables]


def _word_groups(chunk: Chunk, places: NDArray[np.int8]) -> list[NDArray[np.bool_]]:
    """Mark the words of training sources, of training summaries, and of the other splits."""
    place = np.repeat(np.repeat(places, chunk.pair_segments), chunk.segment_lengths)
    summary = chunk.summary_words()
    return [(place == TRAIN) & ~summary, (place == TRAIN) & summary, place > TRAIN]


def _order(words: list[str], counts: NDArray[np.int64]) -> tuple[Lexicon, NDArray[np.int32]]:
    """Order words by their count in training, then by spelling; leave out what no split uses."""
    is_used: NDArray[np.bool_] = np.any(counts > 0, axis=0)
    if UNKNOWN_WORD in words:
        is_used[words.index(UNKNOWN_WORD)] = False
    order = np.lexsort((alphabetical_ranks(words), -(counts[0] + counts[1])))
    order = order[is_used[order]]
    final_ids = np.full(len(words), UNKNOWN_ID, dtype=np.int32)
    final_ids[order] = np.arange(len(order), dtype=np.int32)
    lexicon = Lexicon([words[n] for n in order], counts[0, order], counts[1, order])
    return lexicon, final_ids


class ShardWriter:
    """Gather the pairs of one split and write a shard whenever there are enough."""

    def __init__(self, folder: Path, split: str, shard_pairs: int) -> None:
        self.folder = folder
        self.split = split
        self.counts = {"pairs": 0, "segments": 0, "words": 0, "shards": 0}
        self._shard_pairs = shard_pairs
        self._waiting: list[Pieces] = []

    def add(self, pieces: "Pieces") -> None:
        """Take some pairs."""
        while len(pieces) and self._num_waiting + len(pieces) >= self._shard_pairs:
            now, pieces = pieces.cut(self._shard_pairs - self._num_waiting)
            self._waiting.append(now)
            self.flush()
        if len(pieces):
            self._waiting.append(pieces)

    @property
    def _num_waiting(self) -> int:
        return sum(map(len, self._waiting))

    def flush(self) -> None:
        """Write what is waiting as one shard."""
        if not self._waiting:
            return
        ids = np.concatenate([pieces.ids for pieces in self._waiting])
        lengths = np.concatenate([pieces.segment_lengths for pieces in self._waiting])
        segments = np.concatenate([pieces.pair_segments for pieces in self._waiting])
        origins = np.concatenate([pieces.origins for pieces in self._waiting])
        shard = CorpusShard(
            words=ids, segments=starts(lengths), pairs=starts(segments), origins=origins
        )
        shard.save(self.folder, self.split, self.counts["shards"])
        self.counts["pairs"] += len(shard)
        self.counts["segments"] += len(lengths)
        self.counts["words"] += len(ids)
        self.counts["shards"] += 1
        self._waiting = []


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Some pairs on their way into a shard, with lexicon ids."""

    ids: NDArray[np.int32]
    segment_lengths: NDArray[np.int32]
    pair_segments: NDArray[np.int32]
    origins: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.pair_segments)

    def cut(self, num_pairs: int) -> tuple["Pieces", "Pieces"]:
        """Divide after `num_pairs` pairs."""
        num_segments = int(self.pair_segments[:num_pairs].sum())
        num_words = int(self.segment_lengths[:num_segments].sum())
        halves = []
        for words, segments, pairs in (
            (slice(None, num_words), slice(None, num_segments), slice(None, num_pairs)),
            (slice(num_words, None), slice(num_segments, None), slice(num_pairs, None)),
        ):
            halves.append(
                Pieces(
                    ids=self.ids[words],
                    segment_lengths=self.segment_lengths[segments],
                    pair_segments=self.pair_segments[pairs],
                    origins=self.origins[pairs],
                )
            )
        return halves[0], halves[1]


def starts(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where each of some consecutive runs begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def write_shards(
    chunks: Sequence[SplitChunk],
    folder: Path,
    tick: Callable[[], None],
    shard_pairs: int = SHARD_PAIRS,
) -> tuple[Lexicon, dict[str, dict[str, int]], dict[str, Statistics]]:
    """Write lexicon, table of cases, and shards of every split into `folder`, in input order.

    Returns:
        The lexicon, the counts of each split, and its statistics.
    """
    lexicon, tables = build_lexicon(chunks, tick)
    lexicon.save(folder / LEXICON_FILE)
    write_cases(chunks, tables, lexicon, folder, tick)
    ranks = summary_ranks(lexicon)
    writers: dict[str, ShardWriter] = {
        split: ShardWriter(folder, split, shard_pairs) for split in SPLITS
    }
    statistics: dict[str, Statistics] = {split: Statistics() for split in SPLITS}
    for placed, table in zip(chunks, tables, strict=True):
        chunk = Chunk.load(placed.path)
        for code, split in enumerate(SPLITS):
            if (placed.places == code).any():
                pieces = _pieces_of(chunk, placed.places == code, table, placed.origin)
                writers[split].add(pieces)
                statistics[split].add(
                    pieces.ids, pieces.segment_lengths, pieces.pair_segments, ranks
                )
        tick()
    for writer in writers.values():
        writer.flush()
    return lexicon, {split: writers[split].counts for split in SPLITS}, statistics


def _pieces_of(
    chunk: Chunk, wanted: NDArray[np.bool_], table: NDArray[np.int32], origin: int
) -> Pieces:
    wanted_segments = np.repeat(wanted, chunk.pair_segments)
    wanted_words = np.repeat(wanted_segments, chunk.segment_lengths)
    return Pieces(
        ids=table[chunk.ids[wanted_words]],
        segment_lengths=chunk.segment_lengths[wanted_segments],
        pair_segments=chunk.pair_segments[wanted],
        origins=np.full(int(wanted.sum()), origin, dtype=np.uint16),
    )
