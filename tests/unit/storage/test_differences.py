"""Differences between settings, and their messages."""

from readagain.storage.differences import differences, join_first


def test_differences_yields_every_leaf():
    before = {"a": {"b": 1, "c": 2}, "d": 3}
    now = {"a": {"b": 1, "c": 5}, "e": 4}
    assert list(differences(before, now)) == [("a.c", 2, 5), ("d", 3, None), ("e", None, 4)]


def test_join_first_lists_three_and_counts_the_rest():
    assert join_first(["a", "b", "c"]) == "a; b; c"
    assert join_first(["a", "b", "c", "d", "e"]) == "a; b; c; 2 more"
