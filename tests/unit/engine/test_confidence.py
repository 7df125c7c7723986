"""Features from which the confidence of a headline is computed."""

import pytest

from readagain.engine.checks import CHECKS
from readagain.engine.confidence import features_and_checks
from readagain.engine.source import SourceText
from readagain.engine.summary import Summary
from readagain.text.detokenization import SummaryToken
from readagain.text.document import read_document

TEXT = "The old ferry of Eltor sank near Norrvik. The mayor of Ostham met."


def read_source(text):
    """Return a text of which a model reads all words."""
    document = read_document(text)
    return SourceText(document, (range(len(document.words)),), is_truncated=False)


def make_summary(*tokens, truncated=False):
    return Summary(
        text="",
        score=0.0,
        words=tokens,
        read_sentences=2,
        truncated=truncated,
        end_log_prob=-0.5,
    )


def copied(position, log_prob=-0.1):
    """Return a token that copies a word of `TEXT`."""
    word = read_document(TEXT).words[position]
    return SummaryToken(word.norm, position, surface=TEXT[word.start : word.end], log_prob=log_prob)


def test_features_of_a_copied_headline():
    summary = make_summary(copied(2), copied(5, -0.7), copied(7), truncated=True)
    features, _ = features_and_checks(summary, read_source(TEXT))
    expected = {
        "mean_log_prob": -0.3,
        "min_log_prob": -0.7,
        "end_log_prob": -0.5,
        "num_words": 3,
        "length_ratio": 3 / 15,
        "copied": 1,
        "not_in_text": 0,
        "in_order": 1,
        "jumps": 2 / 3,
        "longest_gap": 0.2,
        "start": 0.2,
        "skipped_verbs": 0,
        "two_sentences": 0,
        "truncated": 1,
        "language": 0,
        **dict.fromkeys(CHECKS, 0),
    }
    assert features == pytest.approx(expected)


def test_features_of_a_generated_headline():
    summary = make_summary(copied(12), SummaryToken("sinks", surface="sinks"), copied(2))
    features, failed = features_and_checks(summary, read_source(TEXT))
    assert failed == ["subject"]
    assert features["copied"] == pytest.approx(2 / 3)
    assert features["not_in_text"] == pytest.approx(1 / 3)
    assert features["in_order"] == pytest.approx(1 / 3)
    assert features["two_sentences"] == 1
    assert features["subject"] == 1  # "The mayor of" is left out


def test_unprinted_words_do_not_count():
    summary = make_summary(copied(2), SummaryToken("##", log_prob=-3.0))
    features, _ = features_and_checks(summary, read_source(TEXT))
    assert features["num_words"] == 1
    assert features["min_log_prob"] == -3.0


def test_summarizer_returns_features(summarizer):
    text = "Police in Ghent said on Monday that 12 people crossed the old bridge."
    summary = summarizer.summarize(text)
    features = summarizer.features(text, summary)
    assert features["end_log_prob"] == summary.end_log_prob < 0
    assert all(isinstance(value, float) for value in features.values())
