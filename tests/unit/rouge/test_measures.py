"""Measures of short texts, counted by hand."""

import pytest

from readagain.rouge.measures import build_measures
from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import RougeTokenizer


def overlap(measure, summary, reference, **options):
    options = RougeOptions(max_ngram=4, **options)
    tokenizer = RougeTokenizer(options)
    [selected] = [each for each in build_measures(options) if each.name == measure]
    [found] = selected.overlaps(tokenizer.read(summary), [tokenizer.read(reference)])
    return tuple(found)


def test_measures_are_in_the_script_order():
    options = RougeOptions(max_ngram=2, wlcs_weight=1.2, skip_gap=4, skip_unigrams="both")
    names = ["rouge-1", "rouge-2", "rouge-l", "rouge-w-1.2", "rouge-s4", "rouge-su4"]
    assert [measure.name for measure in build_measures(options)] == names


def test_unlimited_gap_is_named_with_a_star():
    options = RougeOptions(max_ngram=0, rouge_l=False, skip_gap=-1, skip_unigrams="with")
    assert [measure.name for measure in build_measures(options)] == ["rouge-su*"]


def test_rouge_n_clips_repeated_words():
    assert overlap("rouge-1", "the the the cat", "the cat the mat") == (4, 4, 3)


def test_ngrams_cross_sentence_ends():
    assert overlap("rouge-2", "a b\nc d", "a b c d") == (3, 3, 3)
    assert overlap("rouge-4", "a b\nc d", "a b c d") == (1, 1, 1)


def test_short_text_has_no_ngrams():
    assert overlap("rouge-3", "a b", "a b c") == (1, 0, 0)


@pytest.mark.parametrize(("gap", "pairs"), [(0, 3), (1, 5), (2, 6), (-1, 6)])
def test_skip_bigrams_respect_the_gap(gap, pairs):
    name = "rouge-s*" if gap < 0 else f"rouge-s{gap}"
    assert overlap(name, "a b c d", "a b c d", skip_gap=gap) == (pairs, pairs, pairs)


def test_skip_bigrams_are_clipped():
    # The reference has a b twice and b b once, the summary a b three times and b b once.
    assert overlap("rouge-s*", "a b a b", "a b b", skip_gap=-1) == (3, 6, 3)
    assert overlap("rouge-s*", "a b", "a b b", skip_gap=-1) == (3, 1, 1)


def test_rouge_su_omits_the_last_single_word():
    assert overlap("rouge-su4", "a b c", "a b c", skip_gap=4, skip_unigrams="with") == (5, 5, 5)
    assert overlap("rouge-su4", "a", "a", skip_gap=4, skip_unigrams="with") == (0, 0, 0)


def test_rouge_l_of_one_sentence_is_the_lcs():
    assert overlap("rouge-l", "police killed the gunman", "police kill the gunman") == (4, 4, 3)


def test_rouge_l_of_several_sentences_is_their_union_lcs():
    # Lin 2004, section 3.2: w1 w2 from one sentence, w1 w3 w5 from the other: four of five.
    assert overlap("rouge-l", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5") == (5, 10, 4)


def test_rouge_l_clips_repeated_words():
    assert overlap("rouge-l", "a b", "a b\na b\na b") == (6, 2, 2)


def test_rouge_w_rewards_consecutive_words():
    together = overlap("rouge-w-2", "a b x y", "a b c d", wlcs_weight=2)
    apart = overlap("rouge-w-2", "a x c y", "a b c d", wlcs_weight=2)
    assert together == (4**4, 4**2, 2**2)
    assert apart == (4**4, 4**2, 1 + 1)


def test_rouge_w_run_continues_past_a_used_up_word():
    # The second sentence covers b b b a, but of the four b one is left: b and a make a run of 2.
    _, _, shared = overlap("rouge-w-2", "a b b b b a", "b b b a b\nb b b a b", wlcs_weight=2)
    assert shared == 4**2 + 2**2
