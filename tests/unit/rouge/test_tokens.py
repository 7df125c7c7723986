"""Reading texts: bytes, limits, letters and digits."""

import pytest

from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import Reader, cut_bytes, cut_each_line, cut_words


def words_of(text, **options):
    """Return the words that are read, as far as their ids tell them apart."""
    reader = Reader(RougeOptions(**options))
    names = {reader.read(name).flat[0]: name for name in "abcdefghij"}
    return [names.get(id_, "?") for id_ in reader.read(text).flat]


def same(one, other, **options):
    reader = Reader(RougeOptions(**options))
    return reader.read(one).flat == reader.read(other).flat


def test_everything_but_letters_and_digits_separates_words():
    assert same("Well-known, U.S. don't 3.5%", "well known u s don t 3 5")


def test_only_ascii_capitals_are_lowered():
    assert same("CAFÉ", "caf")  # the accented letter is two bytes that are no letters
    assert same("İx", "x")


def test_a_text_without_words_is_empty():
    assert words_of("… -- ?!") == []
    assert words_of("") == []


def test_stems_are_compared_only_when_asked():
    assert same("governments went", "government go", stem=True)
    assert not same("governments went", "government go")


def test_stop_words_go_before_stemming():
    assert same("a bettered b", "a bettered b", stop_words=frozenset({"Better"}))
    assert words_of("a better b", stop_words=frozenset({"Better"})) == ["a", "b"]


def test_sentences_are_lines():
    words = Reader(RougeOptions()).read("a b\nc")
    assert [len(sentence) for sentence in words.sentences] == [2, 1]
    assert len(words.flat) == 3


def test_bytes_are_counted_over_lines_without_their_ends():
    assert cut_bytes([b"a b", b"c d", b"e"], 5) == [b"a b", b"c "]


def test_a_character_may_be_cut_in_half():
    assert words_of("éa", max_bytes=3) == ["a"]
    assert words_of("éa", max_bytes=2) == []


def test_subsequences_forget_the_bytes_of_earlier_lines():
    assert cut_each_line([b"a b", b"c d e", b"f"], 4) == [b"a b", b"c d "]


def test_a_byte_limit_reads_one_line_the_same_for_every_measure():
    words = Reader(RougeOptions(max_bytes=4)).read("a b c d")
    assert words.sentences == [words.flat]


def test_words_are_counted_between_white_space():
    assert words_of("a-b c d", max_words=2) == ["a", "b", "c"]


def test_white_space_before_the_first_word_counts_as_one():
    assert cut_words([b"  a b"], 2) == [b" a"]


def test_blank_lines_cost_no_words():
    assert words_of("a\n \n\nb c", max_words=2) == ["a", "b"]


@pytest.mark.parametrize("text", ["a \ud800 b", "a \x00 b"])
def test_odd_characters_are_no_obstacle(text):
    assert words_of(text) == ["a", "b"]
