"""Count how the words of a corpus are written inside sentences, and settle on one way for each.

A way of writing has a number: the lexicon id of its form for a word in small letters, and one
beyond the lexicon for any other. Everything is then counted in arrays, chunk by chunk, so that
what comes out depends on the pairs alone.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.corpus.chunk import LOWER_CASE, NO_CASE, Chunk, SplitChunk
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.select import TRAIN
from readagain.text.truecasing import CASES_FILE, Truecaser

MIN_COUNT = 10
"""A word that is seen less often inside sentences shows nothing."""
MIN_PAIR_COUNT = 20
"""Nor does a pair of words."""
ENOUGH_IN_HEADLINES = 50
"""Seen so often there, headlines alone decide: "us" is a country in them, and people in texts."""
NUM_PASSES = 3
"""How often each chunk is read."""

_NEW_KEYS = 1 << 22  # that are gathered before they are added up

Ints = NDArray[np.int64]


def write_cases(
    chunks: Sequence[SplitChunk],
    tables: Sequence[NDArray[np.int32]],
    lexicon: Lexicon,
    folder: Path,
    tick: Callable[[], None],
) -> None:
    """Write the table of cases of the train split into `folder`.

    A word is written with capitals where nine in ten are, in the most frequent of those ways, and
    in small letters where half are; what lies between is left out. A pair of words is listed where
    nineteen in twenty are written otherwise than the two words alone.

    Args:
        chunks: all pairs, with their places.
        tables: for each chunk, from its own word numbers to lexicon ids.
        lexicon: every word of the corpus.
        folder: where `cases.txt` goes.
        tick: called after each chunk of each pass.
    """
    counted = _Writings(len(lexicon))

    def told() -> Iterator[tuple[Chunk, Ints]]:
        for placed, table in zip(chunks, tables, strict=True):
            chunk = Chunk.load(placed.path)
            yield chunk, counted.numbers_of(placed, chunk, table)
            tick()

    for chunk, numbers in told():
        counted.add(numbers, is_summary=chunk.summary_words())
    usual, is_known = counted.usual(lexicon)
    words = [counted.spell(number, lexicon) for number in usual[is_known].tolist()]
    pairs = _unusual_pairs(told, counted.forms(), usual, lexicon.summary_counts >= MIN_PAIR_COUNT)
    spelled_pairs = [
        f"{counted.spell(first, lexicon)} {counted.spell(second, lexicon)}"
        for first, second in pairs
    ]
    Truecaser([*words, *spelled_pairs]).save(folder / CASES_FILE)


class _Writings:
    """All ways of writing words, and how often each was told, in texts and in headlines."""

    def __init__(self, num_forms: int) -> None:
        self._num_forms = num_forms
        self._tables: dict[Path, Ints] = {}
        self._beyond: dict[str, int] = {}  # writings that are not their form
        self._spelled: list[str] = []
        self._forms: list[int] = []  # lexicon ids of those
        self._counts = np.zeros((2, num_forms), dtype=np.int64)

    def numbers_of(self, placed: SplitChunk, chunk: Chunk, table: NDArray[np.int32]) -> Ints:
        """Return how each word of a chunk is written; NO_CASE outside the train split too."""
        ids = table[chunk.ids].astype(np.int64)
        is_train = np.repeat(placed.places == TRAIN, chunk.pair_segments)
        is_told = np.repeat(is_train, chunk.segment_lengths)
        is_told &= (chunk.written != NO_CASE) & (ids != UNKNOWN_ID)
        is_other = is_told & (chunk.written != LOWER_CASE)
        ways = chunk.written[is_other] - 1
        if placed.path not in self._tables:
            self._tables[placed.path] = self._number_all(chunk.writings, ways, ids[is_other])
        numbers = np.where(is_told, ids, NO_CASE)
        numbers[is_other] = self._tables[placed.path][ways]
        return numbers

    def _number_all(self, writings: list[str], ways: NDArray[np.int32], forms: Ints) -> Ints:
        """Return the table from a chunk's own ways of writing to their numbers here."""
        form_of = np.full(len(writings), NO_CASE, dtype=np.int64)
        form_of[ways] = forms
        table = np.full(len(writings), NO_CASE, dtype=np.int64)
        for way in np.flatnonzero(form_of != NO_CASE).tolist():
            table[way] = self._number(writings[way], int(form_of[way]))
        return table

    def _number(self, writing: str, form: int) -> int:
        number = self._beyond.setdefault(writing, len(self._spelled))
        if number == len(self._spelled):
            self._spelled.append(writing)
            self._forms.append(form)
        return self._num_forms + number

    def add(self, numbers: Ints, *, is_summary: NDArray[np.bool_]) -> None:
        """Count what is told."""
        missing = self._num_forms + len(self._spelled) - self._counts.shape[1]
        self._counts = np.pad(self._counts, ((0, 0), (0, missing)))
        for side, wanted in enumerate((~is_summary, is_summary)):
            told = numbers[wanted & (numbers != NO_CASE)]
            self._counts[side] += np.bincount(told, minlength=self._counts.shape[1])

    def forms(self) -> Ints:
        """Return the lexicon id behind each number."""
        return np.concatenate([np.arange(self._num_forms), np.array(self._forms, dtype=np.int64)])

    def spell(self, number: int, lexicon: Lexicon) -> str:
        """Return a word as it is written."""
        beyond = number - self._num_forms
        return lexicon.words[number] if beyond < 0 else self._spelled[beyond]

    def usual(self, lexicon: Lexicon) -> tuple[Ints, NDArray[np.bool_]]:
        """Settle on one way of writing for each word.

        Returns:
            For each word of the lexicon the number of its usual way, its form where there is no
            other; and whether the corpus shows enough to say so.
        """
        forms = self.forms()
        totals = np.stack([np.bincount(forms, side, len(lexicon)) for side in self._counts])
        by_headlines = totals[1] >= ENOUGH_IN_HEADLINES
        counts = self._counts[1] + np.where(by_headlines[forms], 0, self._counts[0])
        total = np.bincount(forms, counts, len(lexicon))
        small = counts[: len(lexicon)]
        is_capital = (total >= MIN_COUNT) & (10 * (total - small) >= 9 * total)
        is_small = (total >= MIN_COUNT) & (2 * small >= total)
        usual = np.arange(len(lexicon))
        # The most frequent way last, and of equals the one that comes first in the alphabet.
        others = np.arange(len(lexicon), len(forms))
        by_spelling = np.array(
            sorted(range(len(others)), key=self._spelled.__getitem__, reverse=True), dtype=np.int64
        )
        order = by_spelling[np.argsort(counts[others[by_spelling]], kind="stable")]
        wanted = others[order][is_capital[forms[others[order]]]]
        usual[forms[wanted]] = wanted
        return usual, is_capital | is_small


