"""Examples in docstrings and in docs/text.md."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

MODULES = [
    "article",
    "document",
    "normalization",
    "part_of_speech",
    "sentences",
    "tokenizer",
    "truecasing",
    "vocab",
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_correct(name):
    results = doctest.testmod(import_module(f"readagain.text.{name}"))
    assert results.attempted > 0
    assert results.failed == 0


def test_text_page_examples_are_correct():
    page = Path(__file__).parents[3] / "docs" / "text.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0
