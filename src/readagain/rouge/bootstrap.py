"""Bootstrap resampling with the random numbers of the Perl script ROUGE-1.5.5.

Sample s seeds the C library's `drand48` with s and draws N of the N items with replacement. All
samples are computed at once, in blocks of draws. Values are added in the order of the draws, so the
results equal those of the script bit for bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.scores import Numbers

_MULTIPLIER, _INCREMENT, _SEED_LOW_BITS = 0x5DEECE66D, 0xB, 0x330E
_MODULUS_MASK = np.uint64((1 << 48) - 1)
_UNIT = 2.0**-48
_BLOCK = 256


def resampled_sums(values: Numbers, seeds: range) -> Numbers:
    """Return the sum of a bootstrap sample of the rows for each seed.

    Args:
        values: (N, C) values of N items, in the script's order (see `script_order`).
        seeds: R seeds.

    Returns:
        (R, C) sums.
    """
    num_items = len(values)
    sums = np.zeros((len(seeds), values.shape[1]))
    rows = np.empty_like(sums)
    states = (np.array(seeds, dtype=np.uint64) << np.uint64(16)) + np.uint64(_SEED_LOW_BITS)
    multipliers, increments = _steps_ahead(min(_BLOCK, num_items))
    for start in range(0, num_items, _BLOCK):
        size = min(_BLOCK, num_items - start)
        block = (multipliers[:size, None] * states + increments[:size, None]) & _MODULUS_MASK
        states = block[-1]
        draws = (block * _UNIT * num_items).astype(np.intp)  # (size, R)
        for items in draws:
            sums += values.take(items, axis=0, out=rows, mode="clip")
    return sums


def script_order(ids: list[str]) -> NDArray[np.intp]:
    """Return the indices of items in the script's order, sorted by id as strings: 1, 10, 11, 2."""
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)


def interval(sampled: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """Return the confidence interval of every column of (R, ...) sampled scores.

    Like the script, it interpolates linearly between sorted values, and uses the interpolation
    weight of the upper end for the lower end too.
    """
    ordered = np.sort(sampled, axis=0)
    # Keep this order of operations: another one rounds differently near whole numbers.
    below = len(ordered) * ((100 - confidence) / 2) / 100
    above = len(ordered) - below
    fraction = above - math.floor(above)
    return (
        _between(ordered, math.floor(below), fraction),
        _between(ordered, math.floor(above) - 1, fraction),
    )


def _between(ordered: Numbers, index: int, fraction: float) -> Numbers:
    following = ordered[min(index + 1, len(ordered) - 1)]
    between: Numbers = ordered[index] + (following - ordered[index]) * fraction
    return between


def _steps_ahead(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return a, c such that a * state + c mod 2 ** 48 is the state 1, 2, ..., count steps ahead."""
    mask = int(_MODULUS_MASK)
    multiplier, increment = 1, 0
    steps = []
    for _ in range(count):
        multiplier = multiplier * _MULTIPLIER & mask
        increment = (increment * _MULTIPLIER + _INCREMENT) & mask
        steps.append((multiplier, increment))
    multipliers, increments = np.array(steps, dtype=np.uint64).T
    return multipliers, increments
