"""Vocabularies and extended ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ArtifactError, ConfigError
from readagain.text.vocab import (
    BOS,
    EOS,
    PAD,
    SPECIAL_TOKENS,
    UNK,
    Vocab,
    extended_source_ids,
    extended_summary_ids,
)


def test_special_tokens_come_first():
    vocab = Vocab.from_counts({"a": 1}, size=10)
    assert [vocab.words[id] for id in (PAD, UNK, BOS, EOS)] == list(SPECIAL_TOKENS)
    assert vocab.words[4:] == ("a",)


def test_vocab_keeps_frequent_words_and_sorts_ties():
    vocab = Vocab.from_counts({"b": 2, "a": 2, "rare": 1, "the": 9}, size=7)
    assert vocab.words[4:] == ("the", "a", "b")
    assert len(vocab) == 7


def test_vocab_ignores_counts_of_special_tokens():
    assert Vocab.from_counts({"<unk>": 99, "a": 1}, size=9).words == (*SPECIAL_TOKENS, "a")


def test_out_of_vocabulary_words_have_the_unk_id():
    vocab = Vocab.from_counts({"a": 1}, size=9)
    assert vocab.ids(["a", "b", "<unk>"]) == [4, UNK, UNK]
    assert "a" in vocab
    assert "b" not in vocab


def test_saved_vocab_loads_equal(tmp_path):
    vocab = Vocab.from_counts({"é": 3, "-lrb-": 2, "🙂": 1}, size=9)
    vocab.save(tmp_path / "vocab.txt")
    assert Vocab.load(tmp_path / "vocab.txt") == vocab
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.txt"]


def test_vocab_line_number_is_the_id(tmp_path):
    vocab = Vocab.from_counts({"b": 1, "a": 2}, size=9)
    vocab.save(tmp_path / "vocab.txt")
    lines = (tmp_path / "vocab.txt").read_text().splitlines()
    assert vocab.ids(lines) == [0, 1, 2, 3, 4, 5]


WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.split() == [word]
)


@given(st.dictionaries(WORDS, st.integers(min_value=0)))
def test_vocab_ids_and_words_are_inverse(tmp_path_factory, counts):
    vocab = Vocab.from_counts(counts, size=len(counts) + 4 + 1)
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    vocab.save(path)
    loaded = Vocab.load(path)
    assert [loaded.words[id] for id in loaded.ids(vocab.words)] == list(vocab.words)


def test_vocab_rejects_a_size_below_five():
    with pytest.raises(ConfigError, match="vocabulary size is 4, .*; use 5 or more"):
        Vocab.from_counts({"a": 1}, size=4)


def test_vocab_rejects_a_lone_surrogate():
    with pytest.raises(ConfigError, match=r"line 5 is '\\ud800', which cannot be written as UTF-8"):
        Vocab([*SPECIAL_TOKENS, "\ud800"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "line 1 is missing; expected the special token '<pad>'"),
        (b"<pad>\n<unk>\n<s>\n", "line 4 is missing; expected the special token '</s>'"),
        (b"<pad>\n<unk>\n<s>\n</s>\na b\n", "line 5 is 'a b', which is not one word"),
        (b"<pad>\n<unk>\n<s>\n</s>\n\nb\n", "line 5 is '', which is not one word"),
        (b"<pad>\n<unk>\n<s>\n</s>\na\nb\na\n", "'a' is on line 5 and again on line 7"),
        (b"<pad>\n\xff", "not UTF-8 at byte 6"),
    ],
)
def test_vocab_error_names_the_invalid_line(tmp_path, content, problem):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=rf"vocab\.txt: .*{problem}.*; was it edited by hand"):
        Vocab.load(path)


def test_vocab_error_names_the_missing_file(tmp_path):
    with pytest.raises(ArtifactError, match=r"vocab\.txt: cannot be read: No such file"):
        Vocab.load(tmp_path / "vocab.txt")


def test_vocab_rejects_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("readagain.text.vocab.MAX_VOCAB_BYTES", 3)
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"words")
    with pytest.raises(ArtifactError, match=r"vocab\.txt: cannot be read: more than 3 bytes"):
        Vocab.load(path)


def test_vocab_error_truncates_a_long_word(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIAL_TOKENS, "a " * 10_000]))
    with pytest.raises(ArtifactError, match=r"line 5 is 'a a .{70,80}…, which is not one word"):
        Vocab.load(path)


VOCAB = Vocab((*SPECIAL_TOKENS, "the", "court"))
V = len(VOCAB)


def test_extended_id_is_the_first_position():
    source = ["the", "zagreb", "court", "zagreb", "ruled"]
    assert extended_source_ids(source, VOCAB) == [4, V + 1, 5, V + 1, V + 4]


def test_vocabulary_words_keep_their_ids():
    assert extended_source_ids(["court", "the", "court"], VOCAB) == [5, 4, 5]


def test_extended_ids_count_padding_as_positions():
    assert extended_source_ids(["the", "<pad>", "zagreb"], VOCAB) == [4, PAD, V + 2]


def test_unk_in_the_source_has_no_extended_id():
    assert extended_source_ids(["<unk>", "zagreb"], VOCAB) == [UNK, V + 1]


def test_summary_word_in_neither_vocab_nor_source_is_unk():
    source = ["the", "zagreb", "court"]
    assert extended_summary_ids(["zagreb", "court", "sits"], source, VOCAB) == [V + 1, 5, UNK]


@given(st.lists(st.sampled_from(["the", "court", "zagreb", "ruled", "x"])))
def test_extended_ids_index_vocab_and_source(source):
    ids = extended_source_ids(source, VOCAB)
    assert [[*VOCAB.words, *source][id] for id in ids] == source
