"""Significance tests with known results."""

from itertools import product

import numpy as np
import pytest

from readagain.errors import DataError
from readagain.rouge.corpus import score_corpus
from readagain.rouge.significance import compare_reports, compare_scores


def test_equal_systems_have_p_value_one():
    scores = np.random.default_rng(0).random(50)
    found = compare_scores(scores, scores, samples=200)
    assert (found.difference, found.p_bootstrap, found.p_randomization) == (0, 1, 1)


def test_constant_difference_has_the_smallest_p_value():
    scores = np.random.default_rng(0).random(50)
    found = compare_scores(scores + 0.1, scores, samples=999)
    assert found.difference == pytest.approx(0.1)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert found.p_bootstrap == found.p_randomization == 1 / 1000


@pytest.mark.parametrize("draws_per_block", [20, 250])  # one or five samples of 50 items
def test_blocks_draw_the_requested_samples(monkeypatch, draws_per_block):
    monkeypatch.setattr("readagain.rouge.significance._DRAWS_PER_BLOCK", draws_per_block)
    found = compare_scores(np.full(50, 0.1), np.zeros(50), samples=999)
    assert found.p_bootstrap == found.p_randomization == 1 / 1000


def test_randomization_approaches_the_exact_p_value():
    differences = np.array([0.3, 0.1, -0.05, 0.2, 0.15, 0.02])
    swaps = [np.dot(signs, differences) for signs in product([1, -1], repeat=6)]
    exact = np.mean(np.abs(swaps) >= differences.sum() - 1e-12)
    found = compare_scores(differences, np.zeros(6), samples=20_000)
    assert found.p_randomization == pytest.approx(exact, abs=0.01)


def test_noise_is_rarely_significant():
    rng = np.random.default_rng(3)
    p_values = [compare_scores(rng.random(40), rng.random(40), samples=300) for _ in range(60)]
    assert sum(found.p_randomization < 0.05 for found in p_values) <= 9  # expected 3
    assert sum(found.p_bootstrap < 0.05 for found in p_values) <= 9


def test_swapping_systems_flips_only_the_sign():
    rng = np.random.default_rng(4)
    one, other = rng.random(30), rng.random(30)
    forward, backward = (
        compare_scores(one, other, samples=500),
        compare_scores(other, one, samples=500),
    )
    assert forward.difference == -backward.difference
    assert (forward.low, forward.high) == (
        pytest.approx(-backward.high),
        pytest.approx(-backward.low),
    )
    assert forward.p_bootstrap == backward.p_bootstrap
    assert forward.p_randomization == backward.p_randomization


def test_comparison_is_repeatable():
    rng = np.random.default_rng(5)
    one, other = rng.random(30), rng.random(30)
    assert compare_scores(one, other) == compare_scores(one, other)


def test_reports_are_compared_by_the_main_score():
    references = [["a b c d"], ["e f g h"], ["i j k l"]]
    better = score_corpus(["a b c d", "e f g h", "i j k l"], references, "duc2004")
    worse = score_corpus(["a b", "e f", "i j"], references, "duc2004")
    found = compare_reports(better, worse)
    assert list(found) == ["rouge-1", "rouge-2", "rouge-l"]
    # The difference of recall; that of precision is 0.
    assert found["rouge-1"].difference == pytest.approx(0.5)


def test_compare_reports_rejects_different_items():
    one = score_corpus(["a"], [["a"]], "gigaword")
    two = score_corpus(["a", "b"], [["a"], ["b"]], "gigaword")
    with pytest.raises(DataError, match="1 item for the first system and 2 for the second"):
        compare_reports(one, two)


def test_compare_reports_rejects_different_protocols():
    one = score_corpus(["a"], [["a"]], "gigaword")
    two = score_corpus(["a"], [["a"]], "duc2004")
    with pytest.raises(DataError, match=r"differ: -n 2 -m .* with f1 and .* -b 75 .* with recall"):
        compare_reports(one, two)
