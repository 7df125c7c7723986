"""How many processors there are to share work among, and how many threads they can take."""

import os

from readagain.errors import ArgumentError

MOST_PER_PROCESSOR = 4
"""Threads of one processor; more only wait for each other, and thousands bring a machine down."""


def num_processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def num_threads(asked: int | None) -> int:
    """Return how many threads to compute with: as many as asked for, or one for each processor.

    Raises:
        ArgumentError: for none, or for more than the processors here can take.
    """
    if asked is None:
        return num_processors()
    most = MOST_PER_PROCESSOR * num_processors()
    if not 1 <= asked <= most:
        raise ArgumentError(
            "{threads} is {0}; expected 1 to {1}, {2} for each processor here",
            asked,
            most,
            MOST_PER_PROCESSOR,
        )
    return asked
