"""Examples in docs/rouge.md and in docstrings."""

import doctest
from importlib import import_module

import pytest
from page_examples import run_page_examples


@pytest.mark.parametrize("name", ["corpus", "options", "stemmer"])
def test_rouge_docstring_examples_are_correct(name):
    found = doctest.testmod(import_module(f"readagain.rouge.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_rouge_page_examples_are_correct():
    found = run_page_examples("rouge.md")
    assert found.attempted > 0
    assert found.failed == 0
