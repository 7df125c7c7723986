"""Number of processors, and limits for threads and worker processes."""

import os
import platform
from pathlib import Path

from readagain.errors import ArgumentError, pluralize

MAX_PER_PROCESSOR = 4
"""Maximum number of threads or processes per processor, since thousands overload a machine."""


def num_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def num_threads(threads: int | None) -> int:
    """Return the number of threads to use, checked; None means one per processor."""
    if threads is None:
        return num_processors()
    check_parallelism("threads", threads)
    return threads


def check_parallelism(argument: str, number: int) -> None:
    """Raise an `ArgumentError` for less than one or too many threads or processes."""
    limit = MAX_PER_PROCESSOR * num_processors()
    if not 1 <= number <= limit:
        raise ArgumentError(
            f"{{{argument}}} is {{0}}; expected 1 to {{1}}, {{2}} per processor of this machine",
            number,
            limit,
            MAX_PER_PROCESSOR,
        )


def describe_machine() -> str:
    """Return the name of the processor and the number of cores.

    >>> "core" in describe_machine()
    True
    """
    return f"{_processor_name() or platform.machine()}, {pluralize(os.cpu_count() or 1, 'core')}"


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""
