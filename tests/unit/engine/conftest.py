"""Fixtures with the model `toy` of tests/assets, whose graphs have random weights."""

import shutil
from pathlib import Path

import pytest

from readagain.engine.summarizer import Summarizer

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.fixture(scope="session")
def toy():
    """Return the directory of the model."""
    return TOY


@pytest.fixture
def toy_copy(tmp_path):
    """Return a copy of the model directory that a test may change."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


@pytest.fixture(scope="session")
def summarizer():
    """Return a summarizer with the model."""
    return Summarizer.load(TOY, threads=1)
