"""Case table of a corpus."""

import pytest

from readagain.corpus import truecasing
from readagain.corpus.shards import PreparedCorpus
from readagain.formats import lines
from readagain.text.truecasing import Truecaser

QUIET = "Visitors found {} near the harbour on day {}."


def corpus_of(write, *said, headline="Quiet days continue"):
    """Write texts with a phrase in the middle of a sentence."""
    pairs = [(QUIET.format(thing, n), headline) for n, thing in enumerate(said)]
    return write(pairs)


def table(prepared, path, **settings):
    return prepared(path, filters=(), **settings).truecaser


def test_word_with_90_percent_capitals_is_listed(jsonl, prepared):
    said = ["NASA"] * 9 + ["nasa"] + ["Rose"] * 8 + ["rose"] * 2 + ["glass"] * 10
    found = table(prepared, corpus_of(jsonl, *said))
    assert found.word("nasa") == "NASA"
    assert found.word("rose") is None  # in doubt
    assert (found.word("glass"), found.word("harbour")) == ("glass", "harbour")


def test_most_frequent_capitals_are_listed(jsonl, prepared):
    said = ["Covid"] * 6 + ["COVID"] * 4 + ["UNO"] * 5 + ["Uno"] * 5
    found = table(prepared, corpus_of(jsonl, *said))
    assert found.word("covid") == "Covid"
    assert found.word("uno") == "UNO"  # first in the alphabet


def test_rare_word_is_not_listed(jsonl, prepared):
    found = table(prepared, corpus_of(jsonl, *["Tarn"] * 9, *["Norrvik"] * 10))
    assert (found.word("tarn"), found.word("norrvik")) == (None, "Norrvik")


PAIRS = [
    *["the White House"] * 38, *["the white house"] * 2, *["an Old Mill"] * 37, *["an old mill"] * 3
]  # fmt: skip
ALONE = ["a white dog"] * 60 + ["a house"] * 60


def test_pair_with_other_case_than_its_words_is_listed(jsonl, prepared):
    found = table(prepared, corpus_of(jsonl, *PAIRS, *ALONE, headline="Old white mill house"))
    assert (found.word("white"), found.word("house")) == ("white", "house")
    assert found.word_in_context("white", None, "house") == "White"
    assert "old mill" not in map(str.lower, found)  # in doubt


def test_pair_without_headline_words_is_not_listed(jsonl, prepared):
    found = table(prepared, corpus_of(jsonl, *PAIRS, *ALONE, headline="Old white mill"))
    assert "white house" not in map(str.lower, found)


def test_frequent_headline_words_ignore_texts(jsonl, prepared):
    texts = [QUIET.format("us", n) for n in range(60)]
    pairs = [(text, f"Visitors praise US harbours again {n}") for n, text in enumerate(texts)]
    assert table(prepared, jsonl(pairs)).word("us") == "US"
    assert table(prepared, jsonl(pairs[:40]), out="fewer").word("us") == "us"


def test_title_case_headlines_are_not_counted(jsonl, prepared):
    pairs = [
        (QUIET.format("glass", n), f"Visitors Praise the Glass Harbour {n}") for n in range(60)
    ]
    assert table(prepared, jsonl(pairs)).word("glass") == "glass"


def test_dev_pairs_are_not_counted(jsonl, prepared):
    train = corpus_of(jsonl, *["glass"] * 10)
    dev = jsonl([(QUIET.format("Tarn", n), "Quiet days") for n in range(20)], "dev.jsonl")
    found = table(prepared, train, dev_files=[dev])
    assert (found.word("glass"), found.word("tarn")) == ("glass", None)


@pytest.mark.parametrize("tokenized", [True, False])
def test_lower_case_corpus_has_empty_table(jsonl, prepared, tokenized):
    pairs = [("visitors found the tarn harbour .", f"tarn harbour found {n}") for n in range(30)]
    corpus = prepared(jsonl(pairs), filters=(), read={"is_tokenized": tokenized})
    assert corpus.truecaser == Truecaser()


def test_case_table_does_not_depend_on_chunk_size(jsonl, prepared, monkeypatch):
    said = ["Covid"] * 5 + ["COVID"] * 5 + ["the White House"] * 25 + ["a white dog"] * 60
    path = corpus_of(jsonl, *said, headline="Visitors found a white dog and the White House")
    whole = prepared(path, filters=())
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 7)
    monkeypatch.setattr(truecasing, "_MAX_BUFFERED_KEYS", 3)
    in_parts = prepared(path, filters=(), out="in_parts", num_workers=2)
    assert "White House" in whole.truecaser
    assert in_parts.truecaser == whole.truecaser


def test_case_table_does_not_change_fingerprint(jsonl, prepared):
    small = prepared(corpus_of(jsonl, *["glass"] * 20), filters=())
    large = prepared(corpus_of(jsonl, *["Glass"] * 20), filters=(), out="large")
    assert small.truecaser != large.truecaser
    assert small.manifest.fingerprint == large.manifest.fingerprint


def test_corpus_without_case_table_opens(jsonl, prepared):
    corpus = prepared(jsonl())
    files = {name: facts for name, facts in corpus.manifest.files.items() if name != "cases.txt"}
    older = PreparedCorpus(corpus.folder, type(corpus.manifest)(
        **{**vars(corpus.manifest), "files": files}
    ))  # fmt: skip
    assert older.truecaser == Truecaser()
