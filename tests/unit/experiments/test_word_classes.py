import pytest

from readagain.experiments.word_classes import FUNCTION_WORDS, word_class


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
def test_classes_are_what_people_would_say(form, expected):
    assert word_class(form) == expected


def test_function_words_are_in_the_form_that_models_see():
    assert all(word == word.lower() and word.split() == [word] for word in FUNCTION_WORDS)
