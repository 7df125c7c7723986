"""Fixtures that run the example scripts."""

import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_example(name: str, *arguments: object, **environment: str) -> "CompletedProcess[str]":
    """Run a script of `examples/` in a new process, with additional environment variables."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="session")
def trained_example(tmp_path_factory) -> "tuple[Path, CompletedProcess[str]]":
    """Output folder and finished process of examples/train_on_own_pairs.py, run once."""
    folder = tmp_path_factory.mktemp("example") / "work"
    return folder, run_example("train_on_own_pairs.py", folder)


@pytest.fixture
def example():
    """Function that runs a script of `examples/` by name."""
    return run_example
