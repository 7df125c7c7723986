"""The parser itself, which must be installed, and what it prints."""

import pytest

from readagain.classic import link_grammar
from readagain.classic.link_grammar import LinkParser, read_tree
from readagain.errors import MissingExtraError


@pytest.fixture
def parser():
    parser = LinkParser()
    yield parser
    parser.close()


def sent(sentence):
    return list(enumerate(sentence.split()))


def test_one_process_parses_sentence_after_sentence(parser):
    first = parser.parse(["The", "old", "bridge", "closes", "on", "Monday", "."])
    assert str(first).startswith("(S (NP the old bridge) (VP closes (PP on (NP monday)))")
    process = parser._process
    second = parser.parse(["A", "storm", "hit", "the", "harbour", "."])
    assert second.words[:5] == ("a", "storm", "hit", "the", "harbour")
    assert parser._process is process


def test_leaves_know_their_word_although_quotes_and_brackets_are_left_out(parser):
    words = ["``", "The", "ferry", "''", "-lrb-", "sank", "-rrb-", "."]
    assert parser.parse(words).places == (1, 2, 5, 7)


def test_masked_digits_are_sent_as_digits_and_initials_in_capitals(parser, monkeypatch):
    asked = []
    monkeypatch.setattr(parser, "_ask", asked.append)
    parser.parse(["the", "u.s.", "sent", "##.#", "tons", "to", "ghent."])
    assert asked == ["the U.S. sent 11.1 tons to ghent."]


def test_signs_that_would_be_commands_or_garble_the_tree_are_not_sent(parser, monkeypatch):
    asked = []
    monkeypatch.setattr(parser, "_ask", asked.append)
    parser.parse(["!help", "%", "the", "(", "old", ")", "{", "[", "ferry", '"', "sank", "!"])
    assert asked == ["the old ferry sank !"]


@pytest.mark.parametrize(
    "words", [[], [","], ["``", "''"], ["!", "--"], ["%"], ["!help"], ["\n", "\t"]]
)
def test_what_is_no_sentence_has_no_tree_and_is_no_command(parser, words):
    assert parser.parse(words) is None or parser.parse(words).places == (0,)
    assert parser.parse(["Rain", "fell", "."]) is not None


def test_only_the_beginning_of_a_very_long_sentence_is_parsed(parser, monkeypatch):
    monkeypatch.setattr(link_grammar, "MAX_WORDS", 4)
    assert (
        max(
            parser.parse(
                ["The", "storm", "hit", "Ghent", "and", "then", "it", "hit", "Lund", "."]
            ).places
        )
        == 3
    )


def test_a_parser_that_hangs_is_given_up_and_started_again(parser, monkeypatch):
    monkeypatch.setattr(link_grammar, "HARD_LIMIT_S", 0.1)
    command = parser._command
    parser._command = ("sleep", "600")
    assert parser.parse(["Rain", "fell"]) is None
    monkeypatch.undo()
    parser._command = command
    assert parser.parse(["Rain", "fell"]) is not None


def test_a_parser_that_dies_of_a_sentence_is_started_again(parser):
    command = parser._command
    parser._command = ("false",)
    assert parser.parse(["Rain", "fell"]) is None
    parser._command = command
    assert parser.parse(["Rain", "fell"]) is not None


def test_an_absent_parser_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    message = "'link-parser' is not installed; type: apt-get install link-grammar"
    with pytest.raises(MissingExtraError, match=message):
        LinkParser()


def test_what_is_written_behind_words_is_taken_off():
    printed = "Found 1\n(S (NP rain.n-u u.s{?}.n)\n   (VP fell.v-d as.#while {hard}))\n\n"
    tree = read_tree(printed, sent("rain u.s fell as hard"))
    assert str(tree) == "(S (NP rain u.s) (VP fell as hard))"
    assert [leaf.tag for leaf in tree.leaves] == ["n-u", "n", "v-d", "#while", ""]


def test_the_end_of_an_address_is_no_kind_of_word():
    tree = read_tree(
        "(S (NP Amazon.com{!} rain.n)\n   (VP fell.v))\n\n", sent("amazon.com rain fell")
    )
    assert [(leaf.word, leaf.tag) for leaf in tree.leaves] == [
        ("amazon.com", ""),
        ("rain", "n"),
        ("fell", "v"),
    ]


def test_a_word_that_was_taken_apart_keeps_one_place():
    tree = read_tree("(S (NP it 's.p) (VP fell.v))\n\n", sent("it's fell"))
    assert [(leaf.word, leaf.place) for leaf in tree.leaves] == [("it", 0), ("'s", 0), ("fell", 1)]


def test_words_that_the_tree_leaves_out_are_passed_over():
    tree = read_tree("(S (NP rain.n)\n   (VP fell.v))\n\n", sent("rain , it fell ."))
    assert tree.places == (0, 3)


@pytest.mark.parametrize(
    "printed",
    ["", "No complete linkages found.\n", "(S (NP rain)\n\n", "(S rain))\n\n", "(S (NP snow))\n\n"],
)
def test_what_is_no_tree_over_the_sentence_is_none(printed):
    assert read_tree(printed, sent("rain fell")) is None
