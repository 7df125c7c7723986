"""Scores from counts, and their rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from readagain.rouge.options import RougeOptions
from readagain.rouge.scores import round_as_printed, score_items


def scores(summary, references, **options):
    """Return recall, precision and F1 of ROUGE-1."""
    options = RougeOptions(max_ngram=1, rouge_l=False, **options)
    return score_items(options, [(summary, references)])[0, 0].tolist()


def test_recall_and_precision_have_their_own_denominators():
    assert scores("a b c", ["a x"]) == [0.5, 0.33333, 0.4]


def test_sum_pooling_adds_counts_before_dividing():
    # Hits 1 + 2 of 1 + 4 reference words, and of 2 x 2 summary words.
    assert scores("a b", ["a", "a b c d"]) == [0.6, 0.75, 0.66667]


def test_best_pooling_takes_the_highest_recall():
    assert scores("a b c d", ["a b c d e", "a"], pooling="best") == [1.0, 0.25, 0.4]


def test_best_pooling_takes_the_first_of_equals():
    assert scores("a b c d", ["a b x y", "a x"], pooling="best")[1] == 0.5
    assert scores("a b c d", ["a x", "a b x y"], pooling="best")[1] == 0.25


def test_texts_without_overlap_score_zero():
    assert scores("a", ["b"]) == [0, 0, 0]
    assert scores("", ["b"]) == [0, 0, 0]
    assert scores("a", ["..."]) == [0, 0, 0]


def test_f_is_computed_from_rounded_values():
    # 2 * 0.06667 / 1.06667 is 0.12501; from the exact 1/15 it would be 0.125.
    summary = " ".join("abcdefghijklmno")
    assert scores(summary, ["a"]) == [1.0, 0.06667, 0.12501]


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_rounding_equals_printf(millionths):
    values = np.array(millionths) / 10**6  # every tenth value is a tie
    printed = [float(f"{value:.5f}") for value in values]
    assert round_as_printed(values).tolist() == printed
