"""ROUGE tokenization: limits, letters and digits."""

import pytest

from readagain.rouge.options import RougeOptions
from readagain.rouge.tokens import (
    RougeTokenizer,
    lost_letters_warning,
    truncate_bytes,
    truncate_each_line,
    truncate_words,
    unicode_words,
)


def words_of(text, **options):
    """Return the one-letter words of a text, found by their ids."""
    tokenizer = RougeTokenizer(RougeOptions(**options))
    names = {tokenizer.read(name).flat[0]: name for name in "abcdefghij"}
    return [names.get(id_, "?") for id_ in tokenizer.read(text).flat]


def have_equal_words(text, other, **options):
    tokenizer = RougeTokenizer(RougeOptions(**options))
    return tokenizer.read(text).flat == tokenizer.read(other).flat


def test_tokens_are_split_at_other_characters():
    assert have_equal_words("Well-known, U.S. don't 3.5%", "well known u s don t 3 5")


def test_only_ascii_capitals_are_lowered():
    assert have_equal_words("CAFÉ", "caf")  # the accented letter is two bytes that are no letters
    assert have_equal_words("İx", "x")


def test_text_without_words_has_no_ids():
    assert words_of("… -- ?!") == []
    assert words_of("") == []


def test_stemming_is_optional():
    assert have_equal_words("governments went", "government go", stem=True)
    assert not have_equal_words("governments went", "government go")


def test_each_line_is_a_sentence():
    words = RougeTokenizer(RougeOptions()).read("a b\nc")
    assert [len(sentence) for sentence in words.sentences] == [2, 1]
    assert len(words.flat) == 3


def test_truncate_bytes_does_not_count_line_ends():
    assert truncate_bytes([b"a b", b"c d", b"e"], 5) == [b"a b", b"c "]


def test_truncate_bytes_may_split_a_character():
    assert words_of("éa", max_bytes=3) == ["a"]
    assert words_of("éa", max_bytes=2) == []


def test_truncate_each_line_ignores_earlier_lines():
    assert truncate_each_line([b"a b", b"c d e", b"f"], 4) == [b"a b", b"c d "]


def test_byte_limit_of_one_line_is_the_same_for_all_measures():
    words = RougeTokenizer(RougeOptions(max_bytes=4)).read("a b c d")
    assert words.sentences == [words.flat]


def test_truncate_words_splits_at_white_space():
    assert words_of("a-b c d", max_words=2) == ["a", "b", "c"]


def test_truncate_words_counts_leading_white_space():
    assert truncate_words([b"  a b"], 2) == [b" a"]


def test_truncate_words_ignores_blank_lines():
    assert words_of("a\n \n\nb c", max_words=2) == ["a", "b"]


@pytest.mark.parametrize("text", ["a \ud800 b", "a \x00 b"])
def test_tokenizer_accepts_odd_characters(text):
    assert words_of(text) == ["a", "b"]


def test_unicode_words_keep_letters_of_all_scripts():
    assert unicode_words("Bürger in KÖLN, l'été 3,5%") == [
        *("bürger", "in", "köln", "l", "été", "3", "5"),
    ]
    assert unicode_words("Мэр не ответил.") == ["мэр", "не", "ответил"]
    assert unicode_words("हिन्दी में") == ["हिन्दी", "में"]  # vowel signs are marks, not letters
    assert unicode_words("cafe\u0301") == unicode_words("café") == ["café"]


def test_unicode_words_are_characters_without_spaces():
    assert unicode_words("市长ABC说") == ["市", "长", "abc", "说"]
    assert unicode_words("はいー") == ["は", "い", "ー"]
    assert unicode_words("ที่นี่") == ["ที่", "นี่"]


def test_lost_letters_warning_counts_letters_outside_ascii():
    assert (
        lost_letters_warning([["The café is closed"], ["Nobody knows why it is so"] * 12]) is None
    )
    assert lost_letters_warning([["123"]]) is None
    warning = lost_letters_warning([["Мэр ушёл"], ["Mayor"]])
    assert warning is not None
    assert "ignores 58% of the letters" in warning
