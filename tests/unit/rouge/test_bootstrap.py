"""Bootstrap samples, compared with a simple implementation of `drand48`."""

import numpy as np
import pytest

from readagain.rouge.bootstrap import interval, resampled_sums, script_order


def drand48(seed, draws):
    state = (seed << 16) + 0x330E
    for _ in range(draws):
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        yield state / 2**48


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 700])
def test_bootstrap_draws_equal_drand48(size):
    values = np.random.default_rng(0).random((size, 2))
    expected = []
    for seed in (0, 1, 7):
        total = np.zeros(2)
        for number in drand48(seed, size):
            total += values[int(number * size)]
        expected.append(total)
    found = resampled_sums(values, range(8))[[0, 1, 7]]
    assert found.tolist() == np.array(expected).tolist()


def test_bootstrap_of_a_seed_range_is_a_slice():
    values = np.random.default_rng(1).random((20, 3))
    parts = [resampled_sums(values, range(0, 4)), resampled_sums(values, range(4, 10))]
    assert np.concatenate(parts).tolist() == resampled_sums(values, range(10)).tolist()


def test_script_order_sorts_numbers_as_strings():
    # Items 1, 10, 11, 12, 2, ..., 9, whose indices are one lower.
    assert script_order(12).tolist() == [0, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("samples", "confidence", "expected"),
    [
        (40, 95, (1, 38)),  # 2.5% of 40 is a whole number: no interpolation
        (100, 90, (5, 94)),
        (100, 95, (2.5, 96.5)),
        (10, 95, (0.75, 8.75)),  # low: a quarter of the way back from 1 to 0
        (4, 100, (0, 3)),
    ],
)
def test_interval_interpolates_between_samples(samples, confidence, expected):
    shuffled = np.random.default_rng(2).permutation(samples).astype(float)
    low, high = interval(shuffled[:, None], confidence)
    np.testing.assert_allclose([low[0], high[0]], expected)


def test_interval_of_two_samples_stays_between_them():
    low, high = interval(np.array([[1.0], [3.0]]), 95)
    assert (low[0], high[0]) == pytest.approx((2.9, 2.9))
