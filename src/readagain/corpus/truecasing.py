"""Case table of a corpus: the usual capitalization of words and bigrams in mid-sentence.

Each spelling of a word has a spelling id, which is the same in all chunks. The id of the lower-case
spelling is the lexicon id of the word. Spellings with capitals have the ids after the lexicon ids.

The chunks are read one at a time, so the size of a corpus is not limited by memory. They are read
three times: to find the usual spelling of each word, to find bigrams with another spelling, such as
"White House", and to count how often the words of these bigrams occur together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunks import LOWER_CASE, NO_CASE, Chunk
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon, alphabetical_ranks
from readagain.corpus.splits import TRAIN, SplitChunk
from readagain.text.truecasing import CASES_FILE, Truecaser

MIN_HEADLINE_COUNT = 50
"""Words with at least this count in headlines are counted in headlines only.

Texts often have another meaning of a word: with them, "US" would become the pronoun "us".
"""
NUM_PASSES = 3
"""Number of times that each chunk is read."""

_MAX_BUFFERED_KEYS = 1 << 22
"""Number of bigrams that are buffered before they are counted, to limit memory."""


@dataclass(frozen=True, kw_only=True)
class CaseRules:
    """Minimum counts and percentages of the words and bigrams in the case table."""

    min_count: int
    """Minimum count of a word."""
    min_capital_percent: int
    """Minimum percentage of capitalized occurrences of a word that is listed with capitals."""
    min_bigram_count: int
    """Minimum count of a bigram."""
    min_bigram_percent: int
    """Minimum percentage of occurrences of a bigram that have its unusual spelling."""


# English headlines may be in title case, which is not always detected, so the rules are strict.
# A built-in list of frequent English words replaces what they omit.
TITLE_CASE_RULES: CaseRules = CaseRules(
    min_count=10, min_capital_percent=90, min_bigram_count=20, min_bigram_percent=95
)
# Languages without title case have reliable capitals. There is no built-in list for them.
SENTENCE_CASE_RULES: CaseRules = CaseRules(
    min_count=1, min_capital_percent=50, min_bigram_count=3, min_bigram_percent=80
)

Ints = NDArray[np.int64]


def write_case_table(
    chunks: Sequence[SplitChunk],
    tables: Sequence[NDArray[np.int32]],
    lexicon: Lexicon,
    folder: Path,
    report_chunk: Callable[[], None],
    rules: CaseRules,
) -> None:
    """Write the case table of the train split into `folder`.

    A word is listed in its most frequent capitalized spelling if at least `min_capital_percent` of
    its occurrences are capitalized. Otherwise, it is listed in lower case if at least 50% of its
    occurrences are in lower case. Other words are not listed. A bigram is listed if its words are
    mostly spelled in another way together than alone.

    `tables` has for each chunk the lexicon ids of its word ids. `report_chunk` is called each time
    that a chunk was read.
    """
    counts = _SpellingCounts(lexicon)

    def read_spellings() -> Iterator[tuple[Chunk, Ints]]:
        """Yield each chunk with the spelling ids of its words."""
        for split_chunk, table in zip(chunks, tables, strict=True):
            chunk = Chunk.load(split_chunk.path)
            yield chunk, counts.spelling_ids(split_chunk, chunk, table)
            report_chunk()

    for chunk, spellings in read_spellings():
        counts.add(spellings, is_headline=chunk.headline_word_mask())
    usual, is_listed = counts.usual_spellings(rules)
    is_frequent = lexicon.summary_counts >= rules.min_bigram_count
    firsts, seconds = _find_unusual_bigrams(
        read_spellings, counts.word_ids(), usual, is_frequent, rules
    )
    bigrams = map(" ".join, zip(counts.spell(firsts), counts.spell(seconds), strict=True))
    Truecaser([*counts.spell(usual[is_listed]), *bigrams]).save(folder / CASES_FILE)


class _SpellingCounts:
    """Ids of all spellings, and their counts in texts and headlines."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._capital_ids: dict[str, int] = {}
        """Spelling id of each spelling with capitals, in ascending order."""
        self._capital_words: list[int] = []
        """Lexicon id of each spelling with capitals."""
        self._ids_of_surfaces: dict[Path, Ints] = {}
        """For each chunk, the spelling ids of its `Chunk.surfaces`."""
        self._counts = np.zeros((2, len(lexicon)), dtype=np.int64)
        """(2, spellings) counts in texts and in headlines."""

    def spelling_ids(self, split_chunk: SplitChunk, chunk: Chunk, table: NDArray[np.int32]) -> Ints:
        """Return the spelling id of each word of a chunk; new spellings get new ids.

        Returns:
            (W,) spelling ids; NO_CASE for words that are not counted, because their case is not
            informative or because they are not in the train split.
        """
        words = table[chunk.ids].astype(np.int64)  # (W,) lexicon ids
        in_train = np.repeat(split_chunk.splits == TRAIN, chunk.pair_segments)  # (G,)
        is_counted = np.repeat(in_train, chunk.segment_lengths)  # (W,)
        is_counted &= (chunk.surface_ids != NO_CASE) & (words != UNKNOWN_ID)
        is_capital = is_counted & (chunk.surface_ids != LOWER_CASE)
        surface_indices = chunk.surface_ids[is_capital] - 1  # indices into `chunk.surfaces`
        if split_chunk.path not in self._ids_of_surfaces:
            self._ids_of_surfaces[split_chunk.path] = self._number_capitals(
                chunk.surfaces, surface_indices, words[is_capital]
            )
        spellings = np.where(is_counted, words, NO_CASE)
        spellings[is_capital] = self._ids_of_surfaces[split_chunk.path][surface_indices]
        return spellings

    def _number_capitals(
        self, surfaces: list[str], surface_indices: NDArray[np.int32], words: Ints
    ) -> Ints:
        """Return the spelling ids of the capitalized spellings of a chunk.

        Args:
            surfaces: the capitalized spellings of the chunk.
            surface_indices: the index into `surfaces` of each capitalized word that is counted.
            words: the lexicon id of each of these words.

        Returns:
            (len(surfaces),) spelling ids; NO_CASE for spellings that are not counted.
        """
        word_of_surface = np.full(len(surfaces), NO_CASE, dtype=np.int64)
        word_of_surface[surface_indices] = words
        ids = np.full(len(surfaces), NO_CASE, dtype=np.int64)
        for index in np.flatnonzero(word_of_surface != NO_CASE).tolist():
            surface = surfaces[index]
            if surface not in self._capital_ids:
                self._capital_ids[surface] = len(self._lexicon) + len(self._capital_ids)
                self._capital_words.append(int(word_of_surface[index]))
            ids[index] = self._capital_ids[surface]
        return ids

    def add(self, spellings: Ints, *, is_headline: NDArray[np.bool_]) -> None:
        """Count the spelling ids of a chunk."""
        num_spellings = len(self._lexicon) + len(self._capital_ids)
        num_new = num_spellings - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, num_new)))
        is_counted = spellings != NO_CASE
        for row, in_row in enumerate((~is_headline, is_headline)):
            self._counts[row] += np.bincount(
                spellings[in_row & is_counted], minlength=num_spellings
            )

    def word_ids(self) -> Ints:
        """Return the lexicon id of the word of each spelling."""
        capital_words = np.array(self._capital_words, dtype=np.int64)
        return np.concatenate([np.arange(len(self._lexicon)), capital_words])

    def spell(self, ids: Ints) -> list[str]:
        """Return the spellings with these ids."""
        spellings = [*self._lexicon.words, *self._capital_ids]
        return [spellings[id] for id in ids.tolist()]

    def usual_spellings(self, rules: CaseRules) -> tuple[Ints, NDArray[np.bool_]]:
        """Find the usual spelling of each word of the lexicon.

        Returns:
            (words,) spelling ids, and (words,) whether the word is in the case table.
        """
        num_words = len(self._lexicon)
        word_of_spelling = self.word_ids()
        text_counts, headline_counts = self._counts  # (spellings,)
        headline_totals = np.bincount(word_of_spelling, headline_counts, num_words)  # (words,)
        ignores_texts = headline_totals >= MIN_HEADLINE_COUNT
        counts = headline_counts + np.where(ignores_texts[word_of_spelling], 0, text_counts)
        totals = np.bincount(word_of_spelling, counts, num_words)  # (words,)
        lower_counts = counts[:num_words]
        capital_counts = totals - lower_counts
        is_counted = totals >= rules.min_count
        is_capital = is_counted & (100 * capital_counts >= rules.min_capital_percent * totals)
        is_lower = is_counted & (2 * lower_counts >= totals)
        usual = np.arange(num_words)
        # Assign the capitalized spellings to their words in ascending order of count, so the most
        # frequent spelling of a word is assigned last and stays. Among equally frequent spellings
        # that is the first in alphabetical order.
        order = np.lexsort((-alphabetical_ranks(list(self._capital_ids)), counts[num_words:]))
        capitals = num_words + order  # spelling ids
        capitals = capitals[is_capital[word_of_spelling[capitals]]]
        usual[word_of_spelling[capitals]] = capitals
        return usual, is_capital | is_lower


