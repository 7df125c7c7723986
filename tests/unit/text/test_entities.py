"""Characters that a text spells as HTML does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.text.document import headline_words, read_document, read_tokenized, sentence_words
from readagain.text.entities import decode_entities, places_before_decoding
from readagain.text.surface import SummaryToken, write_document, write_summary

PIECES = st.lists(
    st.sampled_from(
        ["&", "amp;", "&amp;", "&#39;", "#39;", "&quot;", "&nbsp;", "&lt;", "&#x2019;", "&bogus;"]
        + ["it", "s", " ", ". ", "He", "\n"]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("AT&amp;T", "AT&T"),
        ("it&#39;s", "it's"),
        ("it&#x27;s", "it's"),
        ("it&rsquo;s", "it’s"),
        ("&quot;no&quot;", '"no"'),
        ("10&nbsp;km", "10\xa0km"),
        ("&#8220;no&#8221;", "“no”"),
        ("it&#146;s", "it’s"),  # as browsers do
        ("it&amp;#39;s", "it's"),  # encoded twice
        ("AT&amp;amp;amp;T", "AT&T"),
    ],
)
def test_an_entity_is_read_as_its_character(spelled, meant):
    assert decode_entities(spelled) == meant
    assert sentence_words(spelled) == sentence_words(meant)
    assert headline_words(spelled) == headline_words(meant)


@pytest.mark.parametrize(
    "text",
    [
        "R&D; and Q&A",
        "&bogus; &; &#; &#x;",
        "AT&ampT",  # no entity without its semicolon
        "&#27; &#1;",  # which no text may hold
        "&fjlig;",  # two letters
        "&notanything;",
        "&#99999999;",
    ],
)
def test_what_stands_for_no_character_stays(text):
    assert decode_entities(text) == text


def test_words_have_their_places_in_the_text_as_it_was_given():
    text = "AT&amp;T&#39;s chief &quot;left&quot;&nbsp;today."
    document = read_document(text)
    assert [(word.form, text[word.start : word.end]) for word in document.words] == [
        ("at", "AT"),
        ("&", "&amp;"),
        ("t", "T"),
        ("'s", "&#39;s"),
        ("chief", "chief"),
        ("``", "&quot;"),
        ("left", "left"),
        ("''", "&quot;"),
        ("today", "today"),
        (".", "."),
    ]
    assert document.text == text


def test_people_read_the_characters():
    document = read_document("AT&amp;T&#39;s chief &quot;left&quot;&nbsp;today.")
    copies = [SummaryToken(document.words[place].form, place) for place in (0, 1, 2, 3, 4, 5, 6, 7)]
    assert write_summary(copies, document) == 'AT&T\'s chief "left"'
    assert write_document(document) == 'AT&T\'s chief "left" today.'


def test_a_text_in_gigaword_form_has_no_entities():
    document = read_tokenized("at &amp; t")
    assert document.surface(document.words[1]) == "&amp;"


@given(PIECES)
def test_a_word_is_the_character_of_its_places(text):
    decoded, places = decode_entities(text), places_before_decoding(text, len(text))
    assert len(places) == len(decoded) + 1
    pieces = [text[start:end] for start, end in zip(places, places[1:], strict=False)]
    assert "".join(pieces) == text
    assert [decode_entities(piece) for piece in pieces] == list(decoded)


@given(PIECES)
def test_a_document_prints_as_its_text_decoded(text):
    document = read_document(text)
    assert write_document(document) == " ".join(decode_entities(text).split())
    forms = [[word.form for word in sentence] for sentence in document.sentences]
    assert sentence_words(text) == forms


@given(PIECES, st.integers(0, 10))
def test_only_the_places_that_are_wanted_are_found(text, length):
    assert places_before_decoding(text, length) == places_before_decoding(text, 999)[: length + 1]
