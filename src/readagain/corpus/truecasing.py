"""Case table of a corpus: the usual capitalization of each word in mid-sentence.

Each spelling has an id. A lower-case word has its lexicon id; spellings with capitals have the ids
after those of the lexicon. Chunks are read one at a time, so that memory does not limit the size of
a corpus.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunks import LOWER_CASE, NO_CASE, Chunk
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.splits import TRAIN, SplitChunk
from readagain.text.truecasing import CASES_FILE, Truecaser

MIN_HEADLINE_COUNT = 50
"""Minimum count in headlines of a word that is counted in headlines only. With texts, "US" would
become the pronoun "us"."""
NUM_PASSES = 3
"""Number of times that each chunk is read."""

_MAX_BUFFERED_KEYS = 1 << 22
"""Number of keys that are buffered before they are counted, to limit memory."""


@dataclass(frozen=True, kw_only=True)
class CaseRules:
    """Minimum counts and shares of the words and pairs of words in the case table."""

    min_count: int
    """Minimum count of a word."""
    min_capital_percent: int
    """Minimum percentage of capitalized occurrences of a word that is listed with capitals."""
    min_pair_count: int
    """Minimum count of a pair of words."""
    min_pair_percent: int
    """Minimum percentage of occurrences of a pair that have the unusual spelling."""


# English headlines may be in title case, which is not always detected, so the rules are strict.
# A built-in list of frequent English words compensates for that.
TITLE_CASE_RULES: CaseRules = CaseRules(
    min_count=10, min_capital_percent=90, min_pair_count=20, min_pair_percent=95
)
# Other languages have no such list, and no title case, so capitals are reliable.
SENTENCE_CASE_RULES: CaseRules = CaseRules(
    min_count=1, min_capital_percent=50, min_pair_count=3, min_pair_percent=80
)

Ints = NDArray[np.int64]


def write_case_table(
    chunks: Sequence[SplitChunk],
    tables: Sequence[NDArray[np.int32]],
    lexicon: Lexicon,
    folder: Path,
    report_chunk: Callable[[], None],
    rules: CaseRules = TITLE_CASE_RULES,
) -> None:
    """Write the case table of the train split into `folder`.

    A word is listed in its most frequent capitalized spelling if the share of capitalized
    occurrences is at least that of the rules. It is listed in lower case if at least 50% of its
    occurrences are. Other words are not listed. A pair of words is listed if it is mostly spelled
    differently from the two words alone.

    `tables` has for each chunk the lexicon ids of its word ids. `report_chunk` is called after each
    chunk, in each pass over the chunks.
    """
    counts = _SurfaceCounts(len(lexicon))

    def read_surfaces() -> Iterator[tuple[Chunk, Ints]]:
        for split_chunk, table in zip(chunks, tables, strict=True):
            chunk = Chunk.load(split_chunk.path)
            yield chunk, counts.surface_ids(split_chunk, chunk, table)
            report_chunk()

    for chunk, surfaces in read_surfaces():
        counts.add(surfaces, is_headline=chunk.headline_mask())
    usual, is_listed = counts.usual_surfaces(lexicon, rules)
    words = [counts.spell(surface, lexicon) for surface in usual[is_listed].tolist()]
    is_frequent = lexicon.summary_counts >= rules.min_pair_count
    pairs = [
        f"{counts.spell(first, lexicon)} {counts.spell(second, lexicon)}"
        for first, second in _unusual_pairs(
            read_surfaces, counts.word_ids(), usual, is_frequent, rules
        )
    ]
    Truecaser([*words, *pairs]).save(folder / CASES_FILE)


class _SurfaceCounts:
    """Ids of all spellings, and their counts in texts and headlines."""

    def __init__(self, num_words: int) -> None:
        self._num_words = num_words
        self._tables: dict[Path, Ints] = {}
        self._capital_ids: dict[str, int] = {}
        self._capitals: list[str] = []
        self._capital_words: list[int] = []
        self._counts = np.zeros((2, num_words), dtype=np.int64)

    def surface_ids(self, split_chunk: SplitChunk, chunk: Chunk, table: NDArray[np.int32]) -> Ints:
        """Return (W,) the spelling id of each word; NO_CASE outside the train split."""
        words = table[chunk.ids].astype(np.int64)
        in_train = np.repeat(split_chunk.splits == TRAIN, chunk.pair_segments)
        is_counted = np.repeat(in_train, chunk.segment_lengths)
        is_counted &= (chunk.surface_ids != NO_CASE) & (words != UNKNOWN_ID)
        is_capital = is_counted & (chunk.surface_ids != LOWER_CASE)
        capitals = chunk.surface_ids[is_capital] - 1
        if split_chunk.path not in self._tables:
            self._tables[split_chunk.path] = self._number_capitals(
                chunk.surfaces, capitals, words[is_capital]
            )
        surfaces = np.where(is_counted, words, NO_CASE)
        surfaces[is_capital] = self._tables[split_chunk.path][capitals]
        return surfaces

    def _number_capitals(
        self, surfaces: list[str], capitals: NDArray[np.int32], words: Ints
    ) -> Ints:
        """Return the table from the capitalized spellings of a chunk to spelling ids.

        Args:
            surfaces: the capitalized spellings of the chunk.
            capitals: an index into `surfaces` for each capitalized word of the train split.
            words: the lexicon id of each of these words.
        """
        word_of = np.full(len(surfaces), NO_CASE, dtype=np.int64)
        word_of[capitals] = words
        table = np.full(len(surfaces), NO_CASE, dtype=np.int64)
        for index in np.flatnonzero(word_of != NO_CASE).tolist():
            id = self._capital_ids.setdefault(surfaces[index], len(self._capitals))
            if id == len(self._capitals):
                self._capitals.append(surfaces[index])
                self._capital_words.append(int(word_of[index]))
            table[index] = self._num_words + id
        return table

    def add(self, surfaces: Ints, *, is_headline: NDArray[np.bool_]) -> None:
        """Count the spellings of a chunk."""
        num_new = self._num_words + len(self._capitals) - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, num_new)))
        for row, in_row in enumerate((~is_headline, is_headline)):
            counted = surfaces[in_row & (surfaces != NO_CASE)]
            self._counts[row] += np.bincount(counted, minlength=self._counts.shape[1])

    def word_ids(self) -> Ints:
        """Return the lexicon id for each spelling id."""
        capital_words = np.array(self._capital_words, dtype=np.int64)
        return np.concatenate([np.arange(self._num_words), capital_words])

    def spell(self, surface: int, lexicon: Lexicon) -> str:
        """Return the spelling with the id `surface`."""
        capital = surface - self._num_words
        return lexicon.words[surface] if capital < 0 else self._capitals[capital]

    def usual_surfaces(self, lexicon: Lexicon, rules: CaseRules) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the id of each word's usual spelling, and whether the word is listed."""
        words = self.word_ids()
        totals = np.stack([np.bincount(words, row, len(lexicon)) for row in self._counts])
        only_headlines = totals[1] >= MIN_HEADLINE_COUNT
        counts = self._counts[1] + np.where(only_headlines[words], 0, self._counts[0])
        total = np.bincount(words, counts, len(lexicon))
        lower = counts[: len(lexicon)]
        is_counted = total >= rules.min_count
        is_capital = is_counted & (100 * (total - lower) >= rules.min_capital_percent * total)
        is_lower = is_counted & (2 * lower >= total)
        usual = np.arange(len(lexicon))
        # Assign spellings to words in ascending order of count, so that the most frequent one is
        # assigned last and stays; of equally frequent ones, the first in the alphabet.
        capitals = np.arange(len(lexicon), len(words))
        by_spelling = np.array(
            sorted(range(len(capitals)), key=self._capitals.__getitem__, reverse=True),
            dtype=np.int64,
        )
        order = by_spelling[np.argsort(counts[capitals[by_spelling]], kind="stable")]
        chosen = capitals[order][is_capital[words[capitals[order]]]]
        usual[words[chosen]] = chosen
        return usual, is_capital | is_lower


