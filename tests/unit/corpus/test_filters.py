import pytest

from readagain.corpus.filters import (
    FILTERS,
    FilterInput,
    FilterLimits,
    choose_filters,
    content_words,
)
from readagain.errors import ConfigError
from readagain.text.language import ENGLISH, find_language

LINE = "a storm closed ## schools in eastmoor on monday , officials said ."
TEXT = LINE.split()  # 13 words
LONG_LINE = "the town of tarn opened its new bridge over the river on monday morning , it said ."
LONG_TEXT = LONG_LINE.split()


def drops(name, headline, text=TEXT, language=ENGLISH, **limits):
    """Return whether a filter drops a pair."""
    sentences = [text[:5], text[5:]]
    pair = FilterInput(sentences, headline.split(), FilterLimits(**limits), language)
    return FILTERS[name].should_drop(pair)


@pytest.mark.parametrize(
    ("name", "dropped", "kept"),
    [
        ("no-shared-word", "the calm in tarn .", "storm in tarn"),
        ("no-shared-word", "a -- , on", "## hurt"),
        ("byline", "by a writer of the gazette", "by the river a storm closes schools"),
        ("byline", "by a writer", "schools closed by the storm that came to eastmoor"),
        ("byline", "storm closes schools -- by a writer", "storm -- a report"),
        ("byline", "storm closes schools -lrb- by a writer -rrb-", "closed by storm"),
        ("edit-marks", "storm closes schools #st-ld writethru", "storm closes schools"),
        ("edit-marks", "update# storm closes schools", "updated rules for schools"),
        ("question", "will schools close ?", "schools will close"),
        ("colon", "storm : ## schools closed", "storm at #:## closes schools"),
        ("length", "storm", "storm comes"),
    ],
)
def test_filter_drops_matching_pairs(name, dropped, kept):
    assert drops(name, dropped)
    assert not drops(name, kept)


def test_length_filter_counts_all_sentences():
    assert not drops("length", "storm comes", max_text_words=13)
    assert drops("length", "storm comes", max_text_words=12)
    assert not drops("length", "storm comes", min_text_words=13)
    assert drops("length", "storm comes", min_text_words=14)
    assert not drops("length", "storm comes", max_headline_words=2)
    assert drops("length", "storm comes", max_headline_words=1)


def test_overlap_filter_uses_share_of_content_words():
    # Two of the three content words are in the text: storm and schools.
    headline = "the storm closes all schools"
    assert not drops("low-overlap", headline, min_overlap=2 / 3)
    assert drops("low-overlap", headline, min_overlap=0.7)


@pytest.mark.parametrize(
    "text",
    [
        "der sturm hat am montag in eastmoor ## schulen geschlossen , sagten die behörden .",
        "la tempête a fermé ## écoles lundi à eastmoor , ont indiqué les autorités .",
        "la tormenta cerró ## escuelas el lunes en eastmoor , dijeron las autoridades .",
        "буря закрыла ## школ в понедельник , сообщили власти .",
        "tempestade fecha escolas ; ninguém saiu ferido , diz prefeito .",
        "暴风雨 周一 关闭 了 ## 所 学校 。",
    ],
)
def test_language_filter_drops_other_languages(text):
    assert drops("language", "x y", text=text.split())
    assert not drops("language", "x y")


def test_language_filter_keeps_very_short_texts():
    assert not drops("language", "x y", text=["zyx"] * 9)
    assert drops("language", "x y", text=["zyx"] * 10)


def test_choose_filters_accepts_names_and_sets():
    assert choose_filters("default") == ("length", "duplicate")
    assert choose_filters("none") == ()
    assert choose_filters("colon, length") == ("length", "colon")
    assert choose_filters("-length") == ("duplicate",)
    assert choose_filters("rush,language,-colon,-question") == (
        "length",
        "language",
        "no-shared-word",
        "byline",
        "edit-marks",
        "duplicate",
    )
    published = choose_filters("rush2015")
    assert published == ("full-stop", "published-marks", "published-length", "long-word")
    assert choose_filters("all") == tuple(name for name in FILTERS if name not in published)


@pytest.mark.parametrize(
    ("headline", "text", "dropped_by"),
    [
        ("tarn opens its new bridge", LONG_TEXT, None),
        ("tarn opens its bridge", LONG_TEXT, None),
        ("tarn opens bridge", LONG_TEXT, "published-length"),
        ("the river on monday morning", LONG_TEXT[-10:], "published-length"),
        ("the river on monday morning", LONG_TEXT[-11:], None),
        ("tarn opens its new bridge", LONG_TEXT[:-1], "full-stop"),
        ("tarn opens japan bridge", LONG_TEXT, "published-marks"),  # "ap"
        ("tarn opens bridge - officials", LONG_TEXT, "published-marks"),
        ("why does tarn open bridges ?", LONG_TEXT, "published-marks"),
        ("i open the bridge", LONG_TEXT, None),  # " i " needs a space before it
        ("by tarn 's new bridge", LONG_TEXT, None),
        ("eastmoor was not the one", LONG_TEXT, "long-word"),
    ],
)
def test_published_filters(headline, text, dropped_by):
    pair = FilterInput([text, ["rest"]], headline.split(), FilterLimits(), ENGLISH)
    dropping = [name for name in choose_filters("rush2015") if FILTERS[name].should_drop(pair)]
    assert dropping == ([dropped_by] if dropped_by else [])


def test_unknown_filter_error_lists_filters():
    with pytest.raises(ConfigError, match="no filter 'rash'; the filters are length, .*sets none"):
        choose_filters("rash")


def test_language_filter_compares_with_the_corpus():
    german_line = "der sturm hat am montag in eastmoor ## schulen geschlossen ."
    german = find_language("de")
    assert not drops("language", "x", german_line.split(), german)
    assert drops("language", "x", TEXT, german)
    assert not drops("language", "x", ["sturm", "eastmoor"], german)  # language unclear


def test_content_words_follow_the_language():
    headline = ["die", "stadt", "und", "der", "rat"]
    assert content_words(headline, find_language("de")) == {"stadt", "rat"}
