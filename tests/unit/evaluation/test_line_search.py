"""Exact line search on n-best lists with known best weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.evaluation.line_search import NBestLists, best_step, best_weights, highest_lines

WIDE_RANGE = {"min_step": -9.0, "max_step": 9.0}


def lists_of(*documents):
    """Make lists from (base, features, metric) of every candidate of every document."""
    D, K, F = len(documents), max(map(len, documents)), len(documents[0][0][1])
    lists = NBestLists(np.full((D, K), -np.inf), np.zeros((D, K, F)), np.zeros((D, K)))
    for d, candidates in enumerate(documents):
        for k, (base, features, metric) in enumerate(candidates):
            lists.base[d, k], lists.metrics[d, k] = base, metric
            lists.features[d, k] = features
    return lists


def highest(lines, min_step=-9.0, max_step=9.0):
    """Return the steps where the highest line of one document changes, each with the new line."""
    heights, slopes = np.array(lines, dtype=np.float64).T
    return [
        (step.item(), line.item())
        for _, step, line in highest_lines(heights[None], slopes[None], min_step, max_step)
    ]


def test_highest_lines_in_order():
    lines = [(0, -1), (1, 0), (0, 1), (-9, 0)]
    assert highest(lines) == [(-9, 0), (-1, 1), (1, 2)]
    assert highest(lines, min_step=0.0, max_step=0.5) == [(0, 1)]


def test_highest_lines_of_parallel_lines():
    assert highest([(0, 1), (2, 1), (-np.inf, 0)]) == [(-9, 1)]


def test_highest_lines_take_the_steepest_at_a_crossing():
    assert highest([(0, 0), (-1, 1), (-2, 2)]) == [(-9, 0), (1, 2)]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-5, 5), st.integers(-3, 3)), min_size=4, max_size=4),
        min_size=1,
        max_size=3,
    ),
    st.floats(-8, 8),
)
def test_highest_lines_are_highest_everywhere(documents, step):
    heights, slopes = np.moveaxis(np.array(documents, dtype=np.float64), -1, 0)
    highest_line = {}
    for changes in highest_lines(heights, slopes, -9.0, 9.0):
        for document, change_step, line in zip(*(array.tolist() for array in changes), strict=True):
            if change_step <= step:
                highest_line[document] = line
    values = heights + step * slopes
    for document in range(len(documents)):
        assert values[document, highest_line[document]] == pytest.approx(values[document].max())


def test_best_step_is_the_middle_of_the_best_interval():
    # The second candidate is best for steps from 1 to 3, then the third; only the second is good.
    lists = lists_of([(0.0, [0.0], 0.2), (-1.0, [1.0], 0.9), (-4.0, [2.0], 0.1)])
    assert best_step(lists, np.zeros(1), np.ones(1), **WIDE_RANGE) == pytest.approx(2.0)


def test_best_step_prefers_the_nearest_interval():
    lists = lists_of([(0.0, [0.0], 0.5), (-2.0, [1.0], 0.1), (-6.0, [2.0], 0.5)])
    assert best_step(lists, np.zeros(1), np.ones(1), **WIDE_RANGE) < 2


def test_best_step_stays_in_range():
    lists = lists_of([(0.0, [0.0], 0.2), (-1.0, [1.0], 0.9)])
    narrow_range = {"min_step": -1.0, "max_step": 1.5}
    assert best_step(lists, np.zeros(1), np.ones(1), **narrow_range) == pytest.approx(1.25)
    narrow_range = {"min_step": -1.0, "max_step": 0.5}
    assert best_step(lists, np.zeros(1), np.ones(1), **narrow_range) == pytest.approx(-0.25)


def test_best_step_is_zero_without_a_change():
    lists = lists_of([(0.0, [1.0], 0.5), (-2.0, [1.0], 0.9)])
    assert best_step(lists, np.zeros(1), np.ones(1), **WIDE_RANGE) == 0


def test_best_weights_finds_known_weights():
    # The metric is 1 for the candidate that the weights (0.8, -0.4) select, 0 for the 29 others.
    rng = np.random.default_rng(5)
    base, features = rng.normal(size=(40, 30)), rng.normal(size=(40, 30, 2))
    metrics = base + features @ np.array([0.8, -0.4])
    metrics = (metrics == metrics.max(axis=1, keepdims=True)).astype(np.float64)
    found, value = best_weights(
        NBestLists(base, features, metrics), np.zeros(2), max_change=1.0, seed=1
    )
    assert value == 1.0
    np.testing.assert_allclose(found, [0.8, -0.4], rtol=0.2)


def test_best_weights_stay_within_max_change():
    lists = lists_of([(0.0, [0.0, 0.0], 0.0), (-5.0, [1.0, 1.0], 1.0)])
    found, value = best_weights(lists, np.zeros(2), max_change=1.0, seed=1)
    assert value == 0.0
    lists = lists_of([(0.0, [0.0, 0.0], 0.0), (-1.5, [1.0, 1.0], 1.0)])
    found, value = best_weights(lists, np.zeros(2), max_change=1.0, seed=1)
    assert value == 1.0
    assert np.abs(found).max() <= 1.0


def test_best_weights_are_repeatable():
    rng = np.random.default_rng(5)
    lists = NBestLists(
        rng.normal(size=(20, 9)), rng.normal(size=(20, 9, 3)), rng.random(size=(20, 9))
    )
    first, second = (best_weights(lists, np.zeros(3), max_change=1.0, seed=7)[0] for _ in range(2))
    assert first.tolist() == second.tolist()


def test_missing_candidates_are_never_chosen():
    lists = lists_of(
        [(0.0, [0.0], 0.0), (-0.5, [1.0], 1.0)],
        [(0.0, [0.0], 0.5)],
    )
    found, value = best_weights(lists, np.zeros(1), max_change=1.0, seed=1)
    assert value == 0.75
    assert found[0] > 0.5
