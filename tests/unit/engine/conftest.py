"""Fixtures: the model `toy` of tests/assets, graphs with random weights, so no torch is needed."""

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
    """Return a copy of the model that a test may change."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


@pytest.fixture(scope="session")
def summarizer():
    return Summarizer.load(TOY, threads=1)
