"""A text of a word or three is its own headline."""

import pytest

from readagain.engine.short_texts import FEWEST_WORDS, is_too_short, own_words
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
def test_a_short_text_is_its_own_headline(summarizer, text, headline):
    summary = summarizer.summarize(text)
    assert summary.text == headline
    assert {word.origin for word in summary.words} == {"copied"}
    copied = "".join(text[word.start : word.end] for word in summary.words)
    assert copied.lower() == headline.lower().replace(" ", "")
    assert not summary.alternatives


def test_among_others_it_stays_so_and_they_stay_as_they_are(summarizer):
    long = "Police in Ghent said on Monday that 12 people crossed the old bridge."
    found = [each.text for each in summarizer.summarize(["Hello", long, "Thank you."])]
    assert found == ["Hello", summarizer.summarize(long).text, "Thank you"]


def test_a_text_of_more_words_is_summarized(summarizer):
    text = " ".join(["bridge"] * FEWEST_WORDS)
    assert summarizer.summarize(text, max_words=1).text.count(" ") == 0
    assert summarizer.summarize(text).text.lower() != text


def test_limits_hold_for_short_texts(summarizer):
    assert summarizer.summarize("Hello old world", max_words=2).text == "Hello old"
    assert summarizer.summarize("Hello old world", max_bytes=10).text == "Hello old"


def test_a_minimum_that_is_asked_for_is_kept(summarizer):
    assert len(summarizer.summarize("Hello", min_words=4).words) >= 4
    assert len(summarizer.summarize("Hello", min_bytes=20, max_bytes=75).text) >= 20


def test_a_beginning_that_is_asked_for_comes_first(summarizer):
    assert summarizer.summarize("Hello", begin="Police say").text.startswith("Police say")


def test_each_word_of_a_short_text_looked_at_itself(summarizer):
    explanation = summarizer.summarize("Hello old world", explain=True).explanation
    assert explanation.attention[:3].argmax(axis=1).tolist() == [0, 1, 2]


def test_words_of_several_sentences_are_copied_each_from_its_own():
    vocab = Vocab([*SPECIAL_TOKENS, "fire"])
    reader = SourceReader(PRESETS["two_sentences_option1_copy_15k"], vocab, vocab)
    source = reader.read("Fire. Heavy smoke.", tokenized=False)
    batch = reader.batch([source])
    own = own_words(source, batch.source_ext_ids[0], length=3, max_words=9)
    assert own.copied_from.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert own.ids.tolist() == batch.source_ext_ids[0, [0, 1, 3, 4]].tolist()
    assert own.log_probs.tolist() == [0.0] * 5  # four words, and the end
    assert own.attention.shape == (5, 2, 3)
    assert own.attention[2, 1].tolist() == [1.0, 0.0, 0.0]


def test_a_text_that_goes_on_after_a_short_sentence_is_not_short():
    vocab = Vocab(SPECIAL_TOKENS)
    reader = SourceReader(PRESETS["read_again_lstm_copy_15k"], vocab, vocab)
    for text, is_short in (("Fire.", True), ("Fire. Smoke.", False)):
        assert is_too_short(reader.read(text, tokenized=False)) == is_short


def test_text_in_gigaword_form_is_searched_whatever_its_length(summarizer, monkeypatch):
    monkeypatch.delattr("readagain.engine.summarizer.own_words")
    summarizer.summarize("hello", tokenized=True)
    with pytest.raises(NameError):
        summarizer.summarize("hello")