def _unusual_pairs(
    told: Callable[[], Iterator[tuple[Chunk, Ints]]],
    forms: Ints,
    usual: Ints,
    is_frequent: NDArray[np.bool_],
) -> list[tuple[int, int]]:
    """Find the pairs of frequent words that are written together as they are not alone."""

    def pairs_of(chunk: Chunk, numbers: Ints) -> tuple[Ints, Ints]:
        """Return the two words of all pairs that stand in one sentence."""
        first, second = numbers[:-1], numbers[1:]
        wanted = (first != NO_CASE) & (second != NO_CASE)
        wanted[np.cumsum(chunk.segment_lengths)[:-1] - 1] = False
        first, second = first[wanted], second[wanted]
        wanted = is_frequent[forms[first]] & is_frequent[forms[second]]
        return first[wanted], second[wanted]

    unusual = _KeyCounts()
    for chunk, numbers in told():
        first, second = pairs_of(chunk, numbers)
        is_unusual = (usual[forms[first]] != first) | (usual[forms[second]] != second)
        unusual.add((first * len(forms) + second)[is_unusual])
    keys, counts = unusual.totals()
    keys, counts = keys[counts >= MIN_PAIR_COUNT], counts[counts >= MIN_PAIR_COUNT]
    firsts, seconds = np.divmod(keys, len(forms))
    form_keys = forms[firsts] * len(usual) + forms[seconds]
    wanted = np.unique(form_keys)
    totals = np.zeros(len(wanted), dtype=np.int64)
    for chunk, numbers in told():
        first, second = pairs_of(chunk, numbers)
        found = forms[first] * len(usual) + forms[second]
        places = np.searchsorted(wanted, found)
        places[places == len(wanted)] = 0
        if len(wanted):
            totals += np.bincount(places[wanted[places] == found], minlength=len(wanted))
    is_clear = 20 * counts >= 19 * totals[np.searchsorted(wanted, form_keys)]
    return list(zip(firsts[is_clear].tolist(), seconds[is_clear].tolist(), strict=True))


class _KeyCounts:
    """Counts of numbers of any size, added up now and then."""

    def __init__(self) -> None:
        self._keys = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._new: list[Ints] = []
        self._num_new = 0

    def add(self, keys: Ints) -> None:
        """Count each of some keys once."""
        self._new.append(keys)
        self._num_new += len(keys)
        if self._num_new > _NEW_KEYS:
            self.totals()

    def totals(self) -> tuple[Ints, Ints]:
        """Return all keys in order, and how often each was added."""
        new = np.concatenate([self._keys, *self._new])
        ones = np.ones(len(new) - len(self._keys), dtype=np.int64)
        keys, places = np.unique(new, return_inverse=True)
        weights = np.concatenate([self._counts, ones])
        self._counts = np.bincount(places, weights, len(keys)).astype(np.int64)
        self._keys, self._new, self._num_new = keys, [], 0
        return self._keys, self._counts
