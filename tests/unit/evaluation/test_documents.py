"""What the documentation shows is what happens."""

import doctest
from pathlib import Path

from readagain import processors

PAGE = Path(__file__).parents[3] / "docs" / "evaluation.md"


def test_the_examples_of_docstrings_hold():
    found = doctest.testmod(processors)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_examples_of_the_page_hold():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
