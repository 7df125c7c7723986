"""What differs between settings, and how it is told."""

from readagain.storage.differences import differences, first_few


def test_every_leaf_that_differs_is_named_and_a_missing_one_is_none():
    before = {"a": {"b": 1, "c": 2}, "d": 3}
    now = {"a": {"b": 1, "c": 5}, "e": 4}
    assert list(differences(before, now)) == [("a.c", 2, 5), ("d", 3, None), ("e", None, 4)]


def test_the_first_three_are_told_and_the_others_counted():
    assert first_few(["a", "b", "c"]) == "a; b; c"
    assert first_few(["a", "b", "c", "d", "e"]) == "a; b; c; 2 more"
