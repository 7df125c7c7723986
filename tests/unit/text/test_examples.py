"""The examples in docstrings and in docs/text.md are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

MODULES = ["document", "extended", "normalize", "sentences", "tagging", "tokenize", "typography"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    results = doctest.testmod(import_module(f"readagain.text.{name}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_examples_in_the_page_about_text_are_true():
    page = Path(__file__).parents[3] / "docs" / "text.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
