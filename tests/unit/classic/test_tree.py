from readagain.classic.tree import Leaf, Phrase, remove_by_identity, remove_nodes


def test_tree_words_and_positions_are_in_order(tree):
    whole = tree("(S (NP the rain) (VP fell (PP on (NP Ghent))))")
    assert whole.words == ("the", "rain", "fell", "on", "Ghent")
    assert whole.positions == (0, 1, 2, 3, 4)


def test_tree_positions_are_distinct():
    whole = Phrase("S", (Leaf("1990", 0), Leaf("s", 0), Leaf("music", 1)))
    assert whole.positions == (0, 1)


def test_empty_phrases_are_removed(tree):
    whole = tree("(S (NP rain) (PP on (NP Monday)))")
    trimmed = remove_nodes(whole, lambda node: isinstance(node, Leaf) and node.position > 0)
    assert str(trimmed) == "(S (NP rain))"


def test_remove_by_identity_keeps_equal_nodes():
    # The parser split one word into three leaves, two of which are equal.
    whole = Phrase("S", (Leaf("bye", 0), Leaf("-", 0), Leaf("bye", 0)))
    assert str(remove_by_identity(whole, [whole.children[2]])) == "(S bye -)"


def test_removal_does_not_change_the_original(tree):
    whole = tree("(S (NP rain) (VP fell))")
    remove_by_identity(whole, [whole.children[0]])
    assert str(whole) == "(S (NP rain) (VP fell))"


def test_walk_from_right_yields_children_first(tree):
    whole = tree("(S (NP rain) (VP fell (PP on (NP Ghent))))")
    labels = [phrase.label for phrase in whole.walk_from_right()]
    assert labels == ["NP", "PP", "VP", "NP", "S"]
