"""Bootstrap resampling with the random numbers of the Perl script ROUGE-1.5.5.

For sample number s the script seeds `drand48`, the random numbers of the C library, with s and
draws N of the N items with replacement. Here all samples are drawn side by side as arrays. The
values are added in the order of the draws, so every sum equals the script's bit for bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from readagain.rouge.scores import Numbers

# Constants of `drand48`: next state = (multiplier * state + increment) mod 2 ** 48.
_MULTIPLIER, _INCREMENT = 0x5DEECE66D, 0xB
_STATE_MASK = (1 << 48) - 1
# The seed is the upper 32 bits of the first state; these are the lower 16 bits.
_SEED_LOW_BITS = 0x330E
_DRAWS_PER_BLOCK = 256
"""Number of draws of each sample that are computed at once, to bound memory."""


def resampled_sums(values: Numbers, seeds: range) -> Numbers:
    """Draw a bootstrap sample of the items for each seed and return its sum.

    Args:
        values: (N, C) values of N items, in the script's order (see `script_order`).
        seeds: R seeds, one for each bootstrap sample.

    Returns:
        (R, C) sums.
    """
    num_items = len(values)
    sums = np.zeros((len(seeds), values.shape[1]))  # (R, C)
    drawn_values = np.empty_like(sums)  # (R, C), reused for every draw
    states = (np.array(seeds, dtype=np.uint64) << np.uint64(16)) + np.uint64(_SEED_LOW_BITS)  # (R,)
    multipliers, increments = _steps_ahead(min(_DRAWS_PER_BLOCK, num_items))
    for start in range(0, num_items, _DRAWS_PER_BLOCK):
        size = min(_DRAWS_PER_BLOCK, num_items - start)
        next_states = multipliers[:size, None] * states + increments[:size, None]  # (size, R)
        next_states &= np.uint64(_STATE_MASK)
        states = next_states[-1]
        draws = (next_states * 2.0**-48 * num_items).astype(np.intp)  # (size, R)
        for items in draws:
            sums += values.take(items, axis=0, out=drawn_values, mode="clip")
    return sums


def script_order(num_items: int) -> NDArray[np.intp]:
    """Return the indices of the items in the script's order.

    The script numbers the items from 1 and sorts the numbers as strings: 1, 10, 11, 2.
    """
    return np.array(sorted(range(num_items), key=lambda index: str(index + 1)), dtype=np.intp)


def interval(sampled: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """Return the lower and upper ends of the confidence intervals of (R, ...) sampled scores.

    Each end is interpolated linearly between two of the R sorted scores. As in the script, the
    interpolation weight of the upper end is also used for the lower end.
    The confidence level is in percent.
    """
    ordered = np.sort(sampled, axis=0)
    # Keep this order of operations: another one rounds differently near whole numbers.
    lower_rank = len(ordered) * ((100 - confidence) / 2) / 100
    upper_rank = len(ordered) - lower_rank
    weight = upper_rank - math.floor(upper_rank)
    return (
        _interpolate(ordered, math.floor(lower_rank), weight),
        _interpolate(ordered, math.floor(upper_rank) - 1, weight),
    )


def _interpolate(ordered: Numbers, index: int, weight: float) -> Numbers:
    """Return the values between `index` and `index + 1`; the weight is that of `index + 1`."""
    following = ordered[min(index + 1, len(ordered) - 1)]
    interpolated: Numbers = ordered[index] + (following - ordered[index]) * weight
    return interpolated


def _steps_ahead(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return multipliers and increments that skip 1, 2, ..., `count` steps of the generator.

    The state k steps ahead is (multipliers[k - 1] * state + increments[k - 1]) mod 2 ** 48.
    """
    multiplier, increment = 1, 0
    steps = []
    for _ in range(count):
        multiplier = multiplier * _MULTIPLIER & _STATE_MASK
        increment = (increment * _MULTIPLIER + _INCREMENT) & _STATE_MASK
        steps.append((multiplier, increment))
    multipliers, increments = np.array(steps, dtype=np.uint64).T
    return multipliers, increments
