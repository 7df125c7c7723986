"""The toy model of tests/assets: random weights behind real graphs, so no torch is needed."""

import shutil
from pathlib import Path

import pytest

from readagain.engine.summarizer import Summarizer

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.fixture(scope="session")
def toy():
    return TOY


@pytest.fixture
def toy_copy(tmp_path):
    """A copy that a test may damage."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


@pytest.fixture(scope="session")
def summarizer():
    return Summarizer.load(TOY, threads=1)
