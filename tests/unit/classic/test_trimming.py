"""Each rule on a tree that was made for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.classic.tree import Leaf, Phrase
from readagain.classic.trimming import (
    lowest_leftmost_clause,
    remove_auxiliaries,
    remove_complementizers,
    remove_conjuncts,
    remove_determiners,
    remove_preposed_adjuncts,
    remove_relative_clauses,
    remove_time_expressions,
    remove_trailing_pps,
    remove_trailing_sbars,
    trim,
)


def words(phrase):
    return " ".join(phrase.words)


def test_of_what_is_said_and_who_says_it_the_first_is_chosen(tree):
    whole = tree("(S (S (NP rebels) (VP agree)) , (NP officials) (VP said))")
    assert words(lowest_leftmost_clause(whole)) == "rebels agree"


def test_a_relative_clause_further_down_is_not_chosen(tree):
    whole = tree("(S (NP (NP a man) (SBAR that (S (NP she) (VP knew)))) (VP left))")
    assert lowest_leftmost_clause(whole) is whole


def test_a_clause_before_the_main_one_is_not_chosen(tree):
    whole = tree("(S (SBAR when (S (NP rain) (VP fell))) , (NP he) (VP left))")
    assert lowest_leftmost_clause(whole) is whole


def test_without_a_clause_on_the_left_the_highest_one_is_chosen(tree):
    whole = tree("(S asked (PP (S (VP why)) (S (NP ferries) (VP sank))))")
    assert words(lowest_leftmost_clause(whole)) == "ferries sank"


def test_without_any_clause_the_whole_is_kept(tree):
    whole = tree("(NP (NP rain) (PP in (NP Ghent)))")
    assert lowest_leftmost_clause(whole) is whole


def test_what_stands_before_the_subject_goes(tree):
    clause = tree("(S (PP in (NP Ghent)) , (NP rain) (VP fell))")
    assert words(remove_preposed_adjuncts(clause)) == "rain fell"


def test_nothing_goes_where_there_is_no_subject(tree):
    clause = tree("(S (PP in (NP Ghent)) (VP rained))")
    assert remove_preposed_adjuncts(clause) == clause


def test_nothing_goes_where_a_verb_stands_first(tree):
    clause = tree("(S (VP came) (NP rain))")
    assert remove_preposed_adjuncts(clause) == clause


def test_articles_go_and_other_determiners_stay(tree):
    clause = tree("(S (NP the bridge) (VP had (NP (ADJP a narrow) lane) (NP no lamps)))")
    assert words(remove_determiners(clause)) == "bridge had narrow lane no lamps"


@pytest.mark.parametrize(
    "expression",
    ["(PP on (NP monday))", "(NP last week)", "(PP in (NP march 1987))", "(ADVP two days ago)"],
)
def test_expressions_of_time_go_with_their_preposition(tree, expression):
    clause = tree(f"(S (NP rain) (VP fell {expression}))")
    assert words(remove_time_expressions(clause)) == "rain fell"


def test_a_phrase_with_more_than_time_in_it_stays(tree):
    clause = tree("(S (NP rain) (VP fell (PP after (NP the friday market))))")
    assert remove_time_expressions(clause) == clause


def test_a_number_alone_is_no_time(tree):
    clause = tree("(S (NP 40) (VP came))")
    assert remove_time_expressions(clause) == clause


def test_the_that_which_opens_a_clause_goes(tree):
    clause = tree("(S (NP he) (VP said (SBAR that (S (NP that) (VP hurt)))))")
    assert words(remove_complementizers(clause)) == "he said that hurt"


def test_auxiliaries_go(tree):
    clause = tree("(S (NP rates) (VP may (VP be (VP cut))))")
    assert words(remove_auxiliaries(clause)) == "rates cut"


def test_a_name_that_is_spelled_like_an_auxiliary_stays():
    may, will = Leaf("may", 1, "f"), Leaf("will", 2, "v")
    clause = Phrase("S", (Phrase("NP", (Leaf("theresa", 0, "f"), may)), Phrase("VP", (will,))))
    assert words(remove_auxiliaries(clause)) == "theresa may"


def test_an_auxiliary_that_was_taken_for_a_noun_goes():
    clause = Phrase("S", (Leaf("league", 0, "n"), Leaf("will", 1, "n"), Leaf("vote", 2, "v")))
    assert words(remove_auxiliaries(clause)) == "league vote"


def test_relative_clauses_go_from_the_right(tree):
    clause = tree(
        "(S (NP (NP a man) (SBAR who (S (VP sang)))) (VP met (NP (NP a boy) , (NP his son) ,)))"
    )
    assert [words(cut) for cut in remove_relative_clauses(clause)] == [
        "a man who sang met a boy , ,",
        "a man met a boy , his son ,",
    ]


def test_of_phrases_that_are_joined_the_first_stays(tree):
    clause = tree("(S (NP (NP rain) and (NP hail)) (VP fell (PP on (NP Ghent or Lund))))")
    assert [words(cut) for cut in remove_conjuncts(clause)] == [
        "rain and hail fell on Ghent",
        "rain fell on Ghent or Lund",
    ]


def test_a_conjunction_that_joins_nothing_stays(tree):
    assert list(remove_conjuncts(tree("(S but (NP rain) (VP fell))"))) == []


def test_prepositional_phrases_go_from_the_end_and_the_deepest_first(tree):
    clause = tree("(S (NP rain) (VP fell (PP on (NP (NP roofs) (PP of (NP Ghent))))))")
    assert [words(cut) for cut in remove_trailing_pps(clause)] == [
        "rain fell on roofs",
        "rain fell",
    ]


def test_subordinate_clauses_go_from_the_end(tree):
    clause = tree("(S (NP he) (VP left (SBAR because (S (NP it) (VP rained)))))")
    assert [words(cut) for cut in remove_trailing_sbars(clause)] == ["he left"]


SENTENCE = (
    "(S (PP in (NP a storm)) , (NP (NP the ferry) (SBAR which (S (VP sank))))"
    " (VP had (VP left (PP on (NP monday)) (PP from (NP Ghent)) (PP for (NP Lund)))))"
)


def size(clause):
    return len(clause.places)


@pytest.mark.parametrize(
    ("max_size", "left"),
    [
        (20, "in storm , ferry which sank left from Ghent for Lund"),
        (9, "ferry which sank left from Ghent for Lund"),
        (6, "ferry left from Ghent for Lund"),
        (5, "ferry left from Ghent"),
        (2, "ferry left"),
    ],
)
def test_a_sentence_is_cut_no_further_than_needed(tree, max_size, left):
    assert words(trim(tree(SENTENCE), size, max_size=max_size)) == left


def test_a_cut_that_would_leave_too_little_is_passed_over(tree):
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
def test_what_is_left_of_any_tree_are_words_of_it(node, max_size, min_size):
    whole = node if isinstance(node, Phrase) else Phrase("S", (node,))
    left = trim(whole, lambda clause: len(clause.leaves), max_size=max_size, min_size=min_size)
    rest = iter(whole.words)
    assert all(word in rest for word in left.words)
