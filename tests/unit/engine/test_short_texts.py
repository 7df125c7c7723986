"""Texts that are too short to summarize."""

import pytest

from readagain.engine.short_texts import MIN_WORDS, copy_whole_text, is_too_short
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.text.vocab import SPECIAL_TOKENS, Vocab


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("Hello", "Hello"),
        ("12345", "12345"),
        ("storm hits coast.", "Storm hits coast"),
        ("10% off!", "10% off!"),
        ("Is it?", "Is it?"),
        ("東京", "東京"),
    ],
)
def test_short_text_is_its_own_summary(summarizer, text, headline):
    summary = summarizer.summarize(text)
    assert summary.text == headline
    assert {word.origin for word in summary.words} == {"copied"}
    copied = "".join(text[word.source.start : word.source.end] for word in summary.words)
    assert copied.lower() == headline.lower().replace(" ", "")
    assert not summary.alternatives


def test_short_text_does_not_change_other_summaries(summarizer):
    long = "Police in Ghent said on Monday that 12 people crossed the old bridge."
    headlines = [summary.text for summary in summarizer.summarize(["Hello", long, "Thank you."])]
    assert headlines == ["Hello", summarizer.summarize(long).text, "Thank you"]


def test_longer_text_is_summarized(summarizer):
    text = " ".join(["bridge"] * MIN_WORDS)
    assert summarizer.summarize(text, max_words=1).text.count(" ") == 0
    assert summarizer.summarize(text).text.lower() != text


def test_limits_apply_to_short_texts(summarizer):
    assert summarizer.summarize("Hello old world", max_words=2).text == "Hello old"
    assert summarizer.summarize("Hello old world", max_bytes=10).text == "Hello old"


def test_minimum_applies_to_short_texts(summarizer):
    assert len(summarizer.summarize("Hello", min_words=4).words) >= 4
    assert len(summarizer.summarize("Hello", min_bytes=20, max_bytes=75).text) >= 20


def test_prefix_applies_to_short_texts(summarizer):
    assert summarizer.summarize("Hello", begin="Police say").text.startswith("Police say")


def test_short_text_attends_to_its_own_words(summarizer):
    explanation = summarizer.summarize("Hello old world", explain=True).explanation
    assert explanation.attention[:3].argmax(axis=1).tolist() == [0, 1, 2]


def test_short_text_copies_from_each_sentence():
    vocab = Vocab([*SPECIAL_TOKENS, "fire"])
    reader = SourceReader(PRESETS["two_sentences_option1_copy_15k"], vocab, vocab)
    source = reader.read("Fire. Heavy smoke.", tokenized=False)
    batch = reader.batch([source])
    hypothesis = copy_whole_text(source, batch, 0, max_words=9)
    assert hypothesis.copied_from.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert hypothesis.ids.tolist() == batch.source_ext_ids[0, [0, 1, 3, 4]].tolist()
    assert hypothesis.log_probs.tolist() == [0.0] * 5  # four words, and EOS
    assert hypothesis.attention.shape == (5, 2, 3)
    assert hypothesis.attention[2, 1].tolist() == [1.0, 0.0, 0.0]


def test_truncated_text_is_not_short():
    vocab = Vocab(SPECIAL_TOKENS)
    reader = SourceReader(PRESETS["read_again_lstm_copy_15k"], vocab, vocab)
    for text, is_short in (("Fire.", True), ("Fire. Smoke.", False)):
        assert is_too_short(reader.read(text, tokenized=False)) == is_short


@pytest.fixture
def no_search(monkeypatch):
    """Make every beam search fail with a NameError."""
    monkeypatch.delattr("readagain.engine.batch_summarizer.decode_sources")


def test_short_text_is_not_searched(summarizer, no_search):
    assert summarizer.summarize(["Hello", "..."])[0].text == "Hello"


@pytest.mark.parametrize("options", [{"tokenized": True}, {"begin": "Oh"}, {"min_words": 2}])
def test_short_text_is_searched_with_some_options(summarizer, no_search, options):
    with pytest.raises(NameError):
        summarizer.summarize("hello", **options)
