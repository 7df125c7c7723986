"""Counts for ROUGE-N and ROUGE-L: the n-grams or words that a summary shares with its references.

Lin, "ROUGE: a package for automatic evaluation of summaries" (2004). Where the paper and the Perl
script ROUGE-1.5.5 differ, this module follows the script.
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

    An n-gram that is a times in the summary and b times in the reference is shared min(a, b) times.
    """
    summary_ngrams = _ngrams(summary.flat, size)
    overlaps = []
    for reference in references:
        ngrams = _ngrams(reference.flat, size)
        num_shared = _count_shared(summary_ngrams, ngrams)
        overlaps.append(Overlap(len(ngrams), len(summary_ngrams), num_shared))
    return overlaps


def lcs_overlaps(summary: TextIds, references: Sequence[TextIds]) -> list[Overlap]:
    """Count the words of each reference that are in a longest common subsequence (ROUGE-L).

    A reference sentence has one longest common subsequence with each summary sentence. A word of
    the reference sentence counts if it is in any of them. A word that is a times in the summary and
    b times in the reference counts at most min(a, b) times.
    """
    summary_sentences = [SentenceLcs(sentence) for sentence in summary.sentences]
    return [
        Overlap(
            sum(map(len, reference.sentences)),
            len(summary.flat),
            _count_lcs_words(summary, summary_sentences, reference),
        )
        for reference in references
    ]


def _ngrams(words: Sequence[int], size: int) -> Sequence[Hashable]:
    if size == 1:
        return words
    return list(zip(*(words[start:] for start in range(size)), strict=False))


def _count_shared(summary: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    """Count the n-grams that both lists contain, with repetitions."""
    distinct = set(summary)
    if len(distinct) == len(summary):  # faster: no n-gram is repeated in the summary
        return len(distinct.intersection(reference))
    return (Counter(summary) & Counter(reference)).total()


def _count_lcs_words(
    summary: TextIds, summary_sentences: Sequence["SentenceLcs"], reference: TextIds
) -> int:
    """Count the words of a reference that are in an LCS with a summary sentence."""
    if len(summary_sentences) == 1 and len(reference.sentences) == 1:
        # Every word of the only LCS is in both texts, so the limit below would change nothing.
        return summary_sentences[0].length(reference.sentences[0])
    num_left = Counter(summary.flat) & Counter(reference.flat)
    num_counted = 0
    for sentence in reference.sentences:
        positions = set[int]().union(*(lcs.positions(sentence) for lcs in summary_sentences))
        for position in sorted(positions):
            if num_left[sentence[position]] > 0:
                num_left[sentence[position]] -= 1
                num_counted += 1
    return num_counted


class SentenceLcs:
    """Bit-parallel longest common subsequences (LCS) of one summary sentence and any reference.

    The usual table of LCS lengths has one row for each number i of reference words. Here each row
    is one integer. Bit j of row i is 0 if the (j + 1)th summary word makes the LCS with the first i
    reference words longer, so the number of 0 bits is the length of the LCS (Hyyrö 2004,
    "Bit-parallel LCS-length computation revisited").
    """

    def __init__(self, sentence: Sequence[int]) -> None:
        self._sentence = sentence
        self._all_ones = (1 << len(sentence)) - 1
        self._position_bits: dict[int, int] = {}  # for each word, a 1 bit at each of its positions
        for position, word in enumerate(sentence):
            self._position_bits[word] = self._position_bits.get(word, 0) | 1 << position

    def length(self, reference: Sequence[int]) -> int:
        """Return the length of the LCS with a reference sentence."""
        row, position_bits, all_ones = self._all_ones, self._position_bits, self._all_ones
        for word in reference:
            if word in position_bits:
                matched = row & position_bits[word]
                row = (row + matched | row - matched) & all_ones
        return len(self._sentence) - row.bit_count()

    def positions(self, reference: Sequence[int]) -> set[int]:
        """Return the positions of the LCS in a reference sentence.

        If several subsequences have the maximum length, choose as the script does: go through both
        sentences from their ends, and where the words differ, step back in the reference unless
        this makes the LCS shorter.
        """
        rows = [self._all_ones]
        for word in reference:
            matched = rows[-1] & self._position_bits.get(word, 0)
            rows.append((rows[-1] + matched | rows[-1] - matched) & self._all_ones)
        positions = set()
        i, j = len(reference), len(self._sentence)
        while i and j:
            if reference[i - 1] == self._sentence[j - 1]:
                i, j = i - 1, j - 1
                positions.add(i)
                continue
            first_j_bits = (1 << j) - 1
            if (rows[i - 1] & first_j_bits).bit_count() == (rows[i] & first_j_bits).bit_count():
                i -= 1  # the LCS is as long without this reference word
            else:
                j -= 1
        return positions
