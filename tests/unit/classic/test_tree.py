from readagain.classic.tree import Leaf, Phrase, without, without_node


def test_words_and_places_are_read_from_left_to_right(tree):
    whole = tree("(S (NP the rain) (VP fell (PP on (NP Ghent))))")
    assert whole.words == ("the", "rain", "fell", "on", "Ghent")
    assert whole.places == (0, 1, 2, 3, 4)


def test_a_word_that_the_parser_took_apart_has_one_place():
    whole = Phrase("S", (Leaf("1990", 0), Leaf("s", 0), Leaf("music", 1)))
    assert whole.places == (0, 1)


def test_a_phrase_that_loses_all_it_held_goes_with_it(tree):
    whole = tree("(S (NP rain) (PP on (NP Monday)))")
    left = without(whole, lambda node: isinstance(node, Leaf) and node.place > 0)
    assert str(left) == "(S (NP rain))"


def test_one_node_is_cut_and_its_like_stays():
    # Two halves of one word that the parser took apart are equal, and are two nodes.
    whole = Phrase("S", (Leaf("bye", 0), Leaf("-", 0), Leaf("bye", 0)))
    assert str(without_node(whole, whole.children[2])) == "(S bye -)"


def test_the_tree_that_was_cut_is_as_it_was(tree):
    whole = tree("(S (NP rain) (VP fell))")
    without_node(whole, whole.children[0])
    assert str(whole) == "(S (NP rain) (VP fell))"
