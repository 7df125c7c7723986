import pytest

from readagain.classic.prefix import first_words, lead_sentence
from readagain.errors import ConfigError
from readagain.text.document import read_document

TEXT = "Prices don't fall. The bank kept its rate at 3.5 percent."


def test_the_first_words_are_copies_of_the_source():
    summary = first_words(read_document(TEXT), 3)
    assert summary.text == "Prices don't"
    assert [(word.norm, word.copied_from) for word in summary.words] == [
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
    with pytest.raises(ConfigError, match="max_words is -2; expected 0 or more"):
        first_words(read_document(TEXT), -2)
