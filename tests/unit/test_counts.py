"""Counts as people read them."""

from readagain.counts import counted


def test_format_count_uses_singular_for_one():
    assert [counted(number, "pair") for number in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]


def test_format_count_separates_thousands():
    assert counted(551062, "pair") == "551,062 pairs"


def test_format_count_accepts_irregular_plural():
    assert counted(1, "summary", "summaries") == "1 summary"
    assert counted(3, "summary", "summaries") == "3 summaries"
