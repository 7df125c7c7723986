import pytest

from readagain.experiments.importance import word_class


@pytest.mark.parametrize(
    ("form", "expected"),
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
def test_word_class(form, expected):
    assert word_class(form) == expected
