"""Writers of the files of a corpus: lexicon, case table, shards, and raw dev and test texts."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunks import UNKNOWN_WORD, Chunk, headline_segment_mask
from readagain.corpus.inputs import SPLITS, CorpusInput, Example
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon, alphabetical_ranks
from readagain.corpus.manifest import SPLIT_COUNTS
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.shards import LEXICON_FILE, CorpusShard, texts_file
from readagain.corpus.splits import DEV, TEST, TRAIN, SplitChunk
from readagain.corpus.statistics import Statistics, summary_vocab_ids
from readagain.corpus.truecasing import CaseRules, write_case_table
from readagain.formats.files import changed_error
from readagain.formats.records import InvalidRecord
from readagain.text.normalization import normalize_tokens
from readagain.text.vocab import SPECIAL_TOKENS, UNK

SHARD_PAIRS = 1 << 18
"""Number of pairs per shard."""


def write_shards(
    chunks: Sequence[SplitChunk],
    folder: Path,
    report_chunk: Callable[[], None],
    rules: CaseRules,
    min_count: int,
) -> tuple[Lexicon, dict[str, dict[str, int]], dict[str, Statistics]]:
    """Write the lexicon, the case table and the shards of every split into `folder`.

    The pairs in the shards have the order of the chunks. `report_chunk` is called each time that a
    chunk was read. `min_count` is described in `readagain.prepare`.

    Returns:
        The lexicon, and the counts and statistics of each split.
    """
    lexicon, tables = build_lexicon(chunks, report_chunk)
    if min_count > 1:
        lexicon = lexicon.without_rare(min_count)
    lexicon.save(folder / LEXICON_FILE)
    write_case_table(chunks, tables, lexicon, folder, report_chunk, rules)
    vocab_ids = summary_vocab_ids(lexicon)
    writers: dict[str, ShardWriter] = {split: ShardWriter(folder, split) for split in SPLITS}
    statistics: dict[str, Statistics] = {split: Statistics() for split in SPLITS}
    for split_chunk, table in zip(chunks, tables, strict=True):
        chunk = Chunk.load(split_chunk.path)
        all_pairs = CorpusShard.from_lengths(
            words=table[chunk.ids],
            segment_lengths=chunk.segment_lengths,
            pair_segments=chunk.pair_segments,
            origins=np.full(len(chunk.pair_segments), split_chunk.origin_index, dtype=np.uint16),
        )
        if min_count > 1:
            all_pairs = _without_rare(all_pairs, lexicon)
        for code, split in enumerate(SPLITS):
            pairs = all_pairs.select(split_chunk.splits == code)
            if len(pairs):
                writers[split].add(pairs)
                statistics[split].add(pairs, vocab_ids)
        report_chunk()
    for writer in writers.values():
        writer.flush()
    return lexicon, {split: writers[split].counts for split in SPLITS}, statistics


def build_lexicon(
    chunks: Sequence[SplitChunk], report_chunk: Callable[[], None]
) -> tuple[Lexicon, list[NDArray[np.int32]]]:
    """Build the lexicon from all pairs that were not dropped.

    Returns:
        The lexicon, and for each chunk the lexicon ids of its word ids.
    """
    id_of_word: dict[str, int] = {}  # in the order of occurrence
    tables: list[NDArray[np.int32]] = []
    counts = np.zeros((3, 1 << 16), dtype=np.int64)  # train texts, train headlines, other splits
    for split_chunk in chunks:
        chunk = Chunk.load(split_chunk.path)
        table = np.array(
            [id_of_word.setdefault(word, len(id_of_word)) for word in chunk.words], np.int32
        )
        while len(id_of_word) > counts.shape[1]:  # double the capacity
            counts = np.concatenate([counts, np.zeros_like(counts)], axis=1)
        splits = np.repeat(
            np.repeat(split_chunk.splits, chunk.pair_segments), chunk.segment_lengths
        )  # (W,)
        is_train, is_headline = splits == TRAIN, chunk.headline_word_mask()
        masks = (is_train & ~is_headline, is_train & is_headline, splits > TRAIN)
        for row, mask in enumerate(masks):
            counts[row, table] += np.bincount(chunk.ids[mask], minlength=len(table))
        tables.append(table)
        report_chunk()
    lexicon, lexicon_ids = _sort_words(list(id_of_word), counts[:, : len(id_of_word)])
    return lexicon, [lexicon_ids[table] for table in tables]


def _sort_words(words: list[str], counts: NDArray[np.int64]) -> tuple[Lexicon, NDArray[np.int32]]:
    """Build a lexicon, sorted by count in the train split, then alphabetically.

    Args:
        words: the distinct words.
        counts: (3, words) counts in train texts, in train headlines and in other splits; words with
            three zeros are omitted.

    Returns:
        The lexicon, and the lexicon id of each word, `UNKNOWN_ID` for omitted words.
    """
    is_used: NDArray[np.bool_] = np.any(counts > 0, axis=0)
    if UNKNOWN_WORD in words:  # it has the id UNKNOWN_ID instead of a lexicon id
        is_used[words.index(UNKNOWN_WORD)] = False
    order = np.lexsort((alphabetical_ranks(words), -(counts[0] + counts[1])))
    order = order[is_used[order]]
    lexicon_ids = np.full(len(words), UNKNOWN_ID, dtype=np.int32)
    lexicon_ids[order] = np.arange(len(order), dtype=np.int32)
    lexicon = Lexicon([words[index] for index in order], counts[0, order], counts[1, order])
    return lexicon, lexicon_ids


def _without_rare(pairs: CorpusShard, lexicon: Lexicon) -> CorpusShard:
    """Replace rare words by UNK.

    `Lexicon.without_rare` has set the counts of rare words to 0, separately for texts and
    headlines.
    """
    is_headline = headline_segment_mask(pairs.pair_segments)  # (G,)
    in_headline = np.repeat(is_headline, pairs.segment_lengths)  # (W,)
    # The id -1 of UNK gets the count of the last word. It stays -1 with any count.
    counts = np.where(
        in_headline, lexicon.summary_counts[pairs.words], lexicon.source_counts[pairs.words]
    )
    return replace(pairs, words=np.where(counts > 0, pairs.words, np.int32(UNKNOWN_ID)))


class ShardWriter:
    """Writer of the shards of a split.

    `add` and `flush` write shards of `shard_pairs` pairs; the last may have fewer.
    """

    def __init__(self, folder: Path, split: str, shard_pairs: int = SHARD_PAIRS) -> None:
        self.folder = folder
        self.split = split
        self.counts = dict.fromkeys(SPLIT_COUNTS, 0)
        self._shard_pairs = shard_pairs
        self._buffer: list[CorpusShard] = []

    def add(self, pairs: CorpusShard) -> None:
        """Add pairs, and write every shard that becomes full."""
        while len(pairs) and self._num_buffered + len(pairs) >= self._shard_pairs:
            fits = np.arange(len(pairs)) < self._shard_pairs - self._num_buffered
            self._buffer.append(pairs.select(fits))
            self.flush()
            pairs = pairs.select(~fits)
        if len(pairs):
            self._buffer.append(pairs)

    @property
    def _num_buffered(self) -> int:
        return sum(map(len, self._buffer))

    def flush(self) -> None:
        """Write the buffered pairs as one shard."""
        if self._buffer:
            self.write(CorpusShard.join(self._buffer))
            self._buffer = []

    def write(self, shard: CorpusShard) -> None:
        """Write one shard and count its pairs."""
        shard.save(self.folder, self.split, self.counts["shards"])
        self.counts["pairs"] += len(shard)
        self.counts["segments"] += len(shard.segments) - 1
        self.counts["words"] += len(shard.words)
        self.counts["shards"] += 1


def write_texts(
    sources: Sequence[CorpusInput],
    chunks: Sequence[Sequence[SplitChunk]],
    folder: Path,
    min_count: int,
) -> None:
    """Write the raw texts of the dev and test splits, in the order of the shards.

    This function reads the inputs with dev or test pairs again, because chunks do not have raw
    texts. Chunks with raw texts would be larger, and most texts are for training. If `min_count` is
    greater than 1, UNK replaces the rare words of texts and headlines that are tokenized as in
    Gigaword. `chunks` has the chunks of each input.
    """
    known_words = None
    if min_count > 1:
        lexicon = Lexicon.load(folder / LEXICON_FILE)
        known_words = lexicon.known_words("source"), lexicon.known_words("summary")
    with ExitStack() as stack:
        files = {}
        for code, split in ((DEV, "dev"), (TEST, "test")):
            if any((chunk.splits == code).any() for chunk in chain.from_iterable(chunks)):
                path = folder / texts_file(split)
                files[code] = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
        for source, source_chunks in zip(sources, chunks, strict=True):
            for code, example in _evaluation_examples(source, source_chunks):
                if known_words is not None:
                    example = _mask_rare(example, source, *known_words)
                record: dict[str, object] = {"text": example.text, "headline": example.headline}
                if example.references:
                    record["references"] = example.references
                files[code].write(json.dumps(record, ensure_ascii=False) + "\n")


def _mask_rare(
    example: Example,
    source: CorpusInput,
    text_words: Collection[str],
    headline_words: Collection[str],
) -> Example:
    """Replace OOV words of a text or headline by UNK, if it is tokenized as in Gigaword."""

    def mask_line(line: str, known: Collection[str]) -> str:
        words = line.split()
        norms = normalize_tokens(words)
        return " ".join(
            word if norm in known else SPECIAL_TOKENS[UNK]
            for word, norm in zip(words, norms, strict=True)
        )

    def mask(text: str, known: Collection[str]) -> str:
        return "\n".join(mask_line(line, known) for line in text.split("\n"))

    if source.is_text_tokenized:
        example = replace(example, text=mask(example.text, text_words))
    if source.is_headline_tokenized:
        example = replace(example, headline=mask(example.headline, headline_words))
    return example


def _evaluation_examples(
    source: CorpusInput, chunks: Sequence[SplitChunk]
) -> Iterator[tuple[int, Example]]:
    """Yield the split (DEV or TEST) and the example for each dev and test example of an input."""
    if not any((chunk.splits > TRAIN).any() for chunk in chunks):
        return
    format = FORMATS[source.format]
    # Not strict: if the input has now more or fewer blocks, `prepare` finds that it has changed.
    for chunk, block in zip(chunks, format.read_blocks(source), strict=False):
        pairs = np.flatnonzero(chunk.splits > TRAIN)
        if len(pairs) == 0:
            continue
        record_indices = Chunk.load(chunk.path).records[pairs].tolist()
        split_of_record = dict(zip(record_indices, chunk.splits[pairs].tolist(), strict=True))
        for index, record in enumerate(format.parse_block(source, block)):
            if index in split_of_record:
                if isinstance(record, InvalidRecord):
                    raise changed_error(str(source.path))
                yield split_of_record[index], record