def _find_unusual_bigrams(
    read_spellings: Callable[[], Iterator[tuple[Chunk, Ints]]],
    word_of_spelling: Ints,
    usual: Ints,
    is_frequent: NDArray[np.bool_],
    rules: CaseRules,
) -> tuple[Ints, Ints]:
    """Find the bigrams of frequent words that are mostly not spelled as the words alone.

    A first pass over the chunks counts the bigrams in which at least one word has an unusual
    spelling. A second pass counts the bigrams of the same words in any spelling. The first count
    must be at least `min_bigram_percent` of the second.

    Args:
        read_spellings: function that yields each chunk with the spelling ids of its words.
        word_of_spelling: (spellings,) lexicon id of the word of each spelling.
        usual: (words,) usual spelling id of each word.
        is_frequent: (words,) whether bigrams with the word are counted.
        rules: minimum counts and percentages.

    Returns:
        The spelling ids of the first words, and those of the second words.
    """
    num_spellings, num_words = len(word_of_spelling), len(usual)

    def find_bigrams(chunk: Chunk, spellings: Ints) -> tuple[Ints, Ints]:
        """Return the spelling ids of the first and second words of all bigrams in sentences."""
        first, second = spellings[:-1], spellings[1:]
        is_bigram = (first != NO_CASE) & (second != NO_CASE)
        is_bigram[np.cumsum(chunk.segment_lengths)[:-1] - 1] = False  # last words of sentences
        first, second = first[is_bigram], second[is_bigram]
        is_bigram = is_frequent[word_of_spelling[first]] & is_frequent[word_of_spelling[second]]
        return first[is_bigram], second[is_bigram]

    # A key combines the ids of two spellings or of two words in one integer.
    unusual = _KeyCounts()
    for chunk, spellings in read_spellings():
        first, second = find_bigrams(chunk, spellings)
        first_is_usual = usual[word_of_spelling[first]] == first
        second_is_usual = usual[word_of_spelling[second]] == second
        unusual.add((first * num_spellings + second)[~(first_is_usual & second_is_usual)])
    keys, counts = unusual.totals()
    is_kept = counts >= rules.min_bigram_count
    keys, counts = keys[is_kept], counts[is_kept]
    firsts, seconds = np.divmod(keys, num_spellings)
    word_keys = word_of_spelling[firsts] * num_words + word_of_spelling[seconds]

    same_words = _KeyCounts()
    for chunk, spellings in read_spellings():
        first, second = find_bigrams(chunk, spellings)
        chunk_keys = word_of_spelling[first] * num_words + word_of_spelling[second]
        same_words.add(chunk_keys[np.isin(chunk_keys, word_keys)])
    distinct_word_keys, totals = same_words.totals()
    totals_of_keys = totals[np.searchsorted(distinct_word_keys, word_keys)]
    is_listed = 100 * counts >= rules.min_bigram_percent * totals_of_keys
    return firsts[is_listed], seconds[is_listed]


class _KeyCounts:
    """Counter of integer keys, which are buffered and counted many at a time."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._buffer: list[Ints] = []

    def add(self, keys: Ints) -> None:
        """Add keys, each of which counts as one occurrence."""
        self._buffer.append(keys)
        if sum(map(len, self._buffer)) > _MAX_BUFFERED_KEYS:
            self.totals()

    def totals(self) -> tuple[Ints, Ints]:
        """Count the buffered keys; return all keys in ascending order, and their counts."""
        keys, indices = np.unique(np.concatenate([self._keys, *self._buffer]), return_inverse=True)
        ones = np.ones(len(indices) - len(self._keys), dtype=np.int64)
        weights = np.concatenate([self._counts, ones])
        self._counts = np.bincount(indices, weights, len(keys)).astype(np.int64)
        self._keys, self._buffer = keys, []
        return self._keys, self._counts
