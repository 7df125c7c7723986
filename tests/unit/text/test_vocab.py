"""Words and their ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.errors import ArtifactError, ConfigError
from readagain.text.vocab import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Vocab


def test_reserved_words_come_first():
    vocab = Vocab.from_counts({"a": 1}, size=10)
    assert [vocab.word(id) for id in (PAD, UNK, BOS, EOS)] == list(SPECIAL_TOKENS)
    assert vocab.words[4:] == ("a",)


def test_frequent_words_are_kept_and_ties_are_alphabetical():
    vocab = Vocab.from_counts({"b": 2, "a": 2, "rare": 1, "the": 9}, size=7)
    assert vocab.words[4:] == ("the", "a", "b")
    assert len(vocab) == 7


def test_a_reserved_word_in_the_counts_takes_no_second_place():
    assert Vocab.from_counts({"<unk>": 99, "a": 1}, size=9).words == (*SPECIAL_TOKENS, "a")


def test_words_the_vocabulary_lacks_are_unknown():
    vocab = Vocab.from_counts({"a": 1}, size=9)
    assert vocab.ids(["a", "b", "<unk>"]) == [4, UNK, UNK]
    assert "a" in vocab
    assert "b" not in vocab


def test_a_saved_vocabulary_loads_the_same(tmp_path):
    vocab = Vocab.from_counts({"é": 3, "-lrb-": 2, "🙂": 1}, size=9)
    vocab.save(tmp_path / "vocab.txt")
    assert Vocab.load(tmp_path / "vocab.txt") == vocab
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.txt"]


def test_the_line_number_is_the_id(tmp_path):
    vocab = Vocab.from_counts({"b": 1, "a": 2}, size=9)
    vocab.save(tmp_path / "vocab.txt")
    lines = (tmp_path / "vocab.txt").read_text().splitlines()
    assert vocab.ids(lines) == [0, 1, 2, 3, 4, 5]


WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.split() == [word]
)


@given(st.dictionaries(WORDS, st.integers(min_value=0)))
def test_ids_and_words_are_inverse(tmp_path_factory, counts):
    vocab = Vocab.from_counts(counts, size=len(counts) + 4 + 1)
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    vocab.save(path)
    loaded = Vocab.load(path)
    assert [loaded.word(id) for id in loaded.ids(vocab.words)] == list(vocab.words)


def test_a_size_without_room_is_refused():
    with pytest.raises(ConfigError, match="vocabulary of 4 words is too small: .* use 5 or more"):
        Vocab.from_counts({"a": 1}, size=4)


def test_an_id_outside_is_refused():
    with pytest.raises(ConfigError, match="word id 7 is outside a vocabulary of 4 words"):
        Vocab(SPECIAL_TOKENS).word(7)


def test_a_word_that_no_file_can_hold_is_refused():
    with pytest.raises(ConfigError, match=r"line 5 is '\\ud800', which cannot be written as UTF-8"):
        Vocab([*SPECIAL_TOKENS, "\ud800"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "line 1 should be the reserved word '<pad>', found the end"),
        (b"<pad>\n<unk>\n<s>\n", "line 4 should be the reserved word '</s>', found the end"),
        (b"<pad>\n<unk>\n<s>\n</s>\na b\n", "line 5 is 'a b', which is not one word"),
        (b"<pad>\n<unk>\n<s>\n</s>\n\nb\n", "line 5 is '', which is not one word"),
        (b"<pad>\n<unk>\n<s>\n</s>\na\nb\na\n", "'a' stands on line 5 and again on line 7"),
        (b"<pad>\n\xff", "not UTF-8 at byte 6"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, content, problem):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=rf"vocab\.txt: .*{problem}.*; was it edited by hand"):
        Vocab.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"vocab\.txt: cannot be read: No such file"):
        Vocab.load(tmp_path / "vocab.txt")


def test_a_file_too_large_for_a_vocabulary_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("readagain.text.vocab.MAX_VOCAB_BYTES", 3)
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"words")
    with pytest.raises(ArtifactError, match=r"vocab\.txt: cannot be read: more than 3 bytes"):
        Vocab.load(path)


def test_a_word_without_end_is_cut_in_the_message(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*SPECIAL_TOKENS, "a " * 10_000]))
    with pytest.raises(ArtifactError, match=r"line 5 is 'a a .{70,80}…, which is not one word"):
        Vocab.load(path)
