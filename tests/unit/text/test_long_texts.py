"""Long and odd texts: a quadratic rule would keep these tests busy for hours."""

import pytest

from readagain.text.document import read_document, sentence_words
from readagain.text.surface import write_document

SIZE = 200_000
ODD = ["a", "a ", ".", ". ", "... ", "'", "''", "'s ", "n't ", "a-", "--", '" ', '."', ".)' "]
ODD += ["?! ", "\n", " ", "1,", "U.S. ", "A. ", "Mr. ", "[1", ".[1] ", "“", "’", "`", "e\u0301"]
ODD += ["\ud800", "🙂", "\u200d", "م", "。", '?" Aa ', "cannot ", "- a\n", "\x00", "\x1c"]


@pytest.mark.parametrize("unit", ODD, ids=ascii)
def test_a_long_odd_text_is_read_whole(unit):
    text = unit * (SIZE // len(unit))
    words = sum(len(sentence) for sentence in sentence_words(text))
    assert words <= SIZE
    assert (words == 0) == text.isspace()


@pytest.mark.parametrize("unit", ["a. B ", "x'y ", '("No.") '])
def test_a_long_text_is_restored_whole(unit):
    text = (unit * (SIZE // 4 // len(unit))).strip()
    assert write_document(read_document(text)) == text
