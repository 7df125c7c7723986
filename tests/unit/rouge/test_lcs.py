"""Longest common subsequences, compared with the dynamic-programming table."""

from hypothesis import given
from hypothesis import strategies as st

from readagain.rouge.measures import SentenceLcs

sentences = st.lists(st.integers(0, 4), max_size=12)


def table_length(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else longer
    return table[-1][-1]


def is_subsequence(part, whole):
    rest = iter(whole)
    return all(each in rest for each in part)


@given(sentences, sentences)
def test_lcs_length_equals_the_table(reference, sentence):
    assert SentenceLcs(sentence).length(reference) == table_length(reference, sentence)


@given(sentences, sentences)
def test_lcs_covers_a_longest_subsequence(reference, sentence):
    covered = [reference[position] for position in sorted(SentenceLcs(sentence).covered(reference))]
    assert is_subsequence(covered, sentence)
    assert len(covered) == table_length(reference, sentence)


def test_lcs_prefers_the_earlier_reference_position():
    assert SentenceLcs([2, 1]).covered([1, 2]) == {0}