def _unusual_pairs(
    read_surfaces: Callable[[], Iterator[tuple[Chunk, Ints]]],
    words: Ints,
    usual: Ints,
    is_frequent: NDArray[np.bool_],
    rules: CaseRules,
) -> list[tuple[int, int]]:
    """Return the pairs of frequent words that are spelled differently together than alone.

    A first pass counts the pairs of spellings of which at least one is not the usual one. A second
    pass counts the same words in any spelling. A pair of spellings is returned if it has at least
    the share of the rules in the second count.
    """

    def find_pairs(chunk: Chunk, surfaces: Ints) -> tuple[Ints, Ints]:
        """Return the spelling ids of the first and second words of all pairs within sentences."""
        first, second = surfaces[:-1], surfaces[1:]
        is_pair = (first != NO_CASE) & (second != NO_CASE)
        is_pair[np.cumsum(chunk.segment_lengths)[:-1] - 1] = False
        first, second = first[is_pair], second[is_pair]
        is_pair = is_frequent[words[first]] & is_frequent[words[second]]
        return first[is_pair], second[is_pair]

    unusual = _KeyCounts()
    for chunk, surfaces in read_surfaces():
        first, second = find_pairs(chunk, surfaces)
        is_unusual = (usual[words[first]] != first) | (usual[words[second]] != second)
        unusual.add((first * len(words) + second)[is_unusual])
    keys, counts = unusual.totals()
    is_kept = counts >= rules.min_pair_count
    keys, counts = keys[is_kept], counts[is_kept]
    firsts, seconds = np.divmod(keys, len(words))
    word_keys = words[firsts] * len(usual) + words[seconds]
    candidates = np.unique(word_keys)  # the pairs of words that the second pass counts
    totals = np.zeros(len(candidates), dtype=np.int64)
    for chunk, surfaces in read_surfaces():
        first, second = find_pairs(chunk, surfaces)
        chunk_keys = words[first] * len(usual) + words[second]
        indices = np.searchsorted(candidates, chunk_keys)
        indices[indices == len(candidates)] = 0
        if len(candidates):
            is_candidate = candidates[indices] == chunk_keys
            totals += np.bincount(indices[is_candidate], minlength=len(candidates))
    is_clear = (
        100 * counts >= rules.min_pair_percent * totals[np.searchsorted(candidates, word_keys)]
    )
    return list(zip(firsts[is_clear].tolist(), seconds[is_clear].tolist(), strict=True))


class _KeyCounts:
    """Counts of integer keys; new keys are buffered."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._buffer: list[Ints] = []

    def add(self, keys: Ints) -> None:
        """Count each key once."""
        self._buffer.append(keys)
        if sum(map(len, self._buffer)) > _MAX_BUFFERED_KEYS:
            self.totals()

    def totals(self) -> tuple[Ints, Ints]:
        """Return all keys in ascending order, and their counts."""
        keys, indices = np.unique(np.concatenate([self._keys, *self._buffer]), return_inverse=True)
        ones = np.ones(len(indices) - len(self._keys), dtype=np.int64)
        weights = np.concatenate([self._counts, ones])
        self._counts = np.bincount(indices, weights, len(keys)).astype(np.int64)
        self._keys, self._buffer = keys, []
        return self._keys, self._counts
