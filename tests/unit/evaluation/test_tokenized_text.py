"""Digits and UNK in texts tokenized as in Gigaword."""

from readagain.evaluation.network import TokenizedText
from readagain.text.detokenization import SummaryToken
from readagain.text.document import Token


def part(form, place_in=None):
    """Make a word that was copied from its first occurrence in a text, or generated."""
    start = None if place_in is None else f" {place_in} ".index(f" {form} ")
    source = None if start is None else Token(form, start, start + len(form))
    return SummaryToken(form, None if source is None else 0, source=source)


def test_tokenized_text_masks_digits():
    assert TokenizedText("in 1904 , 3.5 percent").for_model == "in #### , #.# percent"


def test_tokenized_text_replaces_unk():
    assert TokenizedText("the UNK and the <unk>").for_model == "the <unk> and the <unk>"


def test_tokenized_text_keeps_lines():
    assert TokenizedText("a  b\n\n c").for_model == "a b\nc"


def test_surfaces_restore_digits_of_copied_numbers():
    text = TokenizedText("from 12 to 34\nthen 56")
    given = text.for_model
    second = SummaryToken("##", 2, source=Token("##", 11, 13))
    assert given[11:13] == "##"
    assert text.surfaces([part("from", given), second]) == ["from", "34"]


def test_surfaces_restore_digits_of_generated_numbers():
    text = TokenizedText("in 1904 , 12 and 34")
    assert text.surfaces([part("##"), part("####")]) == ["12", "1904"]


def test_surfaces_keep_masks_of_unknown_numbers():
    assert TokenizedText("no number").surfaces([part("#.#"), part("new")]) == ["#.#", "new"]


def test_surfaces_of_masked_text_stay_masked():
    text = TokenizedText("in #### , ## people")
    assert text.for_model == "in #### , ## people"
    assert text.surfaces([part("##", text.for_model), part("####")]) == ["##", "####"]
