"""ROUGE-N and ROUGE-L: the n-grams or words that a summary shares with its references.

Lin, "ROUGE: a package for automatic evaluation of summaries" (2004). Where the paper and the Perl
script ROUGE-1.5.5 differ, this follows the script.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from readagain.rouge.tokens import TextIds


class Overlap(NamedTuple):
    """Number of n-grams or words in a reference, in the summary, and in both."""

    reference: int
    summary: int
    shared: int


def ngram_overlaps(summary: TextIds, references: Sequence[TextIds], size: int) -> list[Overlap]:
    """Count the n-grams of `size` words that a summary shares with each reference (ROUGE-N).

    A repeated n-gram counts as often as the text that has fewer of it.
    """
    in_summary = _ngrams(summary.flat, size)
    overlaps = []
    for reference in references:
        ngrams = _ngrams(reference.flat, size)
        overlaps.append(Overlap(len(ngrams), len(in_summary), _count_shared(in_summary, ngrams)))
    return overlaps


def lcs_overlaps(summary: TextIds, references: Sequence[TextIds]) -> list[Overlap]:
    """Count the words of each reference that are in a longest common subsequence (ROUGE-L).

    For each reference sentence it takes the union of the longest common subsequences with all
    summary sentences. A word counts at most as often as it occurs in the summary.
    """
    sentences = [SentenceLcs(sentence) for sentence in summary.sentences]
    return [
        Overlap(
            sum(map(len, reference.sentences)),
            len(summary.flat),
            _count_covered(summary, sentences, reference),
        )
        for reference in references
    ]


def _ngrams(words: Sequence[int], size: int) -> Sequence[Hashable]:
    if size == 1:
        return words
    return list(zip(*(words[start:] for start in range(size)), strict=False))


def _count_shared(summary: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    """Count the n-grams that both lists contain, with multiplicity."""
    distinct = set(summary)
    if len(distinct) == len(summary):  # faster: nothing is repeated in the summary
        return len(distinct.intersection(reference))
    return (Counter(summary) & Counter(reference)).total()


def _count_covered(summary: TextIds, sentences: Sequence["SentenceLcs"], reference: TextIds) -> int:
    if len(sentences) == 1 and len(reference.sentences) == 1:
        return sentences[0].length(reference.sentences[0])  # no union, and no word is repeated
    num_left = Counter(summary.flat) & Counter(reference.flat)
    num_covered = 0
    for sentence in reference.sentences:
        positions = set[int]().union(*(each.covered(sentence) for each in sentences))
        for position in sorted(positions):
            if num_left[sentence[position]] > 0:
                num_left[sentence[position]] -= 1
                num_covered += 1
    return num_covered


class SentenceLcs:
    """Bit-parallel longest common subsequences (LCS) with one summary sentence.

    Row i of the table is one integer, for the first i words of the other sentence. Its bit j is 0
    if the LCS with the first j + 1 summary words is longer than that with the first j (Hyyrö 2004,
    "Bit-parallel LCS-length computation revisited").
    """

    def __init__(self, sentence: Sequence[int]) -> None:
        self._sentence = sentence
        self._all = (1 << len(sentence)) - 1
        self._positions: dict[int, int] = {}
        for position, word in enumerate(sentence):
            self._positions[word] = self._positions.get(word, 0) | 1 << position

    def length(self, reference: Sequence[int]) -> int:
        """Return the length of the LCS."""
        row, positions, everything = self._all, self._positions, self._all
        for word in reference:
            if word in positions:
                matched = row & positions[word]
                row = (row + matched | row - matched) & everything
        return len(self._sentence) - row.bit_count()

    def covered(self, reference: Sequence[int]) -> set[int]:
        """Return the reference positions of the LCS.

        Of several subsequences of maximum length it takes the one of the script: where the words
        differ, it steps back in the reference unless that loses a match.
        """
        rows = [self._all]
        for word in reference:
            matched = rows[-1] & self._positions.get(word, 0)
            rows.append((rows[-1] + matched | rows[-1] - matched) & self._all)
        covered = set()
        i, j = len(reference), len(self._sentence)
        while i and j:
            if reference[i - 1] == self._sentence[j - 1]:
                i, j = i - 1, j - 1
                covered.add(i)
                continue
            before = (1 << j) - 1
            if (rows[i - 1] & before).bit_count() == (rows[i] & before).bit_count():
                i -= 1
            else:
                j -= 1
        return covered
