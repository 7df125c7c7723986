"""What several of the system tests start from."""

import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_example(name: str, *arguments: object) -> "CompletedProcess[str]":
    """Run one of the examples as a person would."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def trained_example(tmp_path_factory) -> "tuple[Path, CompletedProcess[str]]":
    """Train as examples/train_on_own_pairs.py does, once: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("example") / "work"
    return folder, run_example("train_on_own_pairs.py", folder)


@pytest.fixture
def example():
    """Run one of the examples by its name."""
    return run_example
