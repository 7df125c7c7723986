"""`LinkParser`, and `read_tree` with output written by hand."""

import pytest
from programs import require_programs

from readagain.classic import link_grammar
from readagain.classic.link_grammar import LinkParser, read_tree
from readagain.errors import MissingExtraError


@pytest.fixture
def parser():
    require_programs("link-parser")
    parser = LinkParser()
    yield parser
    parser.close()


def inputs(sentence):
    """Return the words with their positions."""
    return list(enumerate(sentence.split()))


def test_parser_process_handles_many_sentences(parser):
    first = parser.parse(["The", "old", "bridge", "closes", "on", "Monday", "."])
    assert str(first).startswith("(S (NP the old bridge) (VP closes (PP on (NP monday)))")
    process = parser._process
    second = parser.parse(["A", "storm", "hit", "the", "harbour", "."])
    assert second.words[:5] == ("a", "storm", "hit", "the", "harbour")
    assert parser._process is process


def test_leaves_have_word_positions_without_quotes(parser):
    words = ["``", "The", "ferry", "''", "-lrb-", "sank", "-rrb-", "."]
    assert parser.parse(words).positions == (1, 2, 5, 7)


def test_digits_and_initials_are_respelled_for_parser(parser, monkeypatch):
    queries = []
    monkeypatch.setattr(parser, "_query", queries.append)
    parser.parse(["the", "u.s.", "sent", "##.#", "tons", "to", "ghent."])
    assert queries == ["the U.S. sent 11.1 tons to ghent."]


def test_commands_quotes_and_brackets_are_not_sent(parser, monkeypatch):
    queries = []
    monkeypatch.setattr(parser, "_query", queries.append)
    parser.parse(["!help", "%", "the", "(", "old", ")", "{", "[", "ferry", '"', "sank", "!"])
    assert queries == ["the old ferry sank !"]


@pytest.mark.parametrize(
    "words", [[], [","], ["``", "''"], ["!", "--"], ["%"], ["!help"], ["\n", "\t"]]
)
def test_text_without_words_has_no_tree(parser, words):
    assert parser.parse(words) is None
    assert parser.parse(["Rain", "fell", "."]) is not None


def test_long_sentence_is_truncated_before_parsing(parser, monkeypatch):
    monkeypatch.setattr(link_grammar, "MAX_WORDS", 4)
    tree = parser.parse(["The", "storm", "hit", "Ghent", "and", "then", "it", "hit", "Lund", "."])
    assert max(tree.positions) == 3


def test_hanging_parser_is_restarted(parser, monkeypatch):
    monkeypatch.setattr(link_grammar, "PROCESS_TIMEOUT_S", 0.1)
    command = parser._command
    parser._command = ("sleep", "600")
    assert parser.parse(["Rain", "fell"]) is None
    monkeypatch.undo()
    parser._command = command
    assert parser.parse(["Rain", "fell"]) is not None


def test_crashed_parser_is_restarted(parser):
    command = parser._command
    parser._command = ("false",)
    assert parser.parse(["Rain", "fell"]) is None
    parser._command = command
    assert parser.parse(["Rain", "fell"]) is not None


def test_missing_parser_error_has_the_install_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    message = "'link-parser' is not installed; type: apt-get install link-grammar"
    with pytest.raises(MissingExtraError, match=message):
        LinkParser()


def test_word_suffixes_are_stripped():
    output = "Found 1\n(S (NP rain.n-u u.s{?}.n)\n   (VP fell.v-d as.#while {hard}))\n\n"
    tree = read_tree(output, inputs("rain u.s fell as hard"))
    assert str(tree) == "(S (NP rain u.s) (VP fell as hard))"
    assert [leaf.tag for leaf in tree.leaves] == ["n-u", "n", "v-d", "#while", ""]


def test_domain_suffix_is_not_a_tag():
    tree = read_tree(
        "(S (NP Amazon.com{!} rain.n)\n   (VP fell.v))\n\n", inputs("amazon.com rain fell")
    )
    assert [(leaf.word, leaf.tag) for leaf in tree.leaves] == [
        ("amazon.com", ""),
        ("rain", "n"),
        ("fell", "v"),
    ]


def test_split_word_keeps_one_position():
    tree = read_tree("(S (NP it 's.p) (VP fell.v))\n\n", inputs("it's fell"))
    assert [(leaf.word, leaf.position) for leaf in tree.leaves] == [
        ("it", 0),
        ("'s", 0),
        ("fell", 1),
    ]


def test_words_missing_from_the_tree_are_skipped():
    tree = read_tree("(S (NP rain.n)\n   (VP fell.v))\n\n", inputs("rain , it fell ."))
    assert tree.positions == (0, 3)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "No complete linkages found.\n",
        "(S (NP rain)\n\n",
        "(S rain))\n\n",
        "(S (NP snow))\n\n",
        "(S (NP rain) (VP fell .n))\n\n",  # a tag without a word, after the last input word
    ],
)
def test_read_tree_returns_none_for_invalid_output(output):
    assert read_tree(output, inputs("rain fell")) is None
