"""Counts as people read them."""

from readagain.counts import counted


def test_one_is_counted_without_an_s():
    assert [counted(number, "pair") for number in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]


def test_thousands_stand_apart():
    assert counted(551062, "pair") == "551,062 pairs"


def test_a_plural_of_its_own_is_given():
    assert counted(1, "summary", "summaries") == "1 summary"
    assert counted(3, "summary", "summaries") == "3 summaries"
