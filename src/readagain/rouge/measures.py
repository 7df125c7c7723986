"""The measures: what each counts in a reference, in a summary, and in both.

Lin, "ROUGE: a package for automatic evaluation of summaries" (2004), in the reading of the
script where the two differ.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.lcs import CommonWords, covered_weighted
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import Words

Ids = NDArray[np.int64]

# Stands for the first word of a pair where ROUGE-SU counts a word alone.
_NO_FIRST_WORD = np.int64(0x7FFFFFFF << 32)


class Overlap(NamedTuple):
    """How much a reference holds, how much the summary holds, and how much they share."""

    reference: float
    summary: float
    shared: float


class Measure(ABC):
    """One kind of ROUGE."""

    name: str
    """As in reports: `rouge-1`, `rouge-l`, `rouge-su4`."""
    exponent: float = 1.0
    """What a share of hits is raised to when it becomes recall or precision."""

    @abstractmethod
    def overlaps(self, summary: Words, references: Iterable[Words]) -> list[Overlap]:
        """Compare a summary with each of its references."""


class Ngrams(Measure):
    """ROUGE-N: words in a row, each counted as often as both texts have it."""

    def __init__(self, size: int) -> None:
        self.name = f"rouge-{size}"
        self._size = size

    def overlaps(self, summary: Words, references: Iterable[Words]) -> list[Overlap]:
        """Count n-grams."""
        own = self._units(summary.flat)
        overlaps = []
        for reference in references:
            units = self._units(reference.flat)
            overlaps.append(Overlap(len(units), len(own), _count_shared(own, units)))
        return overlaps

    def _units(self, words: Sequence[int]) -> Sequence[Hashable]:
        if self._size == 1:
            return words
        return list(zip(*(words[start:] for start in range(self._size)), strict=False))


class SkipBigrams(Measure):
    """ROUGE-S: two words in order with a gap; ROUGE-SU: and single words.

    The script makes the single words while it walks over first words of pairs, so the last
    word of a text is not among them.
    """

    def __init__(self, gap: int, *, with_unigrams: bool) -> None:
        self.name = f"rouge-s{'u' if with_unigrams else ''}{'*' if gap < 0 else gap}"
        self._gap = gap
        self._with_unigrams = with_unigrams

    def overlaps(self, summary: Words, references: Iterable[Words]) -> list[Overlap]:
        """Count skip-bigrams."""
        own_pairs, own_counts = self._count(summary.flat)
        overlaps = []
        for reference in references:
            pairs, counts = self._count(reference.flat)
            _, own, theirs = np.intersect1d(own_pairs, pairs, True, return_indices=True)
            shared = np.minimum(own_counts[own], counts[theirs]).sum()
            overlaps.append(Overlap(int(counts.sum()), int(own_counts.sum()), int(shared)))
        return overlaps

    def _count(self, words: Sequence[int]) -> tuple[Ids, Ids]:
        """Return the distinct pairs, each as one integer, and how often each occurs."""
        ids = np.array(words, dtype=np.int64)
        last = max(len(words) - 1, 0)
        furthest = last if self._gap < 0 else min(self._gap + 1, last)
        firsts, seconds = ids << 32, ids
        pairs = [firsts[:-step] | seconds[step:] for step in range(1, furthest + 1)]
        if self._with_unigrams:
            pairs.append(ids[:last] | _NO_FIRST_WORD)
        unique, counts = np.unique(np.concatenate([ids[:0], *pairs]), return_counts=True)
        return unique, counts


class UnionLcs(Measure):
    """ROUGE-L: for each reference sentence, the union of its subsequences with all of ours."""

    name = "rouge-l"

    def overlaps(self, summary: Words, references: Iterable[Words]) -> list[Overlap]:
        """Count covered reference words, none more often than the summary has it."""
        sentences = [CommonWords(sentence) for sentence in summary.sentences]
        size = len(summary.flat)
        return [
            Overlap(
                sum(map(len, reference.sentences)), size, _covered(summary, sentences, reference)
            )
            for reference in references
        ]


class WeightedLcs(Measure):
    """ROUGE-W: like ROUGE-L, with words in a row worth more.

    The reference's own worth is raised to the weight a second time, so that even a copy of the
    reference has a recall below 1: the script does so, and published figures contain it.
    """

    def __init__(self, weight: float) -> None:
        self.name = f"rouge-w-{weight:g}"
        self.exponent = 1 / weight
        self._weight = weight

    def overlaps(self, summary: Words, references: Iterable[Words]) -> list[Overlap]:
        """Sum the worth of runs of covered reference words."""
        weight = self._weight
        own_worth = len(summary.flat) ** weight
        overlaps = []
        for reference in references:
            worth = sum(len(sentence) ** weight for sentence in reference.sentences) ** weight
            overlaps.append(Overlap(worth, own_worth, self._worth_of_runs(summary, reference)))
        return overlaps

    def _worth_of_runs(self, summary: Words, reference: Words) -> float:
        left = Counter(summary.flat) & Counter(reference.flat)
        total = 0.0
        for sentence in reference.sentences:
            covered: set[int] = set()
            for own in summary.sentences:
                covered |= covered_weighted(sentence, own, self._weight)
            run = 0
            for place in sorted(covered):
                if left[sentence[place]] == 0:
                    continue  # used up, but the run it stands in is not closed by that
                left[sentence[place]] -= 1
                run += 1
                if place + 1 not in covered:
                    total += run**self._weight
                    run = 0
        return total


def build_measures(options: RougeOptions) -> list[Measure]:
    """List the measures that the options ask for, in the script's order."""
    measures: list[Measure] = [Ngrams(size) for size in range(1, options.max_ngram + 1)]
    if options.rouge_l:
        measures.append(UnionLcs())
    if options.wlcs_weight is not None:
        measures.append(WeightedLcs(options.wlcs_weight))
    if options.skip_gap is not None:
        kinds = {"without": (False,), "with": (True,), "both": (False, True)}
        for with_unigrams in kinds[options.skip_unigrams]:
            measures.append(SkipBigrams(options.skip_gap, with_unigrams=with_unigrams))
    return measures


def _count_shared(summary: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    """Count what two lists share, each thing as often as both have it."""
    distinct = set(summary)
    if len(distinct) == len(summary):
        return len(distinct.intersection(reference))
    available, wanted = Counter(summary), Counter(reference)
    return sum(min(available[each], wanted[each]) for each in distinct.intersection(wanted))


def _covered(summary: Words, sentences: Sequence[CommonWords], reference: Words) -> int:
    if len(sentences) == 1 and len(reference.sentences) == 1:
        return sentences[0].length(reference.sentences[0])  # nothing to unite, nothing to clip
    left = Counter(summary.flat) & Counter(reference.flat)
    hits = 0
    for sentence in reference.sentences:
        covered: set[int] = set()
        for own in sentences:
            covered |= own.covered(sentence)
        for place in sorted(covered):
            if left[sentence[place]] > 0:
                left[sentence[place]] -= 1
                hits += 1
    return hits
