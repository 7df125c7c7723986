import pytest

from readagain.classic.prefix import first_words, lead_sentence
from readagain.errors import ConfigError
from readagain.text.document import read_document

TEXT = "Prices don't fall. The bank kept its rate at 3.5 percent."


def test_first_words_are_copied():
    summary = first_words(read_document(TEXT), 3)
    assert summary.text == "Prices don't"
    assert [(word.norm, word.copied_from) for word in summary.words] == [
        ("prices", 0),
        ("do", 1),
        ("n't", 2),
    ]


def test_first_words_of_a_short_text_are_all_words():
    assert first_words(read_document("Rain."), 15).text == "Rain."


def test_lead_sentence_is_the_whole_sentence():
    assert lead_sentence(read_document(TEXT)).text == "Prices don't fall."


def test_prefix_of_empty_text_is_empty():
    nothing = read_document("")
    assert [lead_sentence(nothing).text, first_words(nothing, 3).text] == ["", ""]


def test_first_words_rejects_a_negative_limit():
    with pytest.raises(ConfigError, match="max_words is -2; expected 0 or more"):
        first_words(read_document(TEXT), -2)
