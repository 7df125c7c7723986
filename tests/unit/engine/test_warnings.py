"""Warnings, confidence and fallback of summaries."""

import json

import pytest

from readagain.engine.checks import CHECKS
from readagain.engine.confidence import FEATURES, ConfidenceModel
from readagain.engine.summarizer import Summarizer
from readagain.engine.warnings import MESSAGES, percent
from readagain.errors import ArgumentError, ArtifactError
from readagain.model_dir import CONFIDENCE_FILE
from readagain.search.constraints import ByteLengthConstraint
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import write_model_files

TEXT = "Police in Ghent said on Monday that 12 people crossed the old bridge, before it was open."


def codes(summary):
    """Return the codes of the warnings."""
    return [warning.code for warning in summary.warnings]


def language_messages(summary):
    """Return the messages of the warnings about the language."""
    return [warning.message for warning in summary.warnings if warning.code == "language"]


def write_confidence(folder, intercept=0.0, weights=None):
    """Write a confidence model into a model directory, and return the directory."""
    content = json.dumps({"intercept": intercept, "weights": weights or {}})
    write_model_files(folder, {CONFIDENCE_FILE: lambda path: path.write_text(content)})
    return folder


@pytest.fixture
def low_confidence_model(toy_copy):
    """Return a model whose headlines all have a confidence below 0.5."""
    return Summarizer.load(write_confidence(toy_copy, -1.0, {"num_words": 0.01}), threads=1)


def test_every_check_has_a_message():
    assert CHECKS.keys() <= MESSAGES.keys()


def test_unread_part_is_a_warning(summarizer):
    summary = summarizer.summarize(TEXT + " The mayor was asleep. " * 20)
    (warning,) = [other for other in summary.warnings if other.code == "truncated"]
    assert summary.truncated
    assert summary.read_share == pytest.approx(0.17, abs=0.02)
    assert (
        str(warning)
        == warning.message
        == f"only {percent(summary.read_share)} of the text was read"
    )
    whole = summarizer.summarize("The mayor was asleep.")
    assert whole.read_share == 1.0
    assert "truncated" not in codes(whole)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Stadt erhöht die Gebühren für den Müll und das Wasser.", "German"),
        ("Полиция сообщила в понедельник о пожаре в городе.", "Russian"),
    ],
)
def test_other_language_is_a_warning(summarizer, text, language):
    expected = f"the text seems to be {language}; the model writes English"
    assert language_messages(summarizer.summarize(text)) == [expected]


def test_unknown_language_of_another_script_is_a_warning(summarizer):
    summary = summarizer.summarize("پولیس نے کہا کہ پل بند ہے۔")
    expected = "the text seems to be in the Arabic script; the model writes English"
    assert language_messages(summary) == [expected]


def test_unknown_script_has_no_language_warning(summarizer):
    armenian = "Ճյուղի վրա նստած թռչունը երգում է"
    assert language_messages(summarizer.summarize(armenian)) == []


def test_english_and_unclear_texts_have_no_language_warning(summarizer):
    for text in (TEXT, "Zyxwick Norrvik Eltor Ostham", "12 34 56 78"):
        assert "language" not in codes(summarizer.summarize(text))


def test_short_and_empty_texts_are_a_warning(summarizer):
    assert codes(summarizer.summarize("It rains.")) == ["too_short"]
    assert codes(summarizer.summarize("...")) == ["too_short"]
    assert summarizer.summarize("It rains.").confidence is None


@pytest.mark.parametrize("text", ["", "...", "😀😀"])
def test_text_without_words_is_named_so(summarizer, text):
    (warning,) = summarizer.summarize(text).warnings
    assert (warning.code, warning.message) == ("too_short", "the text has no words")


def test_copied_text_of_another_script_is_not_called_too_short(summarizer):
    summary = summarizer.summarize("北京市政府周二宣布将提高地铁票价。")
    assert codes(summary) == ["language"]


def test_headline_that_a_limit_ends_is_cut_off():
    news = Summarizer.load("news", threads=1)
    text = "The prime minister denied on Tuesday that her government plans to raise taxes."
    assert codes(news.summarize(text)) == []
    for limit in ({"max_words": 3}, {"max_bytes": 10}):
        assert codes(news.summarize(text, **limit)) == ["cut_off"]


def test_headline_that_detokenization_cuts_is_cut_off(summarizer, monkeypatch):
    assert codes(summarizer.summarize("It rains.", max_bytes=2)) == ["cut_off", "too_short"]
    monkeypatch.setattr(ByteLengthConstraint, "banned_words", lambda *_: None)
    assert codes(summarizer.summarize(TEXT)) == []
    assert codes(summarizer.summarize(TEXT, max_bytes=20)) == ["cut_off"]
    assert codes(summarizer.summarize(TEXT, max_bytes=20, tokenized=True)) == []


def test_tokenized_text_has_no_warnings(low_confidence_model):
    summary = low_confidence_model.summarize(
        "die stadt ist nicht da .\nsie geht .\nja .", tokenized=True
    )
    assert summary.warnings == ()
    assert summary.confidence is None


def test_failed_checks_are_warnings(summarizer, monkeypatch):
    monkeypatch.setitem(CHECKS, "numbers", lambda headline, source: True)
    summary = summarizer.summarize("Two ferries of Eltor sank on Monday.", n_best=2)
    assert "numbers" in codes(summary)
    assert "numbers" in codes(summary.alternatives[0])


def test_model_without_file_has_no_confidence(summarizer):
    assert summarizer.summarize(TEXT).confidence is None
    with pytest.raises(ArgumentError, match="min_confidence is 0.5; this model has no confidence"):
        summarizer.summarize(TEXT, min_confidence=0.5)
    assert summarizer.summarize(TEXT, min_confidence=0.0).text


