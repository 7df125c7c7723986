"""Word classes."""

import pytest

from readagain.experiments.importance import word_class


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("the", "function"),
        ("'s", "function"),
        ("of", "function"),
        ("n't", "function"),
        ("aeronautics", "content"),
        ("resettled", "content"),
        ("##-year-old", "content"),
        ("u.s.", "content"),
        ("###,###", "number"),
        ("##.#", "number"),
        ("-lrb-", "sign"),
        ("``", "sign"),
        ("--", "sign"),
    ],
)
def test_word_class(norm, expected):
    assert word_class(norm) == expected
