"""Measures of short texts, counted by hand; LCS compared with the dynamic-programming table."""

from hypothesis import given
from hypothesis import strategies as st

from readagain.rouge.measures import SentenceLcs, lcs_overlaps, ngram_overlaps
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import RougeTokenizer


def overlap(measure, summary, reference):
    tokenizer = RougeTokenizer(RougeOptions())
    summary, references = tokenizer.read(summary), [tokenizer.read(reference)]
    if measure == "rouge-l":
        [found] = lcs_overlaps(summary, references)
    else:
        [found] = ngram_overlaps(summary, references, int(measure.removeprefix("rouge-")))
    return tuple(found)


def test_rouge_n_clips_repeated_words():
    assert overlap("rouge-1", "the the the cat", "the cat the mat") == (4, 4, 3)


def test_ngrams_cross_sentence_ends():
    assert overlap("rouge-2", "a b\nc d", "a b c d") == (3, 3, 3)
    assert overlap("rouge-4", "a b\nc d", "a b c d") == (1, 1, 1)


def test_short_text_has_no_ngrams():
    assert overlap("rouge-3", "a b", "a b c") == (1, 0, 0)


def test_rouge_l_of_one_sentence_is_the_lcs():
    assert overlap("rouge-l", "police killed the gunman", "police kill the gunman") == (4, 4, 3)


def test_rouge_l_of_several_sentences_is_their_union_lcs():
    # Lin 2004, section 3.2: w1 w2 from one sentence, w1 w3 w5 from the other: four of five.
    assert overlap("rouge-l", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5") == (5, 10, 4)


def test_rouge_l_clips_repeated_words():
    assert overlap("rouge-l", "a b", "a b\na b\na b") == (6, 2, 2)


sentences = st.lists(st.integers(0, 4), max_size=12)


def table_length(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else longer
    return table[-1][-1]


def is_subsequence(words, sentence):
    unread = iter(sentence)
    return all(word in unread for word in words)  # `in` reads on to the word


@given(sentences, sentences)
def test_lcs_length_equals_the_table(reference, sentence):
    assert SentenceLcs(sentence).length(reference) == table_length(reference, sentence)


@given(sentences, sentences)
def test_lcs_positions_are_a_longest_subsequence(reference, sentence):
    positions = sorted(SentenceLcs(sentence).positions(reference))
    words = [reference[position] for position in positions]
    assert is_subsequence(words, sentence)
    assert len(words) == table_length(reference, sentence)


def test_lcs_prefers_the_earlier_reference_position():
    assert SentenceLcs([2, 1]).positions([1, 2]) == {0}
