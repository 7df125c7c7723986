"""The script's bootstrap, draw for draw.

Sample s starts the C library's `drand48` from seed s and draws as many items as there are,
with replacement. All samples advance together here, one block of draws at a time, and sums
are taken in the order of the draws, so results agree to the last bit.
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
    """Draw a bootstrap sample of the rows of (I, C) values for each seed; return (R, C) sums.

    Rows must stand in the script's order (see `script_order`).
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
        for drawn in draws:
            sums += values.take(drawn, axis=0, out=rows, mode="clip")
    return sums


def script_order(ids: list[str]) -> NDArray[np.intp]:
    """Return the positions of items in the order in which the script draws from them.

    It sorts its evaluations by their ids as strings: 1, 10, 11, 2, ...
    """
    return np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)


def interval(sampled: Numbers, confidence: float) -> tuple[Numbers, Numbers]:
    """Return the ends of the confidence interval of every column of (R, ...) sampled figures.

    The script interpolates between neighbours in sorted order. At the lower end it does so with
    the fraction that belongs to the upper one, and so do we.
    """
    ordered = np.sort(sampled, axis=0)
    # In this order of operations, which decides where a whole number is missed by a hair.
    below = len(ordered) * ((100 - confidence) / 2) / 100
    above = len(ordered) - below
    fraction = above - math.floor(above)
    return (
        _between(ordered, math.floor(below), fraction),
        _between(ordered, math.floor(above) - 1, fraction),
    )


def _between(ordered: Numbers, place: int, fraction: float) -> Numbers:
    following = ordered[min(place + 1, len(ordered) - 1)]
    between: Numbers = ordered[place] + (following - ordered[place]) * fraction
    return between


def _steps_ahead(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Write the generator's state 1, 2, ..., count steps ahead as a * state + c, modulo 2 ** 48."""
    mask = int(_MODULUS_MASK)
    multiplier, increment = 1, 0
    steps = []
    for _ in range(count):
        multiplier = multiplier * _MULTIPLIER & mask
        increment = (increment * _MULTIPLIER + _INCREMENT) & mask
        steps.append((multiplier, increment))
    multipliers, increments = np.array(steps, dtype=np.uint64).T
    return multipliers, increments
