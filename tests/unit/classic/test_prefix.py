import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.classic.prefix import first_bytes, first_words, lead_sentence
from readagain.errors import ConfigError
from readagain.text.document import read_document

TEXT = "Prices don't fall. The bank kept its rate at 3.5 percent."


def test_the_first_bytes_end_at_a_word():
    assert first_bytes(read_document(TEXT), 16).text == "Prices don't"
    assert first_bytes(read_document(TEXT), 18).text == "Prices don't fall."


def test_a_word_of_two_tokens_is_not_cut_in_two():
    assert first_bytes(read_document(TEXT), 10).text == "Prices"


def test_bytes_are_counted_and_not_characters():
    assert first_bytes(read_document("Dürre in Öland"), 9).text == "Dürre in"
    assert first_bytes(read_document("Dürre in Öland"), 8).text == "Dürre"


def test_a_first_word_that_is_too_long_leaves_nothing():
    assert first_bytes(read_document("Donaudampfschifffahrt"), 5).words == ()


@given(st.text(max_size=60), st.integers(min_value=0, max_value=80))
def test_a_byte_limit_is_kept_for_any_text(text, max_bytes):
    assert len(first_bytes(read_document(text), max_bytes).text.encode()) <= max_bytes


@given(st.lists(st.text("abcé", min_size=1, max_size=9), max_size=9), st.integers(0, 40))
def test_one_more_word_would_pass_the_limit(words, max_bytes):
    text = " ".join(words)
    taken = first_bytes(read_document(text), max_bytes).text
    rest = text[len(taken) :].split()
    assert text.startswith(taken)
    if rest:
        assert len(" ".join([*taken.split(), rest[0]]).encode()) > max_bytes


def test_the_first_words_are_copies_of_the_source():
    summary = first_words(read_document(TEXT), 3)
    assert summary.text == "Prices don't"
    assert [(word.form, word.copied_from) for word in summary.words] == [
        ("prices", 0),
        ("do", 1),
        ("n't", 2),
    ]


def test_fewer_words_than_asked_for_are_all_taken():
    assert first_words(read_document("Rain."), 15).text == "Rain."


def test_the_lead_sentence_is_taken_whole():
    assert lead_sentence(read_document(TEXT)).text == "Prices don't fall."


def test_a_text_without_words_has_an_empty_summary():
    nothing = read_document("")
    assert [lead_sentence(nothing).text, first_words(nothing, 3).text] == ["", ""]


def test_a_limit_below_zero_is_refused():
    with pytest.raises(ConfigError, match="max_bytes is -1; expected 0 or more"):
        first_bytes(read_document(TEXT), -1)
    with pytest.raises(ConfigError, match="max_words is -2; expected 0 or more"):
        first_words(read_document(TEXT), -2)