def test_confidence_is_a_logistic_function_of_the_features(low_confidence_model):
    summary = low_confidence_model.summarize(TEXT)
    num_words = low_confidence_model.features(TEXT, summary)["num_words"]
    assert summary.confidence == round(1 / (1 + 2.718281828 ** (1 - 0.01 * num_words)), 4)


def test_warnings_lower_the_confidence_of_the_bundled_model():
    weights = json.loads((find_model("news") / CONFIDENCE_FILE).read_text())["weights"]
    assert all(weights[name] < 0 for name in ("language", *CHECKS))


def test_text_of_another_language_has_a_lower_confidence(toy_copy):
    german = "Die Stadt erhöht die Gebühren für den Müll und das Wasser."
    summarizer = Summarizer.load(write_confidence(toy_copy, 1.0, {"language": -3.0}), threads=1)
    assert summarizer.summarize(TEXT).confidence == 0.7311  # 1 / (1 + exp(-1))
    assert summarizer.summarize(german).confidence == 0.1192  # 1 / (1 + exp(2))


def test_summary_of_low_confidence_is_left_empty(low_confidence_model):
    unfiltered = low_confidence_model.summarize(TEXT)
    summary = low_confidence_model.summarize(TEXT, min_confidence=0.5, n_best=2, explain=True)
    assert (summary.text, summary.words, summary.alternatives) == ("", (), ())
    assert summary.explanation is None
    assert summary.confidence == unfiltered.confidence < 0.5
    assert codes(summary) == ["low_confidence"]
    assert low_confidence_model.summarize(TEXT, min_confidence=0.1).text == unfiltered.text


def test_fallback_is_a_shortened_sentence(low_confidence_model):
    summary = low_confidence_model.summarize(
        TEXT, min_confidence=0.5, fallback="sentence", max_words=16, explain=True
    )
    assert summary.text == "Police in Ghent said on Monday that 12 people crossed the old bridge"
    assert {word.origin for word in summary.words} == {"copied"}
    assert codes(summary) == ["fallback"]
    assert summary.explanation.attention[1].argmax() == 1


@pytest.mark.parametrize(
    ("max_words", "expected"),
    [
        (60, TEXT.rstrip(".")),
        (12, "Police in Ghent said on Monday that 12 people crossed the old"),
        (11, "Police in Ghent said on Monday that 12 people crossed"),
        (4, "Police in Ghent said"),
    ],
)
def test_shortened_sentence_ends_with_a_content_word(low_confidence_model, max_words, expected):
    summary = low_confidence_model.summarize(
        TEXT, min_confidence=0.5, fallback="sentence", max_words=max_words
    )
    assert summary.text == expected


def test_fallback_keeps_the_byte_limit(low_confidence_model):
    options = {"min_confidence": 0.5, "fallback": "sentence"}
    summary = low_confidence_model.summarize(TEXT, max_bytes=30, **options)
    assert summary.text == "Police in Ghent said on Monday"


def test_fallback_conflicts_with_begin(low_confidence_model):
    with pytest.raises(ArgumentError, match="fallback: conflicts with begin; use one of them"):
        low_confidence_model.summarize(
            TEXT, min_confidence=0.5, fallback="sentence", begin="Police"
        )


@pytest.mark.parametrize("minimum", [-0.1, 1.1, "high"])
def test_invalid_minimum_is_an_error(low_confidence_model, minimum):
    with pytest.raises(ArgumentError, match="min_confidence is .*; expected"):
        low_confidence_model.summarize(TEXT, min_confidence=minimum)


def test_warnings_and_confidence_do_not_depend_on_the_batch(low_confidence_model):
    texts = [
        TEXT,
        "It rains.",
        "",
        "Die Stadt hat die Brücke für immer gesperrt.",
        f"{TEXT} {TEXT}",
    ] * 4
    texts += [f"Two of {number} ferries may not sink in Norrvik." for number in range(20)]
    for options in ({}, {"min_confidence": 0.29, "fallback": "sentence"}):
        together = low_confidence_model.summarize(texts, **options)
        alone = [low_confidence_model.summarize(text, **options) for text in texts]
        for batched, single in zip(together, alone, strict=True):
            assert batched.warnings == single.warnings
            assert batched.confidence == single.confidence
            assert batched.text == single.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "expected an intercept and weights, all finite numbers; fit it again"),
        ({"intercept": 0.5}, "expected an intercept and weights"),
        ({"intercept": 0.5, "weights": [1]}, "expected an intercept and weights"),
        ({"intercept": True, "weights": {}}, "expected an intercept and weights"),
        ({"intercept": 0.5, "weights": {"copied": float("nan")}}, "all finite numbers"),
        ({"intercept": 10**400, "weights": {}}, "all finite numbers"),
        ({"intercept": 0.5, "weights": {"zeal": 1.0}}, "unknown feature 'zeal'; fit it again"),
    ],
)
def test_invalid_confidence_file_is_an_error(content, message):
    with pytest.raises(ArtifactError, match=f"somewhere: .*{message}"):
        ConfidenceModel.parse(content, "somewhere")


def test_extreme_log_odds_stay_in_range():
    model = ConfidenceModel(intercept=0.0, weights={"num_words": 1e300})
    features = dict.fromkeys(FEATURES, 0.0)
    assert model.confidence({**features, "num_words": 9.0}) <= 1
    assert model.confidence({**features, "num_words": -9.0}) >= 0


def test_features_have_the_declared_names(summarizer):
    assert tuple(summarizer.features(TEXT, summarizer.summarize(TEXT))) == FEATURES


def test_percent_is_never_rounded_to_0_or_100():
    assert [percent(share) for share in (0.0001, 0.5, 0.9999, 1.0)] == ["1%", "50%", "99%", "100%"]
