"""Subsets of a corpus, and the selection split."""

import numpy as np
import pytest

from readagain.corpus.shards import PreparedCorpus
from readagain.errors import DataError
from readagain.experiments.corpora import open_subset
from readagain.experiments.sample_corpus import write_sample_corpora
from readagain.text.document import sentence_norms
from readagain.text.truecasing import CASES_FILE


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    main, _ = write_sample_corpora(tmp_path_factory.mktemp("corpora"))
    return PreparedCorpus.open(main)


def pairs_of(split):
    return [([s.tolist() for s in sentences], summary.tolist()) for sentences, summary in split]


@pytest.mark.parametrize("split", ["train", "dev"])
def test_subset_has_the_pairs_with_enough_sentences(corpus, tmp_path, split):
    part = open_subset(corpus, tmp_path / "part", min_sentences=2)
    expected = [pair for pair in pairs_of(corpus.split(split)) if len(pair[0]) >= 2]
    assert 0 < len(expected) < len(corpus.split(split))
    assert pairs_of(part.split(split)) == expected
    assert part.manifest.splits[split]["pairs"] == len(expected)


def test_subset_keeps_texts_with_their_words(corpus, tmp_path):
    part = open_subset(corpus, tmp_path / "part", min_sentences=3)
    for pair, (sentences, _) in zip(part.texts("dev"), part.split("dev"), strict=True):
        words = [part.lexicon.words.index(word) for word in sentence_norms(pair.text)[0]]
        np.testing.assert_array_equal(sentences[0], words)


def test_subset_is_a_complete_corpus(corpus, tmp_path):
    part = open_subset(corpus, tmp_path / "part", min_sentences=2)
    assert PreparedCorpus.open(part.folder, checksums=True).lexicon.words == corpus.lexicon.words
    assert part.manifest.fingerprint != corpus.manifest.fingerprint
    again = open_subset(corpus, tmp_path / "again", min_sentences=2)
    assert again.manifest.fingerprint == part.manifest.fingerprint


def test_subset_keeps_the_truecasing_statistics(corpus, tmp_path):
    part = open_subset(corpus, tmp_path / "part", min_sentences=2)
    written = (part.folder / CASES_FILE).read_text()
    assert written == (corpus.folder / CASES_FILE).read_text() != ""


def test_selection_is_cut_from_the_train_split(corpus, tmp_path):
    part = open_subset(corpus, tmp_path / "part", min_sentences=1, has_selection_split=True)
    train, selection = pairs_of(part.split("train")), pairs_of(part.split("dev"))
    whole = pairs_of(corpus.split("train"))
    assert len(selection) == len(whole) // 10
    assert sorted(map(repr, train + selection)) == sorted(map(repr, whole))
    assert not part.split("test").shards or len(part.split("test")) == 0
    again = open_subset(corpus, tmp_path / "again", min_sentences=1, has_selection_split=True)
    assert pairs_of(again.split("dev")) == selection


def test_subset_is_written_once(corpus, tmp_path):
    first = open_subset(corpus, tmp_path / "part", min_sentences=2)
    written = (first.folder / "manifest.json").stat().st_mtime_ns
    again = open_subset(corpus, tmp_path / "part", min_sentences=2)
    assert (again.folder / "manifest.json").stat().st_mtime_ns == written


def test_subset_of_another_corpus_is_replaced(corpus, tmp_path):
    open_subset(corpus, tmp_path / "part", min_sentences=2)
    smaller = open_subset(corpus, tmp_path / "other", min_sentences=3)
    replaced = open_subset(smaller, tmp_path / "part", min_sentences=4)
    assert replaced.manifest.settings["taken_from"] == smaller.manifest.fingerprint


def test_subset_without_texts_is_an_error(corpus, tmp_path):
    with pytest.raises(DataError, match="no text of its train split has 6 sentences"):
        open_subset(corpus, tmp_path / "part", min_sentences=6)
    assert not (tmp_path / "part").exists()
