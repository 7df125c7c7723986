"""Normalization: norms, typography and HTML entities."""

import pkgutil
import re
import sys
import unicodedata
from importlib import import_module
from sys import getsizeof

import pytest
from hypothesis import given
from hypothesis import strategies as st
from printing import detokenize

from readagain.text.detokenization import SummaryToken, write_copied
from readagain.text.document import headline_tokens, read_document, read_tokenized, sentence_norms
from readagain.text.normalization import (
    StringCache,
    decode_entities,
    normalize,
    normalize_typography,
    original_offsets,
)


@pytest.mark.parametrize(
    ("token", "norm"),
    [
        ("Senate", "senate"),
        ("3.5m", "#.#m"),
        ("1,000", "#,###"),
        ("Mid-2010s", "mid-####s"),
        ("٣", "#"),
        ("(", "-lrb-"),
        (")", "-rrb-"),
        ("[", "-lsb-"),
        ("]", "-rsb-"),
        ("{", "-lcb-"),
        ("}", "-rcb-"),
        ('"', "''"),
        ("``", "``"),
        ("—", "--"),
        ("―", "--"),
        ("⋯", "..."),
        ("–", "--"),
        ("2010–12", "####-##"),
        ("…", "..."),
        ("É", "é"),
        ("E\u0301", "é"),
        ("co\u00adop", "coop"),
        ("\u200b", "\u200b"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_normalize_returns_the_norm(token, norm):
    assert normalize(token) == norm


def test_norm_of_any_character_is_one_encodable_word():
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if not character.isspace():
            norm = normalize(character)
            assert norm.split() == [norm], f"U+{code:04X}"
            norm.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc"]), min_size=1))
def test_normalize_is_idempotent(token):
    assert normalize(normalize(token)) == normalize(token)


def test_string_cache_is_bounded_in_bytes():
    cache = StringCache(str.lower, max_bytes=20_000)
    for number in range(1000):
        assert cache[f"Word{number}"] == f"word{number}"
    assert 0 < sum(getsizeof(key) + getsizeof(value) for key, value in cache.items()) < 20_000


def test_string_cache_skips_long_words():
    cache = StringCache(str.lower)
    assert cache["A" * 1000] == "a" * 1000
    assert not cache


# Caches of functions whose arguments have few values, such as languages.
BOUNDED_CACHES = {
    "_read_fields", "_token_pattern", "_languages_by_word", "_sentence_starters",
    "default_truecaser", "irregular_forms",
}  # fmt: skip


def test_words_of_a_text_are_cached_only_in_string_caches():
    """The keys of `lru_cache` are bounded in number, but not in bytes."""
    caches = set()
    for package in ("config", "formats", "text", "corpus", "rouge", "classic", "search", "engine"):
        folder = import_module(f"readagain.{package}").__path__
        for info in pkgutil.iter_modules(folder, f"readagain.{package}."):
            values = vars(import_module(info.name)).values()
            caches |= {value.__name__ for value in values if hasattr(value, "cache_parameters")}
    assert caches == BOUNDED_CACHES


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0301", "\u0344"])
def test_normalize_bounds_combining_sequences(marks):
    """Without the bound, NFC takes quadratic time: half a minute for 240 KB."""
    token = "E" + "".join(mark * 3000 for mark in marks)
    norm = normalize(token)
    runs = re.findall("[^\u034f]+", norm)
    assert len(runs) >= 100
    assert max(map(len, runs)) <= 2 * 30 + 1
    assert norm.replace("\u034f", "").startswith("é" if marks != "\u0344" else "ë́")


def test_normalize_keeps_thirty_combining_marks():
    token = "x" + "\u0323" * 15 + "\u0307" * 15
    assert normalize(token) == unicodedata.normalize("NFC", token)
    (word,) = read_document(token).words
    assert (word.start, word.end) == (0, 31)


def test_spans_after_a_long_combining_sequence_are_right():
    text = "Cafe" + "\u0301" * 1000 + " opens"
    assert [text[word.start : word.end] for word in read_document(text).words][-1] == "opens"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("“No,” he said.", '"No," he said.'),
        ("«Non» and „Nein“", '"Non" and "Nein"'),
        ("the dog’s tail", "the dog's tail"),
        ("a ‘big’ win", "a `big' win"),
        ("'Big' win", "`Big' win"),
        ("(‘big’)", "(`big')"),
        ("“‘Big’ win”", '"`Big\' win"'),
        ("the ’90s, ’em and ‘tis", "the '90s, 'em and 'tis"),
        ("rock ’n’ roll", "rock 'n' roll"),
        ("co‑operate at −5", "co-operate at -5"),
        ("now—or…", "now―or⋯"),
        ("nothing to do", "nothing to do"),
    ],
)
def test_typography_becomes_plain(text, plain):
    assert normalize_typography(text) == plain


@given(st.text(alphabet=st.characters()) | st.text(alphabet="'‘’“”\" aS9(—-"))
def test_normalize_typography_keeps_length_and_is_idempotent(text):
    plain = normalize_typography(text)
    assert len(plain) == len(text)
    assert normalize_typography(plain) == plain


PIECES = st.lists(
    st.sampled_from(
        ["&", "amp;", "&amp;", "&#39;", "#39;", "&quot;", "&nbsp;", "&lt;", "&#x2019;", "&bogus;"]
        + ["it", "s", " ", ". ", "He", "\n"]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("encoded", "decoded"),
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
def test_entities_are_decoded(encoded, decoded):
    assert decode_entities(encoded) == decoded
    assert sentence_norms(encoded) == sentence_norms(decoded)
    assert headline_tokens(encoded) == headline_tokens(decoded)


@pytest.mark.parametrize(
    "text",
    [
        "R&D; and Q&A",
        "&bogus; &; &#; &#x;",
        "AT&ampT",  # not an entity without a semicolon
        "&#27; &#1;",  # control characters
        "&fjlig;",  # stands for two letters
        "&notanything;",
        "&#99999999;",
    ],
)
def test_unknown_entities_stay(text):
    assert decode_entities(text) == text


def test_spans_refer_to_the_text_with_entities():
    text = "AT&amp;T&#39;s chief &quot;left&quot;&nbsp;today."
    document = read_document(text)
    assert [(word.norm, text[word.start : word.end]) for word in document.words] == [
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


def test_printed_text_has_decoded_entities():
    document = read_document("AT&amp;T&#39;s chief &quot;left&quot;&nbsp;today.")
    copies = [
        SummaryToken(document.words[position].norm, position)
        for position in (0, 1, 2, 3, 4, 5, 6, 7)
    ]
    assert detokenize(copies, document) == 'AT&T\'s chief "left"'
    assert write_copied(document) == 'AT&T\'s chief "left" today.'


def test_tokenized_text_keeps_entities():
    document = read_tokenized("at &amp; t")
    assert document.surface(document.words[1]) == "&amp;"


@given(PIECES)
def test_original_offsets_delimit_each_character(text):
    decoded, offsets = decode_entities(text), original_offsets(text, len(text))
    assert len(offsets) == len(decoded) + 1
    pieces = [text[start:end] for start, end in zip(offsets, offsets[1:], strict=False)]
    assert "".join(pieces) == text
    assert [decode_entities(piece) for piece in pieces] == list(decoded)


@given(PIECES)
def test_document_prints_as_its_decoded_text(text):
    document = read_document(text)
    assert write_copied(document) == " ".join(decode_entities(text).split())
    norms = [[word.norm for word in sentence] for sentence in document.sentences]
    assert sentence_norms(text) == norms


@given(PIECES, st.integers(0, 10))
def test_original_offsets_stops_at_the_length(text, length):
    assert original_offsets(text, length) == original_offsets(text, 999)[: length + 1]
