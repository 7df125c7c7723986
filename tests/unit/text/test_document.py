"""Documents: sentences and tokens with their norms and spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.detokenization import write_copied
from readagain.text.document import (
    Token,
    headline_tokens,
    read_document,
    read_tokenized,
    sentence_norms,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
NEWS_LIKE = st.lists(
    st.sampled_from(
        ["Mr.", "U.S.", "“We", "won.”", "didn’t", "$3.5m.", "He", "left.", "\n\n", "caf\u00e9—now"]
    ),
    max_size=15,
).map(" ".join)


def test_document_tokens_have_norms_and_spans():
    document = read_document("He paid €5. (“Why?”)")
    assert [[word.norm for word in sentence] for sentence in document.sentences] == [
        ["he", "paid", "€#", "."],
        ["-lrb-", "``", "why", "?", "''", "-rrb-"],
    ]
    assert [document.surface(word) for word in document.words] == (
        ["He", "paid", "€5", ".", "(", "“", "Why", "?", "”", ")"]
    )


@given(ANY_TEXT | NEWS_LIKE)
def test_sentence_norms_equals_read_document(text):
    norms = [[word.norm for word in sentence] for sentence in read_document(text).sentences]
    assert sentence_norms(text) == norms


@given(ANY_TEXT | NEWS_LIKE, st.integers(0, 3))
def test_max_sentences_returns_the_first_ones(text, limit):
    assert sentence_norms(text, max_sentences=limit) == sentence_norms(text)[:limit]
    first_sentences = read_document(text, max_sentences=limit).sentences
    assert first_sentences == read_document(text).sentences[:limit]


@given(ANY_TEXT | NEWS_LIKE)
def test_document_spans_cover_the_text_in_order(text):
    words = read_document(text).words
    covered = [offset for word in words for offset in range(word.start, word.end)]
    assert covered == [offset for offset, c in enumerate(text) if not c.isspace()]


def test_dashes_and_ellipses_are_split_off():
    assert sentence_norms("He left—late… and") == [["he", "left", "--", "late", "...", "and"]]


def test_blank_text_has_no_sentences():
    assert sentence_norms("") == sentence_norms(" \n\n ") == []
    assert read_document("").words == ()


def test_headline_tokens_ignores_sentence_ends():
    assert headline_tokens("Who won? ‘Nobody’") == ["Who", "won", "?", "`", "Nobody", "'"]


def test_read_tokenized_splits_at_white_space_only():
    document = read_tokenized("the <unk> paid $ #.# m .\n\ncannot UNK\n")
    assert document.sentences[1] == (Token("cannot", 26, 32), Token("UNK", 33, 36))
    assert [document.surface(word) for word in document.words] == (
        ["the", "<unk>", "paid", "$", "#.#", "m", ".", "cannot", "UNK"]
    )
    assert document.is_tokenized


SIZE = 200_000
"""Number of characters. A function that takes quadratic time would exceed the time limit."""
UNUSUAL = ["a", "a ", ".", ". ", "... ", "'", "''", "'s ", "n't ", "a-", "--", '" ', '."', ".)' "]
UNUSUAL += ["?! ", "\n", " ", "1,", "U.S. ", "A. ", "Mr. ", "[1", ".[1] ", "“", "’", "`", "e\u0301"]
UNUSUAL += [
    "\u0301\u0323",
    "\ud800",
    "🙂",
    "\u200d",
    "م",
    "。",
    '?" Aa ',
    "cannot ",
    "- a\n",
    "\x00",
    "\x1c",
]


@pytest.mark.parametrize("unit", UNUSUAL, ids=ascii)
def test_long_unusual_text_is_read_in_linear_time(unit):
    text = unit * (SIZE // len(unit))
    num_words = sum(len(sentence) for sentence in sentence_norms(text))
    assert num_words <= SIZE
    assert (num_words == 0) == text.isspace()


@pytest.mark.parametrize("unit", ["a. B ", "x'y ", '("No.") '])
def test_long_text_is_restored(unit):
    text = (unit * (SIZE // 4 // len(unit))).strip()
    assert write_copied(read_document(text)) == text
