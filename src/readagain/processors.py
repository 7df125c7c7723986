"""How many processors there are to share work among, and what shares them at most."""

import os
import platform
from pathlib import Path

from readagain.counts import counted
from readagain.errors import ArgumentError

MOST_PER_PROCESSOR = 4
"""Threads, or processes, of one processor; more only wait for each other, and thousands bring a
machine down."""


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
    check_shared("threads", asked)
    return asked


def check_shared(name: str, asked: int) -> None:
    """Check that the processors here can be shared by so many.

    Args:
        name: of the argument that asks for them.
        asked: how many threads or processes.

    Raises:
        ArgumentError: for none, or too many.
    """
    most = MOST_PER_PROCESSOR * num_processors()
    if not 1 <= asked <= most:
        raise ArgumentError(
            f"{{{name}}} is {{0}}; expected 1 to {{1}}, {{2}} for each processor here",
            asked,
            most,
            MOST_PER_PROCESSOR,
        )


def describe_machine() -> str:
    """Return the name of the processor and its number of cores.

    >>> "core" in describe_machine()
    True
    """
    return f"{_processor_name() or platform.machine()}, {counted(os.cpu_count() or 1, 'core')}"


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""
