"""Digits for masked words."""

import pytest

from readagain.text.document import read_document, read_tokenized
from readagain.text.numbers import SourceNumbers

NUMBERS = SourceNumbers(
    read_document("A 17-year-old caught COVID-19 after 250 miles, 3.5m steps and a 4-day rest.")
)


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("covid-##", "COVID-19"),  # the same form
        ("##-year-old", "17-year-old"),
        ("##", "17"),  # an age
        ("###-mile", "250-mile"),  # a bare number
        ("#.#m", "3.5m"),
    ],
)
def test_numbers_fill_words_of_matching_shape(form, written):
    filled = NUMBERS.fill(form, ())
    assert filled is not None
    assert filled[0] == written
    assert NUMBERS.can_fill(form)


@pytest.mark.parametrize(
    "form",
    [
        "#",  # of a 4-day rest nothing is counted
        "#.#",
        "####",
        "sars-##",  # a name with a number in it has that number
        "t###",
        "##th",  # an age is no date
    ],
)
def test_numbers_do_not_fill_other_shapes(form):
    assert NUMBERS.fill(form, (0, 1, 2, 3)) is None
    assert not NUMBERS.can_fill(form)


def test_tokenized_text_provides_no_digits():
    assert not SourceNumbers(read_tokenized("## people left")).can_fill("##")
