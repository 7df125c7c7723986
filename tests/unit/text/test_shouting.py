"""Names in capitals at the beginning of a text."""

import pytest

from readagain.text.cases import Cases
from readagain.text.document import read_document
from readagain.text.shouting import quieten
from readagain.text.surface import SummaryWord, write_summary

CASES = Cases(["queen", "Brenna", "UK", "PM", "navy", "Ed Brenna", "ed", "castle"])


def quiet(sentence):
    surfaces = sentence.split()
    return " ".join(quieten(surfaces, [word.lower() for word in surfaces], CASES))


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("QUEEN BRENNA II has left", "Queen Brenna II has left"),
        ("ED BRENNA has left", "Ed Brenna has left"),
        ("BRENNA MCTARN has left", "Brenna McTarn has left"),
        ("BRENNA TARN-HOLM 'S house burns", "Brenna Tarn-Holm 's house burns"),
        ("CASTLE ON THE HILL to close", "Castle on the Hill to close"),
        ("UK NAVY ships sail", "UK Navy ships sail"),
        ("BRENNA TVX ships sail", "Brenna TVX ships sail"),
    ],
)
def test_a_name_in_capitals_is_written_as_a_name(sentence, written):
    assert quiet(sentence) == written


@pytest.mark.parametrize(
    "sentence",
    [
        "UK PM has left",  # short forms
        "ZYX QUORA has left",  # nothing is known of them
        "NAVY ships sail",  # one word
        "QUEEN BRENNA HAS LEFT",  # all of it
        "The QUEEN BRENNA has left",  # not at the beginning
        "QUEEN 2020 has left",
    ],
)
def test_other_capitals_stay(sentence):
    assert quiet(sentence) == sentence


def test_copied_and_generated_words_do_not_shout():
    source = read_document("QUEEN BRENNA has left the castle. Queues formed.")
    copies = [SummaryWord("queen", 0), SummaryWord("brenna", 1), SummaryWord("leaves")]
    assert write_summary(copies, source, cases=CASES) == "Queen Brenna leaves"
    generated = [SummaryWord(form) for form in ("why", "brenna", "left")]
    assert write_summary(generated, source, cases=CASES) == "Why Brenna left"
    assert write_summary(copies, source, cases=CASES, case="plain") == "QUEEN BRENNA leaves"
