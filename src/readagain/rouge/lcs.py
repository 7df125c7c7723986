"""Longest common subsequences (LCS) of a reference sentence and a summary sentence.

Several subsequences may have the maximum length, and the choice affects the union over sentences.
The backtracking therefore follows the script: where the words differ, it steps back in the
reference unless that loses a match.
"""

from collections.abc import Sequence


class SentenceLcs:
    """Bit-parallel LCS with one summary sentence.

    Row i of the table is one integer. Its bit j is 0 if the LCS with the first j + 1 summary words
    is longer than that with the first j (Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited").
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
        """Return the reference positions of the LCS."""
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


def weighted_lcs(reference: Sequence[int], sentence: Sequence[int], weight: float) -> set[int]:
    """Return the reference positions of the weighted LCS.

    A run of k matches has the weight k ** weight, so consecutive matches are preferred (Lin 2004,
    section 4).
    """
    weights = [length**weight for length in range(min(len(reference), len(sentence)) + 1)]
    table = [[0.0] * (len(sentence) + 1)]
    runs = [0] * (len(sentence) + 1)
    for reference_word in reference:
        above, row, row_runs = table[-1], [0.0], [0]
        for j, word in enumerate(sentence):
            if word == reference_word:
                run = runs[j]
                row.append(above[j] + weights[run + 1] - weights[run])
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
