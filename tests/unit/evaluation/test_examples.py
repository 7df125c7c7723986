"""Examples of the documentation."""

import doctest
from pathlib import Path

from readagain import processors

PAGE = Path(__file__).parents[3] / "docs" / "evaluation.md"


def test_docstring_examples():
    found = doctest.testmod(processors)
    assert found.attempted > 0
    assert found.failed == 0


def test_page_examples():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
