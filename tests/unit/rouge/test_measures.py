"""The measures on texts one can count on one's fingers."""

import pytest

from readagain.rouge.measures import build_measures
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import Reader


def overlap(measure, summary, reference, **options):
    options = RougeOptions(max_ngram=4, **options)
    reader = Reader(options)
    [wanted] = [each for each in build_measures(options) if each.name == measure]
    [counted] = wanted.overlaps(reader.read(summary), [reader.read(reference)])
    return tuple(counted)


def test_options_name_the_measures_in_the_scripts_order():
    options = RougeOptions(max_ngram=2, wlcs_weight=1.2, skip_gap=4, skip_unigrams="both")
    names = ["rouge-1", "rouge-2", "rouge-l", "rouge-w-1.2", "rouge-s4", "rouge-su4"]
    assert [measure.name for measure in build_measures(options)] == names


def test_unlimited_gaps_are_written_with_a_star():
    options = RougeOptions(max_ngram=0, rouge_l=False, skip_gap=-1, skip_unigrams="with")
    assert [measure.name for measure in build_measures(options)] == ["rouge-su*"]


def test_a_word_counts_as_often_as_both_have_it():
    assert overlap("rouge-1", "the the the cat", "the cat the mat") == (4, 4, 3)


def test_ngrams_run_across_sentence_ends():
    assert overlap("rouge-2", "a b\nc d", "a b c d") == (3, 3, 3)
    assert overlap("rouge-4", "a b\nc d", "a b c d") == (1, 1, 1)


def test_a_text_shorter_than_the_ngram_holds_none():
    assert overlap("rouge-3", "a b", "a b c") == (1, 0, 0)


@pytest.mark.parametrize(("gap", "pairs"), [(0, 3), (1, 5), (2, 6), (-1, 6)])
def test_skip_bigrams_reach_as_far_as_the_gap(gap, pairs):
    name = "rouge-s*" if gap < 0 else f"rouge-s{gap}"
    assert overlap(name, "a b c d", "a b c d", skip_gap=gap) == (pairs, pairs, pairs)


def test_repeated_skip_bigrams_count_as_often_as_both_have_them():
    # The reference has a b twice and b b once, the summary a b three times and b b once.
    assert overlap("rouge-s*", "a b a b", "a b b", skip_gap=-1) == (3, 6, 3)
    assert overlap("rouge-s*", "a b", "a b b", skip_gap=-1) == (3, 1, 1)


def test_single_words_of_rouge_su_leave_out_the_last():
    assert overlap("rouge-su4", "a b c", "a b c", skip_gap=4, skip_unigrams="with") == (5, 5, 5)
    assert overlap("rouge-su4", "a", "a", skip_gap=4, skip_unigrams="with") == (0, 0, 0)


def test_rouge_l_of_one_sentence_is_the_longest_common_subsequence():
    assert overlap("rouge-l", "police killed the gunman", "police kill the gunman") == (4, 4, 3)


def test_rouge_l_of_several_sentences_is_their_union():
    # Lin 2004, section 3.2: w1 w2 from one sentence, w1 w3 w5 from the other: four of five.
    assert overlap("rouge-l", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5") == (5, 10, 4)


def test_rouge_l_counts_no_word_more_often_than_the_summary_has_it():
    assert overlap("rouge-l", "a b", "a b\na b\na b") == (6, 2, 2)


def test_rouge_w_rewards_words_in_a_row():
    together = overlap("rouge-w-2", "a b x y", "a b c d", wlcs_weight=2)
    apart = overlap("rouge-w-2", "a x c y", "a b c d", wlcs_weight=2)
    assert together == (4**4, 4**2, 2**2)
    assert apart == (4**4, 4**2, 1 + 1)


def test_a_used_up_word_does_not_break_its_run_in_rouge_w():
    # The second sentence covers b b b a, but of the four b one is left: b and a make a run of 2.
    _, _, shared = overlap("rouge-w-2", "a b b b b a", "b b b a b\nb b b a b", wlcs_weight=2)
    assert shared == 4**2 + 2**2
