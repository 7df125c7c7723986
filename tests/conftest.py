"""Fixtures that several folders share."""

import subprocess
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long run of tests/faults be asked for."""
    parser.addoption("--kills", type=int, default=3, help="how often tests/faults kills each job")


@pytest.fixture
def readagain() -> Callable[..., CompletedProcess[str]]:
    """Run the command line in a process of its own, as a person would."""

    def run(*arguments: object, **options: object) -> "CompletedProcess[str]":
        command = [sys.executable, "-m", "readagain", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run
