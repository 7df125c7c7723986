"""Longest common subsequences against the textbook table."""

from hypothesis import given
from hypothesis import strategies as st

from readagain.rouge.lcs import CommonWords, covered_weighted

sentences = st.lists(st.integers(0, 4), max_size=12)


def textbook_length(one, other):
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
def test_the_length_is_that_of_the_textbook(reference, sentence):
    assert CommonWords(sentence).length(reference) == textbook_length(reference, sentence)


@given(sentences, sentences)
def test_what_is_covered_is_a_subsequence_of_both_and_longest(reference, sentence):
    covered = [reference[place] for place in sorted(CommonWords(sentence).covered(reference))]
    assert is_subsequence(covered, sentence)
    assert len(covered) == textbook_length(reference, sentence)


@given(sentences, sentences)
def test_a_weight_of_one_covers_as_much_as_no_weight(reference, sentence):
    covered = covered_weighted(reference, sentence, 1.0)
    assert len(covered) == textbook_length(reference, sentence)


@given(sentences, sentences)
def test_what_is_covered_with_weights_is_a_subsequence_of_both(reference, sentence):
    covered = [reference[place] for place in sorted(covered_weighted(reference, sentence, 1.5))]
    assert is_subsequence(covered, sentence)


def test_of_two_longest_the_earlier_in_the_reference_is_taken():
    assert CommonWords([2, 1]).covered([1, 2]) == {0}
    assert covered_weighted([1, 2], [2, 1], 2.0) == {0}


def test_a_weight_prefers_the_unbroken_run():
    # 1 2 can be covered as 1 . 2 or as 1 2 at the end.
    assert covered_weighted([1, 3, 2, 1, 2], [1, 2], 2.0) == {3, 4}


def test_a_run_of_three_outweighs_two_runs_of_two():
    # a a b against a a . and . b a: 9 against 4 + 4.
    assert covered_weighted([1, 1, 2, 2, 1], [1, 1, 2, 1, 3], 2.0) == {0, 1, 2}
