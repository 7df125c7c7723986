"""Scores from counts, and their rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import DataError
from readagain.rouge.measures import build_measures
from readagain.rouge.options import RougeOptions
from readagain.rouge.scores import count_items, f_measure, item_scores, round_as_printed


def scores(summary, references, **options):
    """Return recall, precision and F of ROUGE-1, or of the only selected measure."""
    options = RougeOptions(**({"max_ngram": 1, "rouge_l": False} | options))
    counts = count_items(options, [(summary, references)])
    return item_scores(counts, build_measures(options), options.alpha)[0, 0].tolist()


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


def test_best_pooling_of_rouge_w_uses_the_plain_weight():
    options = {"max_ngram": 0, "wlcs_weight": 2, "pooling": "best"}
    # a b x: 4 of 9, raised 4 of 81. a x: 1 of 4, raised 1 of 16, which would be more.
    assert scores("a b", ["a x", "a b x"], **options)[0] == round((4 / 81) ** 0.5, 5)


def test_jackknife_leaves_out_each_reference_once():
    options = RougeOptions(max_ngram=1, rouge_l=False, pooling="jackknife")
    counts = count_items(options, [("a b", ["a", "b", "x y"])])
    assert counts[:, 0].tolist() == [[3, 4, 1], [3, 4, 1], [2, 4, 2]]


def test_texts_without_overlap_score_zero():
    assert scores("a", ["b"]) == [0, 0, 0]
    assert scores("", ["b"]) == [0, 0, 0]
    assert scores("a", ["..."]) == [0, 0, 0]


@pytest.mark.parametrize(("alpha", "expected"), [(0, 0.2), (1, 0.8), (0.5, 0.32)])
def test_alpha_weights_recall_and_precision(alpha, expected):
    found = f_measure(np.array([0.2]), np.array([0.8]), alpha)
    np.testing.assert_allclose(found, [expected])


def test_f_is_computed_from_rounded_values():
    # 2 * 0.06667 / 1.06667 is 0.12501; from the exact 1/15 it would be 0.125.
    summary = " ".join("abcdefghijklmno")
    assert scores(summary, ["a"]) == [1.0, 0.06667, 0.12501]


def test_rouge_w_applies_the_inverse_exponent():
    found = scores("a b x y", ["a b c d"], max_ngram=0, wlcs_weight=2)
    assert found[:2] == [round((4 / 4**4) ** 0.5, 5), round((4 / 4**2) ** 0.5, 5)]


def test_rouge_w_rejects_a_reference_without_words():
    options = RougeOptions(wlcs_weight=1.2)
    with pytest.raises(DataError, match="item 2: a reference has no word"):
        count_items(options, [("a", ["a"]), ("a", ["a", "?"])])


@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_rounding_equals_printf(millionths):
    values = np.array(millionths) / 10**6  # every tenth value is a tie
    printed = [float(f"{value:.5f}") for value in values]
    assert round_as_printed(values).tolist() == printed
