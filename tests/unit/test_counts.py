"""Plural forms in messages."""

from readagain.counts import pluralize


def test_pluralize_uses_singular_for_one():
    assert [pluralize(number, "pair") for number in (0, 1, 2)] == [
        "0 pairs",
        "1 pair",
        "2 pairs",
    ]


def test_pluralize_separates_thousands():
    assert pluralize(551062, "pair") == "551,062 pairs"


def test_pluralize_accepts_irregular_plural():
    assert pluralize(1, "summary", "summaries") == "1 summary"
    assert pluralize(3, "summary", "summaries") == "3 summaries"
