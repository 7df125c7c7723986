"""Fixtures that several folders share."""

import subprocess
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest


@pytest.fixture
def readagain() -> Callable[..., CompletedProcess[str]]:
    """Run the command line in a process of its own, as a person would."""

    def run(*arguments: object, **options: object) -> "CompletedProcess[str]":
        command = [sys.executable, "-m", "readagain", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run
