"""Digits of source numbers for generated words."""

import pytest

from readagain.text.document import read_document, read_tokenized
from readagain.text.numbers import SourceNumbers

NUMBERS = SourceNumbers(
    read_document("A 17-year-old caught COVID-19 after 250 miles, 3.5m steps and a 4-day rest.")
)


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("covid-##", "COVID-19"),  # the same norm
        ("##-year-old", "17-year-old"),
        ("##", "17"),  # an age
        ("###-mile", "250-mile"),  # a plain number
        ("#.#m", "3.5m"),
    ],
)
def test_fitting_number_fills_the_word(norm, expected):
    filled = NUMBERS.fill(norm, ())
    assert filled is not None
    assert filled[0] == expected
    assert NUMBERS.can_fill(norm)


@pytest.mark.parametrize(
    "norm",
    [
        "#",  # "4-day" is neither a number nor an age
        "#.#",
        "####",
        "sars-##",  # digits inside a name are not used
        "t###",
        "##th",  # an age fills only plain numbers
    ],
)
def test_word_without_fitting_number_is_not_filled(norm):
    assert NUMBERS.fill(norm, (0, 1, 2, 3)) is None
    assert not NUMBERS.can_fill(norm)


def test_tokenized_text_provides_no_digits():
    assert not SourceNumbers(read_tokenized("## people left")).can_fill("##")
