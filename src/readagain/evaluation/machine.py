"""Which machine a speed was measured on."""

import os
import platform
from pathlib import Path

from readagain.counts import counted


def describe_machine() -> str:
    """Name the processor and how many of its cores there are.

    >>> "core" in describe_machine()
    True
    """
    return f"{_processor() or platform.machine()}, {counted(os.cpu_count() or 1, 'core')}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""
