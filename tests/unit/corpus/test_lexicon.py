import numpy as np
import pytest

from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.errors import ArtifactError
from readagain.text.vocab import SPECIAL_TOKENS, UNK, Vocab


@pytest.fixture
def lexicon():
    words = ["storm", "the", "in", "school", "tarn", "rare"]
    source = np.array([5, 9, 3, 1, 2, 0])
    summary = np.array([6, 1, 3, 3, 0, 0])
    return Lexicon(words, source, summary)


def test_lexicon_save_and_load_round_trip(tmp_path, lexicon):
    lexicon.save(tmp_path / "lexicon.txt")
    loaded = Lexicon.load(tmp_path / "lexicon.txt")
    assert loaded.words == lexicon.words
    np.testing.assert_array_equal(loaded.source_counts, lexicon.source_counts)
    np.testing.assert_array_equal(loaded.summary_counts, lexicon.summary_counts)
    assert (tmp_path / "lexicon.txt").read_text().splitlines()[0] == "storm\t5\t6"


def test_empty_lexicon_round_trips(tmp_path):
    Lexicon([], np.zeros(0, np.int64), np.zeros(0, np.int64)).save(tmp_path / "lexicon.txt")
    assert len(Lexicon.load(tmp_path / "lexicon.txt")) == 0


@pytest.mark.parametrize("size", [5, 6, 7, 8, 100])
@pytest.mark.parametrize("side", ["source", "summary"])
def test_vocab_equals_vocab_from_counts(lexicon, side, size):
    counts = getattr(lexicon, f"{side}_counts")
    count_of_word = {word: int(n) for word, n in zip(lexicon.words, counts, strict=True) if n}
    assert lexicon.vocab(side, size) == Vocab.from_counts(count_of_word, size)


def test_vocab_ids_maps_lexicon_ids(lexicon):
    vocab = Vocab([*SPECIAL_TOKENS, "in", "storm"])
    table = lexicon.vocab_ids(vocab)
    shard_words = np.array([0, 1, 2, UNKNOWN_ID])
    assert table[shard_words].tolist() == [5, UNK, 4, UNK]


def test_decode_joins_words_of_ids(lexicon):
    assert lexicon.decode(np.array([1, 0, UNKNOWN_ID])) == "the storm <unk>"


def test_invalid_line_error_has_line_number(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text("storm\t5\t6\nthe\tmany\t1\n")
    with pytest.raises(ArtifactError, match=r"lexicon\.txt:2: found 'the\\tmany\\t1'; expected a"):
        Lexicon.load(path)


def test_missing_or_undecodable_file_is_rejected(tmp_path):
    path = tmp_path / "lexicon.txt"
    with pytest.raises(ArtifactError, match=r"lexicon\.txt: cannot be read: No such file"):
        Lexicon.load(path)
    path.write_bytes(b"caf\xe9\t1\t1\n")
    with pytest.raises(ArtifactError, match=r"lexicon\.txt: not UTF-8 at byte 3"):
        Lexicon.load(path)


def test_unreadable_file_is_named(tmp_path, monkeypatch):
    def fail(path, max_bytes):
        raise OSError(5, "Input/output error")  # errors of reads have no file name

    monkeypatch.setattr("readagain.storage.files.read_bounded", fail)
    with pytest.raises(ArtifactError, match=r"lexicon\.txt: cannot be read: Input/output error"):
        Lexicon.load(tmp_path / "lexicon.txt")


def test_huge_count_is_rejected(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text("bridge\t99999999999999999999\t1\n")
    with pytest.raises(ArtifactError, match=r"lexicon\.txt:1: found 'bridge"):
        Lexicon.load(path)
