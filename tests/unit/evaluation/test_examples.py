"""Examples of the documentation."""

import doctest

from page_examples import run_page_examples

from readagain import processors


def test_docstring_examples():
    found = doctest.testmod(processors)
    assert found.attempted > 0
    assert found.failed == 0


def test_page_examples():
    found = run_page_examples("evaluation.md")
    assert found.attempted > 0
    assert found.failed == 0
