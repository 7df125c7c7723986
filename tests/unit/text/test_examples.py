"""Examples in docstrings, in docs/text.md and in docs/languages.md."""

import doctest
from importlib import import_module

import pytest
from page_examples import run_page_examples

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


@pytest.mark.parametrize("name", ["text.md", "languages.md"])
def test_page_examples_are_correct(name):
    results = run_page_examples(name)
    assert results.attempted > 0
    assert results.failed == 0
