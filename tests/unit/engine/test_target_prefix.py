"""Target prefixes: every summary starts with the given words and keeps all limits."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readagain.engine import target_prefix
from readagain.engine.source import SourceReader
from readagain.engine.target_prefix import TargetPrefix
from readagain.errors import ArgumentError
from readagain.text.vocab import SPECIAL_TOKENS, UNK, Vocab

POLICE = "Police in Ghent said on Monday that 12 people crossed the old bridge."
FERRY = 'A storm hit the harbour, and the ferry "Élan" was late by 30 percent.'
LONG = POLICE + " " + FERRY
PREFIXES = [
    "Police say",
    "the FERRY",
    "Blorbish Xyzzy Corp.",
    "12",
    "99 boats",
    '"We',
    "C# it's",
    "¿",
]


def with_alternatives(summary):
    """Return a summary and its alternatives."""
    return [summary, *summary.alternatives]


def test_docstring_examples_are_correct():
    results = doctest.testmod(target_prefix)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("begin", PREFIXES)
@pytest.mark.parametrize("case", ["sentence", "headline", "plain"])
def test_summary_starts_with_the_prefix(summarizer, begin, case):
    summary = summarizer.summarize(FERRY, begin=begin, min_words=7, n_best=3, case=case)
    headlines = [each.text for each in with_alternatives(summary)]
    for headline in headlines:
        assert headline.startswith(begin)
        assert len(headline) > len(begin)
    assert len(set(headlines)) == 3


@settings(max_examples=40, deadline=None)
@given(begin=st.text(max_size=12))
def test_any_text_can_be_a_prefix(summarizer, begin):
    words = " ".join(begin.split())
    assert summarizer.summarize(POLICE, begin=begin, max_words=20).text.startswith(words)


def test_white_space_of_a_prefix_is_normalized(summarizer):
    assert summarizer.summarize(POLICE, begin=" two \n\t words ").text.startswith("two words ")


@pytest.mark.parametrize("begin", [None, "", "  "])
def test_empty_prefix_changes_nothing(summarizer, begin):
    for text in (POLICE, "Hello"):
        assert summarizer.summarize(text, begin=begin) == summarizer.summarize(text)


@pytest.mark.parametrize("words", [2, 4, 9])
def test_word_limits_include_the_prefix(summarizer, words):
    summary = summarizer.summarize(POLICE, begin="Police say", min_words=words, max_words=words)
    assert len(summary.words) == words
    assert summary.text.startswith("Police say")


@pytest.mark.parametrize("begin", PREFIXES)
@pytest.mark.parametrize("max_bytes", [20, 27, 41])
def test_byte_limits_include_the_prefix(summarizer, begin, max_bytes):
    for summary in summarizer.summarize([POLICE, FERRY], begin=begin, max_bytes=max_bytes):
        assert summary.text.startswith(begin)
        assert len(summary.text.encode()) <= max_bytes


def test_min_bytes_counts_the_prefix_as_given(summarizer):
    prefix = "Donaudampfschifffahrtsgesellschaften"  # an OOV word of 36 bytes
    summary = summarizer.summarize(POLICE, begin=prefix, min_bytes=36, min_words=1)
    without_minimum = summarizer.summarize(POLICE, begin=prefix, min_words=1)
    assert summary == without_minimum


def test_prefix_result_does_not_depend_on_other_texts(summarizer):
    texts = [FERRY, "Élan sails.", LONG, POLICE]
    for begin in ("Élan blorb", "Ghent :"):
        alone = [summarizer.summarize(text, begin=begin) for text in texts]
        together = summarizer.summarize(texts, begin=begin)
        assert [summary.text for summary in together] == [summary.text for summary in alone]


def test_prefix_words_have_the_origin_given(summarizer):
    summary = summarizer.summarize(FERRY, begin="Élan blorb", explain=True)
    first, second, *others = summary.words
    assert (first.norm, second.norm) == ("élan", "blorb")
    assert {(word.origin, word.source, word.log_prob) for word in (first, second)} == {
        ("given", None, 0.0)
    }
    assert "given" not in {word.origin for word in others}
    for word in summary.words:
        assert summary.text[word.start : word.end] == word.surface


def test_prefix_digits_are_not_taken_from_the_source(summarizer):
    summary = summarizer.summarize(POLICE, begin="99 boats", min_words=12, max_words=12)
    assert summary.text.startswith("99 boats ")


def test_tokenized_prefix_is_split_at_spaces(summarizer):
    summary = summarizer.summarize("police cross ## bridges", begin="u.s. 's blorb", tokenized=True)
    assert summary.text.startswith("u.s. 's blorb ")
    assert [word.norm for word in summary.words[:3]] == ["u.s.", "'s", "blorb"]


def test_text_without_words_ignores_the_prefix(summarizer):
    assert summarizer.summarize("...", begin="Police say").text == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"begin": "a b c", "max_words": 2},
            "begin has 3 words; expected at most max_words, which is 2",
        ),
        (
            {"begin": "Élan", "max_bytes": 4},
            "begin has 5 bytes; expected at most max_bytes, which is 4",
        ),
        ({"begin": 3}, "begin is 3; expected text"),
    ],
)
def test_invalid_prefix_is_reported(summarizer, options, message):
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        summarizer.summarize(POLICE, **options)


def test_prefix_is_fed_as_extended_ids(summarizer):
    vocab = Vocab([*SPECIAL_TOKENS, "police", "say"])
    reader = SourceReader(summarizer.run, vocab, vocab)
    sources = [reader.read(text, tokenized=False) for text in (POLICE, "Quiet in Ghent.")]
    prefix = TargetPrefix.read("Police in Ghent </s> blorb", tokenized=False)
    forced = reader.forced_prefix(sources, prefix)
    V, known = len(vocab), vocab.ids(["police"])[0]
    marks = [UNK] * 3  # the tokenizer splits </s> into three tokens
    assert forced.ids.tolist() == [
        [known, V + 1, V + 2, *marks, UNK],
        [known, V + 1, V + 2, *marks, UNK],
    ]
    special = TargetPrefix.read("</s> <pad>", tokenized=True)
    assert reader.forced_prefix(sources, special).ids.tolist() == [[UNK, UNK]] * 2
