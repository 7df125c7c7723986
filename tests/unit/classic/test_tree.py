from readagain.classic.tree import Leaf, Phrase, without, without_node


def test_tree_words_and_positions_are_in_order(tree):
    whole = tree("(S (NP the rain) (VP fell (PP on (NP Ghent))))")
    assert whole.words == ("the", "rain", "fell", "on", "Ghent")
    assert whole.positions == (0, 1, 2, 3, 4)


def test_tree_positions_are_distinct():
    whole = Phrase("S", (Leaf("1990", 0), Leaf("s", 0), Leaf("music", 1)))
    assert whole.positions == (0, 1)


def test_empty_phrases_are_removed(tree):
    whole = tree("(S (NP rain) (PP on (NP Monday)))")
    remaining = without(whole, lambda node: isinstance(node, Leaf) and node.position > 0)
    assert str(remaining) == "(S (NP rain))"


def test_without_node_removes_by_identity():
    # Two equal parts of a word that the parser split are different nodes.
    whole = Phrase("S", (Leaf("bye", 0), Leaf("-", 0), Leaf("bye", 0)))
    assert str(without_node(whole, whole.children[2])) == "(S bye -)"


def test_without_does_not_change_the_tree(tree):
    whole = tree("(S (NP rain) (VP fell))")
    without_node(whole, whole.children[0])
    assert str(whole) == "(S (NP rain) (VP fell))"
