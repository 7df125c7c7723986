"""Examples in docs/rouge.md and in docstrings."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "rouge.md"


@pytest.mark.parametrize("name", ["corpus", "options", "stemmer"])
def test_rouge_docstring_examples_are_correct(name):
    found = doctest.testmod(import_module(f"readagain.rouge.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_rouge_page_examples_are_correct():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0
