"""ROUGE measures: count the units (n-grams, word pairs, LCS words) that two texts share.

Lin, "ROUGE: a package for automatic evaluation of summaries" (2004). Where the paper and the Perl
script ROUGE-1.5.5 differ, this follows the script.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.lcs import SentenceLcs, weighted_lcs
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import TextIds

Ids = NDArray[np.int64]

# ROUGE-SU counts single words as pairs with this first word.
_NO_FIRST_WORD = np.int64(0x7FFFFFFF << 32)


class Overlap(NamedTuple):
    """Number of units in a reference, in the summary, and in both."""

    reference: float
    summary: float
    shared: float


class Measure(ABC):
    """One kind of ROUGE."""

    name: str
    """Name in reports: `rouge-1`, `rouge-l`, `rouge-su4`."""
    exponent: float = 1.0
    """Exponent of the ratio of hits in recall and precision."""

    @abstractmethod
    def overlaps(self, summary: TextIds, references: Iterable[TextIds]) -> list[Overlap]:
        """Return the overlap of a summary with each of its references."""


class Ngrams(Measure):
    """ROUGE-N: n-grams, counted with clipping (the minimum of the two counts)."""

    def __init__(self, size: int) -> None:
        self.name = f"rouge-{size}"
        self._size = size

    def overlaps(self, summary: TextIds, references: Iterable[TextIds]) -> list[Overlap]:
        """Count n-grams."""
        in_summary = self._ngrams(summary.flat)
        overlaps = []
        for reference in references:
            ngrams = self._ngrams(reference.flat)
            shared = _count_shared(in_summary, ngrams)
            overlaps.append(Overlap(len(ngrams), len(in_summary), shared))
        return overlaps

    def _ngrams(self, words: Sequence[int]) -> Sequence[Hashable]:
        if self._size == 1:
            return words
        return list(zip(*(words[start:] for start in range(self._size)), strict=False))


class SkipBigrams(Measure):
    """ROUGE-S: ordered word pairs with a gap; ROUGE-SU: word pairs and single words.

    The script adds single words while it iterates over the first words of pairs, so it does not
    count the last word of a text.
    """

    def __init__(self, gap: int, *, with_unigrams: bool) -> None:
        self.name = f"rouge-s{'u' if with_unigrams else ''}{'*' if gap < 0 else gap}"
        self._gap = gap
        self._with_unigrams = with_unigrams

    def overlaps(self, summary: TextIds, references: Iterable[TextIds]) -> list[Overlap]:
        """Count skip-bigrams."""
        summary_pairs, summary_counts = self._count(summary.flat)
        overlaps = []
        for reference in references:
            pairs, counts = self._count(reference.flat)
            _, first, second = np.intersect1d(summary_pairs, pairs, True, return_indices=True)
            shared = np.minimum(summary_counts[first], counts[second]).sum()
            overlaps.append(Overlap(int(counts.sum()), int(summary_counts.sum()), int(shared)))
        return overlaps

    def _count(self, words: Sequence[int]) -> tuple[Ids, Ids]:
        """Return the distinct pairs, each as one integer, and their counts."""
        ids = np.array(words, dtype=np.int64)
        last = max(len(words) - 1, 0)
        max_step = last if self._gap < 0 else min(self._gap + 1, last)
        firsts, seconds = ids << 32, ids
        pairs = [firsts[:-step] | seconds[step:] for step in range(1, max_step + 1)]
        if self._with_unigrams:
            pairs.append(ids[:last] | _NO_FIRST_WORD)
        unique, counts = np.unique(np.concatenate([ids[:0], *pairs]), return_counts=True)
        return unique, counts


class UnionLcs(Measure):
    """ROUGE-L: for each reference sentence, the union of its LCS with every summary sentence."""

    name = "rouge-l"

    def overlaps(self, summary: TextIds, references: Iterable[TextIds]) -> list[Overlap]:
        """Count covered reference words, each at most as often as it occurs in the summary."""
        sentences = [SentenceLcs(sentence) for sentence in summary.sentences]
        size = len(summary.flat)
        return [
            Overlap(
                sum(map(len, reference.sentences)),
                size,
                _count_covered(summary, sentences, reference),
            )
            for reference in references
        ]


class WeightedLcs(Measure):
    """ROUGE-W: like ROUGE-L, with a higher weight for consecutive words.

    Like the script, this raises the weight of the reference to the exponent twice, so even a copy
    of the reference has a recall below 1. Published results have this error.
    """

    def __init__(self, weight: float) -> None:
        self.name = f"rouge-w-{weight:g}"
        self.exponent = 1 / weight
        self._weight = weight

    def overlaps(self, summary: TextIds, references: Iterable[TextIds]) -> list[Overlap]:
        """Sum the weights of runs of covered reference words."""
        weight = self._weight
        in_summary = len(summary.flat) ** weight
        overlaps = []
        for reference in references:
            total = sum(len(sentence) ** weight for sentence in reference.sentences) ** weight
            overlaps.append(Overlap(total, in_summary, self._weight_of_runs(summary, reference)))
        return overlaps

    def _weight_of_runs(self, summary: TextIds, reference: TextIds) -> float:
        num_left = Counter(summary.flat) & Counter(reference.flat)
        total = 0.0
        for sentence in reference.sentences:
            covered: set[int] = set()
            for summary_sentence in summary.sentences:
                covered |= weighted_lcs(sentence, summary_sentence, self._weight)
            run = 0
            for position in sorted(covered):
                if num_left[sentence[position]] == 0:
                    continue  # already counted as often as allowed; this does not end the run
                num_left[sentence[position]] -= 1
                run += 1
                if position + 1 not in covered:
                    total += run**self._weight
                    run = 0
        return total


def build_measures(options: RougeOptions) -> list[Measure]:
    """Return the measures of the options in the script's order."""
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
    """Count the units that both lists contain, with multiplicity."""
    distinct = set(summary)
    if len(distinct) == len(summary):
        return len(distinct.intersection(reference))
    in_summary, in_reference = Counter(summary), Counter(reference)
    shared = distinct.intersection(in_reference)
    return sum(min(in_summary[each], in_reference[each]) for each in shared)


def _count_covered(summary: TextIds, sentences: Sequence[SentenceLcs], reference: TextIds) -> int:
    if len(sentences) == 1 and len(reference.sentences) == 1:
        return sentences[0].length(reference.sentences[0])  # no union and no clipping
    num_left = Counter(summary.flat) & Counter(reference.flat)
    hits = 0
    for sentence in reference.sentences:
        covered: set[int] = set()
        for summary_sentence in sentences:
            covered |= summary_sentence.covered(sentence)
        for position in sorted(covered):
            if num_left[sentence[position]] > 0:
                num_left[sentence[position]] -= 1
                hits += 1
    return hits
