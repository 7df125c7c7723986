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
def test_porter_examples_of_the_paper(word, expected):
    assert porter(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"), [("possibly", "possibl"), ("archaeology", "archaeolog")]
)
def test_porter_rules_added_later(word, expected):
    assert porter(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [("agreement", "agreem"), ("departmental", "depart"), ("inflationist", "inflationist")],
)
def test_stemmer_keeps_the_script_bug(word, expected):
    assert porter(word) == expected


def test_stemmer_keeps_a_double_y():
    assert porter("rtyyed") == "rtyi"  # a double y is kept, unlike the double p of hopped


def test_stemmer_uses_irregular_forms_first():
    assert [stem(word) for word in ("went", "mice", "best")] == ["go", "mouse", "good"]


def test_stemmer_keeps_words_of_three_letters():
    assert [stem(word) for word in ("was", "ate", "ios")] == ["was", "ate", "ios"]


def test_irregular_forms_are_complete_and_licensed():
    assert len(irregular_forms()) == 5593
    licence = files("readagain.rouge").joinpath("wordnet/LICENSE.txt").read_text("ascii")
    assert "WordNet 2.0 Copyright 2003 by Princeton University" in licence


@given(st.text("abcdeilnorstuyz0123456789", max_size=12))
def test_stem_is_a_prefix_of_the_word_or_similar(word):
    stemmed = porter(word)
    assert len(stemmed) <= len(word)
    assert stemmed[:-1] == word[: len(stemmed) - 1] or not stemmed
