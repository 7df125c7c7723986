"""Longest common subsequences: which words of a reference sentence a summary sentence covers.

Several subsequences can be longest. Which one is taken decides what the union over sentences
covers, so both functions walk back through their table as the script does: where the words
differ, step back in the reference unless that loses a match.
"""

from collections.abc import Sequence


class CommonWords:
    """The plain longest common subsequence with one summary sentence, bit-parallel.

    Row i of the table is one integer whose bit j is 0 where the length grows between the first
    j and the first j + 1 summary words (Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited"), so a row costs a handful of integer operations.
    """

    def __init__(self, sentence: Sequence[int]) -> None:
        self._sentence = sentence
        self._all = (1 << len(sentence)) - 1
        self._places: dict[int, int] = {}
        for place, word in enumerate(sentence):
            self._places[word] = self._places.get(word, 0) | 1 << place

    def length(self, reference: Sequence[int]) -> int:
        """Return the length of the longest common subsequence."""
        row, places, everything = self._all, self._places, self._all
        for word in reference:
            if word in places:
                matched = row & places[word]
                row = (row + matched | row - matched) & everything
        return len(self._sentence) - row.bit_count()

    def covered(self, reference: Sequence[int]) -> set[int]:
        """Return the places of the reference that the subsequence takes."""
        rows = [self._all]
        for word in reference:
            matched = rows[-1] & self._places.get(word, 0)
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


def covered_weighted(reference: Sequence[int], sentence: Sequence[int], weight: float) -> set[int]:
    """Return the places of the reference that the *weighted* subsequence takes.

    A run of k matches is worth k ** weight, so unbroken runs win (Lin 2004, section 4).
    """
    worth = [length**weight for length in range(min(len(reference), len(sentence)) + 1)]
    table = [[0.0] * (len(sentence) + 1)]
    runs = [0] * (len(sentence) + 1)
    for reference_word in reference:
        above, row, row_runs = table[-1], [0.0], [0]
        for j, word in enumerate(sentence):
            if word == reference_word:
                run = runs[j]
                row.append(above[j] + worth[run + 1] - worth[run])
                row_runs.append(run + 1)
            else:
                row.append(max(above[j + 1], row[j]))
                row_runs.append(0)
        table.append(row)
        runs = row_runs
    covered = set()
    i, j = len(reference), len(sentence)
    while i and j:
        if reference[i - 1] == sentence[j - 1]:
            i, j = i - 1, j - 1
            covered.add(i)
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return covered
