"""Digits and UNK in texts tokenized as in Gigaword."""

from readagain.evaluation.network import TokenizedText
from readagain.text.detokenization import SummaryToken
from readagain.text.document import Token


def generated(norm):
    return SummaryToken(norm, None)


def copied(norm, text):
    """Make a token that was copied from the first occurrence of a word in a text."""
    start = f" {text} ".index(f" {norm} ")
    return SummaryToken(norm, 0, source=Token(norm, start, start + len(norm)))


def test_tokenized_text_masks_digits():
    assert TokenizedText("in 1904 , 3.5 percent").masked == "in #### , #.# percent"


def test_tokenized_text_replaces_unk():
    assert TokenizedText("the UNK and the <unk>").masked == "the <unk> and the <unk>"


def test_tokenized_text_keeps_lines():
    assert TokenizedText("a  b\n\n c").masked == "a b\nc"


def test_surfaces_restore_digits_of_copied_numbers():
    text = TokenizedText("from 12 to 34\nthen 56")
    second_number = SummaryToken("##", 2, source=Token("##", 11, 13))
    assert text.masked[11:13] == "##"
    assert text.surfaces([copied("from", text.masked), second_number]) == ["from", "34"]


def test_surfaces_restore_digits_of_generated_numbers():
    text = TokenizedText("in 1904 , 12 and 34")
    assert text.surfaces([generated("##"), generated("####")]) == ["12", "1904"]


def test_surfaces_keep_masks_of_unknown_numbers():
    tokens = [generated("#.#"), generated("new")]
    assert TokenizedText("no number").surfaces(tokens) == ["#.#", "new"]


def test_surfaces_of_masked_text_stay_masked():
    text = TokenizedText("in #### , ## people")
    assert text.masked == "in #### , ## people"
    tokens = [copied("##", text.masked), generated("####")]
    assert text.surfaces(tokens) == ["##", "####"]
