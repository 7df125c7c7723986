"""Words in capitals at the beginning of a text."""

import pytest

from readagain.text.cases import Cases
from readagain.text.document import read_document
from readagain.text.shouting import quieten
from readagain.text.surface import SummaryWord, write_summary

CASES = Cases(
    [
        "queen",
        "Victoria",
        "UK",
        "PM",
        "navy",
        "Mark Twain",
        "mark",
        "castle",
        "Mount",
        "who",
        "the",
        "at",
    ]
)


def quiet(sentence):
    surfaces = sentence.split()
    return " ".join(quieten(surfaces, [word.lower() for word in surfaces], CASES))


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        ("QUEEN VICTORIA I has left", "Queen Victoria I has left"),
        ("MARK TWAIN has left", "Mark Twain has left"),
        ("MOUNT MCKINLEY has melted", "Mount McKinley has melted"),
        ("MOUNT TARN-HOLM 'S hut burns", "Mount Tarn-Holm 's hut burns"),
        ("CASTLE ON THE HILL to close", "Castle on the Hill to close"),
        ("UK NAVY ships sail", "UK Navy ships sail"),
        ("VICTORIA TVX ships sail", "Victoria TVX ships sail"),
        ("NAVY ships sail", "Navy ships sail"),
        ("VICTORIA / LIMA : ships sail", "Victoria / LIMA : ships sail"),
        ("THE navy sails", "The navy sails"),
        ("QUEEN 2020 has left", "Queen 2020 has left"),
    ],
)
def test_words_in_capitals_are_written_as_usual(sentence, written):
    assert quiet(sentence) == written


@pytest.mark.parametrize(
    "sentence",
    [
        "UK PM has left",  # short forms
        "ZYX QUORA has left",  # nothing is known of them
        "OPEC meets",  # one word of which nothing is known
        "WHO meets",  # one that may be short for something
        "PM leaves",
        "AT & T calls",
        "NAVY & Co sail",
        "",
        "QUEEN VICTORIA HAS LEFT",  # all of it
        "The QUEEN VICTORIA has left",  # not at the beginning
        "NAVY and NAVY 2 sail",  # twice
    ],
)
def test_other_capitals_stay(sentence):
    assert quiet(sentence) == sentence


def test_copied_and_generated_words_do_not_shout():
    source = read_document("QUEEN VICTORIA has left the castle. Queues formed.")
    copies = [SummaryWord("queen", 0), SummaryWord("victoria", 1), SummaryWord("leaves")]
    assert write_summary(copies, source, cases=CASES) == "Queen Victoria leaves"
    generated = [SummaryWord(form) for form in ("why", "victoria", "left")]
    assert write_summary(generated, source, cases=CASES) == "Why Victoria left"
    assert write_summary(copies, source, cases=CASES, case="plain") == "QUEEN VICTORIA leaves"
