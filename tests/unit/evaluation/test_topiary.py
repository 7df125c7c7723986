"""TOPIARY as an evaluated system."""

import pytest
from programs import require_programs

from readagain.classic.link_grammar import LinkParser
from readagain.errors import ConfigError, MissingExtraError
from readagain.evaluation.systems import load_system

TEXTS = [
    "The old bridge of Ghent, which opened in 1904, was closed on Monday after a storm, they said.",
    "",
    "A ferry sank.",
]


def test_topiary_keeps_order_and_byte_limit():
    require_programs("link-parser")
    system = load_system("topiary", "duc2003", threads=2)
    summaries = list(system.summarize(TEXTS * 3, is_tokenized=False))
    texts = [summary.text for summary in summaries]
    assert texts[:3] == texts[3:6]
    assert "bridge" in texts[0]
    assert "closed" in texts[0]
    assert texts[1] == ""
    assert texts[2] == "ferry sank"
    assert all(len(text.encode()) <= 75 for text in texts)
    assert all(all(summary.is_copied) for summary in summaries)


def test_topiary_counts_sentences_without_parse(monkeypatch):
    require_programs("link-parser")
    system = load_system("topiary", "duc2003", threads=1)
    monkeypatch.setattr(LinkParser, "_query", lambda self, sentence: None)
    assert len(list(system.summarize(TEXTS, is_tokenized=False))) == 3
    assert system.describe()["without_tree"] == 3


def test_topiary_resets_the_count_for_each_data_set():
    require_programs("link-parser")
    system = load_system("topiary", "duc2003", threads=1)
    for texts, expected in (([""], 1), (["A ferry sank."], 0)):
        list(system.summarize(texts, is_tokenized=False))
        assert system.describe()["without_tree"] == expected


def test_topiary_without_parser_is_an_error(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        MissingExtraError, match="TOPIARY needs the parser Link Grammar, and .* apt"
    ):
        load_system("topiary", "duc2003", threads=1)


def test_topiary_and_lead_reject_decoding_options():
    with pytest.raises(
        ConfigError, match="^topiary: the baseline has no such option; remove beam$"
    ):
        load_system("topiary", "duc2003", threads=2, decoding={"beam": 3})
    with pytest.raises(
        ConfigError, match="^lead: the baseline has no such option; remove beam, threads$"
    ):
        load_system("lead", "duc2003", threads=2, decoding={"beam": 3, "max_words": 9})
