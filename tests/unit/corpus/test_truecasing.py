"""Case table of a corpus."""

from dataclasses import replace

import pytest

from readagain.corpus import truecasing
from readagain.corpus.shards import PreparedCorpus
from readagain.formats import lines
from readagain.text.truecasing import Truecaser

SENTENCE = "Visitors found {} near the harbour on day {}."


def write_phrases(jsonl, *phrases, headline="Quiet days continue"):
    """Write a text for each phrase, with the phrase in the middle of a sentence."""
    return jsonl([(SENTENCE.format(phrase, n), headline) for n, phrase in enumerate(phrases)])


def prepare_truecaser(prepared, path, **settings):
    return prepared(path, filters=(), **settings).truecaser


def test_word_with_90_percent_capitals_is_listed(jsonl, prepared):
    phrases = ["NASA"] * 9 + ["nasa"] + ["Rose"] * 8 + ["rose"] * 2 + ["glass"] * 10
    truecaser = prepare_truecaser(prepared, write_phrases(jsonl, *phrases))
    assert truecaser.spelling("nasa") == "NASA"
    assert truecaser.spelling("rose") is None  # neither spelling is frequent enough
    assert (truecaser.spelling("glass"), truecaser.spelling("harbour")) == ("glass", "harbour")


def test_most_frequent_capitals_are_listed(jsonl, prepared):
    phrases = ["Covid"] * 6 + ["COVID"] * 4 + ["UNO"] * 5 + ["Uno"] * 5
    truecaser = prepare_truecaser(prepared, write_phrases(jsonl, *phrases))
    assert truecaser.spelling("covid") == "Covid"
    assert truecaser.spelling("uno") == "UNO"  # first in the alphabet


def test_rare_word_is_not_listed(jsonl, prepared):
    truecaser = prepare_truecaser(prepared, write_phrases(jsonl, *["Tarn"] * 9, *["Norrvik"] * 10))
    assert (truecaser.spelling("tarn"), truecaser.spelling("norrvik")) == (None, "Norrvik")


BIGRAMS = [
    *["the White House"] * 38, *["the white house"] * 2, *["an Old Mill"] * 37, *["an old mill"] * 3
]  # fmt: skip
SINGLE_WORDS = ["a white dog"] * 60 + ["a house"] * 60


def test_bigram_with_other_case_than_its_words_is_listed(jsonl, prepared):
    truecaser = prepare_truecaser(
        prepared, write_phrases(jsonl, *BIGRAMS, *SINGLE_WORDS, headline="Old white mill house")
    )
    assert (truecaser.spelling("white"), truecaser.spelling("house")) == ("white", "house")
    assert truecaser.spelling_in_context("white", None, "house") == "White"
    assert "old mill" not in map(str.lower, truecaser)  # neither spelling is frequent enough


def test_bigram_without_headline_words_is_not_listed(jsonl, prepared):
    truecaser = prepare_truecaser(
        prepared, write_phrases(jsonl, *BIGRAMS, *SINGLE_WORDS, headline="Old white mill")
    )
    assert "white house" not in map(str.lower, truecaser)


def test_frequent_headline_words_ignore_texts(jsonl, prepared):
    texts = [SENTENCE.format("us", n) for n in range(60)]
    pairs = [(text, f"Visitors praise US harbours again {n}") for n, text in enumerate(texts)]
    assert prepare_truecaser(prepared, jsonl(pairs)).spelling("us") == "US"
    assert prepare_truecaser(prepared, jsonl(pairs[:40]), out="fewer").spelling("us") == "us"


def test_title_case_headlines_are_not_counted(jsonl, prepared):
    pairs = [
        (SENTENCE.format("glass", n), f"Visitors Praise the Glass Harbour {n}") for n in range(60)
    ]
    assert prepare_truecaser(prepared, jsonl(pairs)).spelling("glass") == "glass"


def test_dev_pairs_are_not_counted(jsonl, prepared):
    train = write_phrases(jsonl, *["glass"] * 10)
    dev = jsonl([(SENTENCE.format("Tarn", n), "Quiet days") for n in range(20)], "dev.jsonl")
    truecaser = prepare_truecaser(prepared, train, dev_files=[dev])
    assert (truecaser.spelling("glass"), truecaser.spelling("tarn")) == ("glass", None)


@pytest.mark.parametrize("tokenized", [True, False])
def test_lower_case_corpus_has_empty_table(jsonl, prepared, tokenized):
    pairs = [("visitors found the tarn harbour .", f"tarn harbour found {n}") for n in range(30)]
    corpus = prepared(jsonl(pairs), filters=(), read={"is_tokenized": tokenized})
    assert corpus.truecaser == Truecaser()


def test_case_table_does_not_depend_on_chunk_size(jsonl, prepared, monkeypatch):
    phrases = ["Covid"] * 5 + ["COVID"] * 5 + ["the White House"] * 25 + ["a white dog"] * 60
    path = write_phrases(jsonl, *phrases, headline="Visitors found a white dog and the White House")
    one_chunk = prepared(path, filters=())
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 7)
    monkeypatch.setattr(truecasing, "_MAX_BUFFERED_KEYS", 3)
    small_chunks = prepared(path, filters=(), out="small_chunks", num_workers=2)
    assert "White House" in one_chunk.truecaser
    assert small_chunks.truecaser == one_chunk.truecaser


def test_case_table_does_not_change_fingerprint(jsonl, prepared):
    lower = prepared(write_phrases(jsonl, *["glass"] * 20), filters=())
    upper = prepared(write_phrases(jsonl, *["Glass"] * 20), filters=(), out="upper")
    assert lower.truecaser != upper.truecaser
    assert lower.manifest.fingerprint == upper.manifest.fingerprint


def test_corpus_without_case_table_opens(jsonl, prepared):
    corpus = prepared(jsonl())
    files = {name: entry for name, entry in corpus.manifest.files.items() if name != "cases.txt"}
    older_corpus = PreparedCorpus(corpus.folder, replace(corpus.manifest, files=files))
    assert older_corpus.truecaser == Truecaser()
