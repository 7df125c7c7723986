"""Baselines prefix and lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ArgumentError
from readagain.evaluation.systems import Lead, Prefix, load_system

LONG = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november"


def texts_of(system, texts, is_tokenized=False):
    return [summary.text for summary in system.summarize(texts, is_tokenized=is_tokenized)]


def test_prefix_with_byte_limit_takes_75_bytes():
    [prefix] = texts_of(Prefix(max_bytes=75, may_cut_words=True), [LONG])
    assert prefix == LONG[:75]


def test_prefix_takes_whole_words():
    [prefix] = texts_of(Prefix(max_bytes=75, may_cut_words=False), [LONG])
    assert LONG.startswith(f"{prefix} ")
    assert len(prefix) <= 75 < len(f"{prefix} november")


def test_prefix_keeps_a_word_that_ends_at_the_limit():
    text = "a" * 70 + " bcde f"
    assert texts_of(Prefix(max_bytes=75, may_cut_words=False), [text]) == ["a" * 70 + " bcde"]


def test_prefix_is_empty_if_the_first_word_is_too_long():
    assert texts_of(Prefix(max_bytes=75, may_cut_words=False), ["x" * 80]) == [""]


@given(st.lists(st.text("abcé", min_size=1, max_size=9), max_size=9), st.integers(0, 40))
def test_prefix_is_as_long_as_possible(words, max_bytes):
    text = " ".join(words)
    [prefix] = texts_of(Prefix(max_bytes=max_bytes, may_cut_words=False), [text])
    assert len(prefix.encode()) <= max_bytes
    assert text.startswith(prefix)
    next_words = text[len(prefix) :].split()
    if next_words:
        assert len(" ".join([*prefix.split(), next_words[0]]).encode()) > max_bytes


def test_prefix_does_not_split_characters():
    assert texts_of(Prefix(max_bytes=75, may_cut_words=True), ["a" * 74 + "é"]) == ["a" * 74]


def test_prefix_normalizes_white_space():
    assert texts_of(Prefix(max_bytes=75, may_cut_words=True), [" one\n two "]) == ["one two"]


def test_lead_takes_the_first_sentence():
    text = "The ferry was late. Nobody minded."
    assert texts_of(Lead(), [text]) == ["The ferry was late."]


def test_lead_with_max_words_takes_words():
    text = "It did. Nobody minded."
    assert texts_of(Lead(max_words=4), [text]) == ["It did. Nobody"]
    assert texts_of(Lead(max_words=4), ["it did .\nso they said ."], is_tokenized=True) == [
        "it did . so"
    ]


def test_lead_in_gigaword_form_takes_the_first_line():
    text = "it did n't open . so -lrb- they said -rrb- .\nnobody came ."
    assert texts_of(Lead(), [text], is_tokenized=True) == [text.split("\n")[0]]


def test_baseline_words_are_copied():
    [summary] = Lead().summarize(["It did."], is_tokenized=False)
    assert [word.norm for word in summary.words] == ["it", "did", "."]
    assert summary.is_copied == (True, True, True)


def test_baselines_of_an_empty_text_are_empty():
    assert (
        texts_of(Lead(), [""]) == texts_of(Prefix(max_bytes=75, may_cut_words=True), [""]) == [""]
    )
    assert texts_of(Lead(), [""], is_tokenized=True) == [""]


def test_lead_rejects_invalid_max_words():
    with pytest.raises(ArgumentError, match="max_words is -2; expected 1 to 1000"):
        load_system("lead", "gigaword", decoding={"max_words": -2})


def test_lead_takes_the_first_sentence_of_the_language():
    text = "Am 3. Oktober ist frei. Alle feiern."
    german = load_system("lead", "unicode", language="de")
    assert texts_of(german, [text]) == ["Am 3. Oktober ist frei."]
    chinese = load_system("lead", "unicode", decoding={"max_words": 4}, language="zh")
    assert texts_of(chinese, ["市长没有回答。"]) == ["市长没有"]
