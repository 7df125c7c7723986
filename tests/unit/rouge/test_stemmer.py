"""Stems: irregular forms first, then Porter's rules with the script's additions."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.rouge.stemmer import irregular_forms, porter, stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("conditional", "condit"),
        ("triplicate", "triplic"),
        ("hopefulness", "hope"),
        ("adoption", "adopt"),
        ("probate", "probat"),
        ("cease", "ceas"),
        ("controll", "control"),
        ("roll", "roll"),
    ],
)
def test_the_examples_of_porters_paper(word, expected):
    assert porter(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"), [("possibly", "possibl"), ("archaeology", "archaeolog")]
)
def test_the_two_rules_that_porter_added_later(word, expected):
    assert porter(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("agreement", "agreem"), ("departmental", "depart"), ("inflationist", "inflationist")],
)
def test_suffixes_that_the_script_strips_after_another(word, expected):
    assert porter(word) == expected


def test_a_double_y_stays_double():
    assert porter("rtyyed") == "rtyi"  # hopp(ed) loses a p, rtyy(ed) no y


def test_irregular_forms_come_first():
    assert [stem(word) for word in ("went", "mice", "best")] == ["go", "mouse", "good"]


def test_words_of_three_letters_stay():
    assert [stem(word) for word in ("was", "ate", "ios")] == ["was", "ate", "ios"]


def test_the_irregular_forms_are_all_there_with_their_licence():
    assert len(irregular_forms()) == 5593
    licence = files("readagain.rouge").joinpath("wordnet/LICENSE.txt").read_text("ascii")
    assert "WordNet 2.0 Copyright 2003 by Princeton University" in licence


@given(st.text("abcdeilnorstuyz0123456789", max_size=12))
def test_a_stem_is_never_longer_than_the_word_and_shares_its_start(word):
    stemmed = porter(word)
    assert len(stemmed) <= len(word)
    assert stemmed[:-1] == word[: len(stemmed) - 1] or not stemmed
