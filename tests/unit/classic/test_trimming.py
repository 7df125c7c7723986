"""Trimming rules on hand-made trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.classic.tree import Leaf, Phrase
from readagain.classic.trimming import (
    find_lowest_leftmost_clause,
    remove_articles,
    remove_auxiliaries,
    remove_complementizers,
    remove_preposed_adjuncts,
    remove_time_expressions,
    trim,
    try_without_conjunct,
    try_without_np_modifier,
    try_without_phrase,
)


def words(phrase):
    return " ".join(phrase.words)


def test_clause_before_attribution_is_found(tree):
    whole = tree("(S (S (NP rebels) (VP agree)) , (NP officials) (VP said))")
    assert words(find_lowest_leftmost_clause(whole)) == "rebels agree"


def test_relative_clause_is_not_found(tree):
    whole = tree("(S (NP (NP a man) (SBAR that (S (NP she) (VP knew)))) (VP left))")
    assert find_lowest_leftmost_clause(whole) is whole


def test_preposed_clause_is_not_found(tree):
    whole = tree("(S (SBAR when (S (NP rain) (VP fell))) , (NP he) (VP left))")
    assert find_lowest_leftmost_clause(whole) is whole


def test_highest_clause_is_found_off_the_left_path(tree):
    whole = tree("(S asked (PP (S (VP why)) (S (NP ferries) (VP sank))))")
    assert words(find_lowest_leftmost_clause(whole)) == "ferries sank"


def test_tree_without_clause_is_returned_whole(tree):
    whole = tree("(NP (NP rain) (PP in (NP Ghent)))")
    assert find_lowest_leftmost_clause(whole) is whole


def test_preposed_adjuncts_are_removed(tree):
    clause = tree("(S (PP in (NP Ghent)) , (NP rain) (VP fell))")
    assert words(remove_preposed_adjuncts(clause)) == "rain fell"


def test_preposed_adjuncts_stay_without_a_subject(tree):
    clause = tree("(S (PP in (NP Ghent)) (VP rained))")
    assert remove_preposed_adjuncts(clause) == clause


def test_preposed_adjuncts_stay_if_the_verb_is_first(tree):
    clause = tree("(S (VP came) (NP rain))")
    assert remove_preposed_adjuncts(clause) == clause


def test_only_articles_are_removed(tree):
    clause = tree("(S (NP the bridge) (VP had (NP (ADJP a narrow) lane) (NP no lamps)))")
    assert words(remove_articles(clause)) == "bridge had narrow lane no lamps"


@pytest.mark.parametrize(
    "expression",
    ["(PP on (NP monday))", "(NP last week)", "(PP in (NP march 1987))", "(ADVP two days ago)"],
)
def test_time_expressions_are_removed(tree, expression):
    clause = tree(f"(S (NP rain) (VP fell {expression}))")
    assert words(remove_time_expressions(clause)) == "rain fell"


def test_phrase_with_other_words_is_not_time(tree):
    clause = tree("(S (NP rain) (VP fell (PP after (NP the friday market))))")
    assert remove_time_expressions(clause) == clause


def test_number_alone_is_not_time(tree):
    clause = tree("(S (NP 40) (VP came))")
    assert remove_time_expressions(clause) == clause


def test_complementizer_that_is_removed(tree):
    clause = tree("(S (NP he) (VP said (SBAR that (S (NP that) (VP hurt)))))")
    assert words(remove_complementizers(clause)) == "he said that hurt"


def test_auxiliaries_are_removed(tree):
    clause = tree("(S (NP rates) (VP may (VP be (VP cut))))")
    assert words(remove_auxiliaries(clause)) == "rates cut"


def test_name_spelled_like_an_auxiliary_stays():
    may, will = Leaf("may", 1, "f"), Leaf("will", 2, "v")
    clause = Phrase("S", (Phrase("NP", (Leaf("theresa", 0, "f"), may)), Phrase("VP", (will,))))
    assert words(remove_auxiliaries(clause)) == "theresa may"


def test_auxiliary_tagged_as_noun_is_removed():
    clause = Phrase("S", (Leaf("league", 0, "n"), Leaf("will", 1, "n"), Leaf("vote", 2, "v")))
    assert words(remove_auxiliaries(clause)) == "league vote"


def test_np_modifiers_are_removed_from_the_right(tree):
    clause = tree(
        "(S (NP (NP a man) (SBAR who (S (VP sang)))) (VP met (NP (NP a boy) , (NP his son) ,)))"
    )
    assert [words(copy) for copy in try_without_np_modifier(clause)] == [
        "a man who sang met a boy , ,",
        "a man met a boy , his son ,",
    ]


def test_first_conjunct_stays(tree):
    clause = tree("(S (NP (NP rain) and (NP hail)) (VP fell (PP on (NP Ghent or Lund))))")
    assert [words(copy) for copy in try_without_conjunct(clause)] == [
        "rain and hail fell on Ghent",
        "rain fell on Ghent or Lund",
    ]


def test_initial_conjunction_stays(tree):
    assert list(try_without_conjunct(tree("(S but (NP rain) (VP fell))"))) == []


def test_inner_phrases_are_removed_before_outer_ones(tree):
    clause = tree("(S (NP rain) (VP fell (PP on (NP (NP roofs) (PP of (NP Ghent))))))")
    assert [words(copy) for copy in try_without_phrase(clause, "PP")] == [
        "rain fell on roofs",
        "rain fell",
    ]


def test_subordinate_clauses_are_removed(tree):
    clause = tree("(S (NP he) (VP left (SBAR because (S (NP it) (VP rained)))))")
    assert [words(copy) for copy in try_without_phrase(clause, "SBAR")] == ["he left"]


SENTENCE = (
    "(S (PP in (NP a storm)) , (NP (NP the ferry) (SBAR which (S (VP sank))))"
    " (VP had (VP left (PP on (NP monday)) (PP from (NP Ghent)) (PP for (NP Lund)))))"
)


def size(clause):
    return len(clause.positions)


@pytest.mark.parametrize(
    ("max_size", "expected"),
    [
        (20, "in storm , ferry which sank left from Ghent for Lund"),
        (9, "ferry which sank left from Ghent for Lund"),
        (6, "ferry left from Ghent for Lund"),
        (5, "ferry left from Ghent"),
        (2, "ferry left"),
    ],
)
def test_trim_stops_at_the_maximum_size(tree, max_size, expected):
    assert words(trim(tree(SENTENCE), size, max_size=max_size, min_size=1)) == expected


def test_trim_skips_removals_below_the_minimum_size(tree):
    assert words(trim(tree(SENTENCE), size, max_size=5, min_size=4)) == "ferry left from Ghent"
    assert size(trim(tree(SENTENCE), size, max_size=3, min_size=3)) == 4


LABELS = st.sampled_from(["S", "NP", "VP", "PP", "SBAR", "ADVP"])
WORDS = st.sampled_from(["rain", "the", "and", "monday", "may", "that", ",", "of", "fell"])
TREES = st.recursive(
    WORDS.map(lambda word: Leaf(word, 0)),
    lambda nodes: st.builds(Phrase, LABELS, st.lists(nodes, min_size=1, max_size=4).map(tuple)),
    max_leaves=12,
)


@given(TREES, st.integers(0, 12), st.integers(0, 12))
def test_trim_keeps_words_and_their_order(node, max_size, min_size):
    whole = node if isinstance(node, Phrase) else Phrase("S", (node,))
    trimmed = trim(whole, lambda clause: len(clause.leaves), max_size=max_size, min_size=min_size)
    words_in_order = iter(whole.words)
    assert all(word in words_in_order for word in trimmed.words)
