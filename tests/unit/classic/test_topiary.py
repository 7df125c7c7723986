"""TOPIARY headlines from hand-made trees, and their byte limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.classic.topiary import Topics, topiary_headline
from readagain.classic.tree import Leaf, Phrase
from readagain.text.document import read_document, read_tokenized

TEXT = "The old ferry sank off Ghent, and the harbour was closed. A zeppelin came."
BRACKETS = (
    "(S (S (NP the old ferry) (VP sank (PP off (NP Ghent)))) , and (S (NP the harbour)"
    " (VP was (VP closed))) .)"
)
VOCABULARY = ["came", "closed", "ferry", "harbour"]


class FixedParser:
    """Parser that always returns the same tree."""

    def __init__(self, tree):
        self.tree = tree

    def parse(self, words):
        return self.tree

    def close(self):
        pass


def write_headline(tree, max_bytes, document):
    return topiary_headline(document, FixedParser(tree), Topics(VOCABULARY), max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("max_bytes", "expected"),
    [
        (75, "zeppelin harbour closed came old ferry sank off Ghent"),
        (45, "zeppelin harbour old ferry sank off Ghent"),
        (34, "zeppelin old ferry sank off Ghent"),
        (33, "zeppelin old ferry sank off Ghent"),
        (32, "harbour old ferry sank off Ghent"),
        (24, "Ghent old ferry sank"),
    ],
)
def test_topics_precede_clause_best_first(tree, max_bytes, expected):
    headline = write_headline(tree(BRACKETS), max_bytes, read_document(TEXT))
    assert headline.text == expected
    assert headline.is_parsed


def test_full_clause_is_trimmed_for_a_topic(tree):
    clause = "(S (NP old ferry) (VP sank (PP off (NP Ghent))))"
    text = "Old ferry sank off Ghent. Zeppelin."
    assert write_headline(tree(clause), 24, read_document(text)).text == "Ghent Old ferry sank"


def test_topics_do_not_repeat_stems_of_the_clause(tree):
    text = "The ferry sank. Ferries sink."
    clause = tree("(S (NP the ferry) (VP sank) .)")
    assert write_headline(clause, 75, read_document(text)).text == "ferry sank"


def test_unparsed_sentence_is_truncated_and_marked():
    headline = write_headline(None, 30, read_document(TEXT))
    assert headline.text == "came old ferry sank off Ghent"
    assert not headline.is_parsed


def test_tokenized_text_is_joined_by_spaces(tree):
    document = read_tokenized("the ferry did n't sink , UNK said .")
    clause = tree("(S (NP the ferry) (VP did n't sink) , UNK said .)")
    assert write_headline(clause, 75, document).text == "ferry n't sink UNK said"


def test_topiary_of_empty_text_is_empty():
    assert write_headline(None, 75, read_document("")).text == ""


WORDS = st.sampled_from(
    ["rain", "Élan", "the", ",", "and", "3.5", "don't", "naïveté", "\U0001f600"]
)


@given(st.lists(WORDS, max_size=20), st.integers(0, 80), st.booleans(), st.integers(1, 6))
def test_topiary_keeps_the_byte_limit(words, max_bytes, is_tokenized, width):
    text = " ".join(words)
    document = (read_tokenized if is_tokenized else read_document)(text)
    sentence = document.sentences[0] if document.sentences else ()
    leaves = [Leaf(word.norm, position) for position, word in enumerate(sentence)]
    phrases = [
        Phrase(("NP", "VP", "PP", "SBAR")[start % 4], tuple(leaves[start : start + width]))
        for start in range(0, len(leaves), width)
    ]
    headline = write_headline(Phrase("S", tuple(phrases)), max_bytes, document)
    assert len(headline.text.encode()) <= max_bytes
