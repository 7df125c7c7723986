"""Language of a corpus."""

import gzip

import pytest

from readagain.corpus.language import detect_corpus_language, language_of_texts
from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.errors import ArtifactError, DataError

GERMAN = "Die Stadt erhöht die Gebühren für den Müll, und der Rat stimmt dem zu."
ENGLISH = "The council raised the fee for the bins, and the mayor said it was too late."


def test_language_of_texts_is_that_of_most():
    assert language_of_texts([GERMAN, GERMAN, GERMAN, ENGLISH, "2026"]) == "de"


def test_language_of_mixed_texts_is_undetermined():
    assert language_of_texts([GERMAN, ENGLISH]) == "und"
    assert language_of_texts([]) == "und"


def test_detection_returns_the_error_of_an_unreadable_input(tmp_path):
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(gzip.compress(f'{{"text": "{ENGLISH}", "headline": "Bins"}}\n'.encode() * 9))
    sources = find_inputs([str(path)], CorpusReadOptions())
    path.write_bytes(path.read_bytes()[:-20])
    assert "the compressed data is cut short" in str(detect_corpus_language(sources)[1])


def test_temporary_read_error_does_not_change_the_language(jsonl, prepared, monkeypatch):
    language_and_error = ("und", DataError("a.jsonl: cannot be read"))
    with monkeypatch.context() as patch:
        patch.setattr(
            "readagain.corpus.prepare.detect_corpus_language", lambda _: language_and_error
        )
        with pytest.raises(DataError, match="a.jsonl: cannot be read"):
            prepared(jsonl())
    assert prepared(jsonl()).manifest.language == "en"


def test_detection_ignores_invalid_records(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"text": "x", "headline": "y"}\n{"text": broken\n')
    assert detect_corpus_language(find_inputs([str(path)], CorpusReadOptions()))[0] == "und"


def test_other_language_than_that_of_the_texts_is_reported(jsonl, prepared, caplog):
    corpus = prepared(jsonl([(GERMAN, "Stadt erhöht Gebühren")]), language="fr")
    assert corpus.manifest.language == "fr"
    assert caplog.messages == ["the language is set to French, but most texts look like German"]


def test_corpus_of_an_older_version_is_english(jsonl, prepared):
    corpus = prepared(jsonl())
    path = corpus.folder / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('  "language": "en",\n', ""))
    assert '"language": "en"' not in path.read_text().partition('"inputs"')[2]
    assert CorpusManifest.load(corpus.folder).language == "en"
    path.write_text(text.replace('  "language": "en",\n', '  "language": "xx",\n'))
    with pytest.raises(ArtifactError, match="the language is 'xx'"):
        CorpusManifest.load(corpus.folder)
