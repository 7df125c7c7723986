"""Words in capitals at the beginning of a text, and texts in capitals throughout."""

import pytest

from readagain.text.cases import Truecaser
from readagain.text.document import read_document
from readagain.text.shouting import quieten, quieten_all, quieten_text
from readagain.text.surface import SummaryToken, write_summary

CASES = Truecaser(
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
        ("QUORLEY COUNTY has left", "Quorley County has left"),  # unknown, and like a name
    ],
)
def test_words_in_capitals_are_written_as_usual(sentence, written):
    assert quiet(sentence) == written


@pytest.mark.parametrize(
    "sentence",
    [
        "UK PM has left",  # short forms
        "ZYX QUORA has left",  # nothing is known of them, and one is short
        "ZTVK QUORA has left",  # or cannot be read aloud
        "UK QUORA has left",  # or is known to be written so
        "QUORLEY COUNTY",
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
    copies = [SummaryToken("queen", 0), SummaryToken("victoria", 1), SummaryToken("leaves")]
    assert write_summary(copies, source, cases=CASES) == "Queen Victoria leaves"
    generated = [SummaryToken(form) for form in ("why", "victoria", "left")]
    assert write_summary(generated, source, cases=CASES) == "Why Victoria left"
    assert write_summary(copies, source, cases=CASES, case="plain") == "QUEEN VICTORIA leaves"


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        (
            "THE QUEEN LEFT THE CASTLE AT MOUNT VICTORIA",
            "the queen Left the castle at Mount Victoria",
        ),
        ("UK PM MARK TWAIN", "UK PM Mark Twain"),
        ("MOUNT MCKINLEY", "Mount McKinley"),
        ("THE QUEEN'S NAVY MAYN'T AT VICTORIA’S", "the queen's navy MAYn't at Victoria’s"),
        ("THE NAVY-MARK CASTLE OF A 17-MARK QUEEN", "the navy-mark castle OF A 17-mark queen"),
        ("THE 14TH NAVY OF THE 1990S AT G20", "the 14th navy OF the 1990s at G20"),
        ("OPEC AND ZYX AND TVRSK AT XIV (U.N.)", "Opec AND ZYX AND TVRSK at XIV (U.N.)"),
    ],
)
def test_a_text_in_capitals_is_written_as_the_table_has_its_words(sentence, written):
    words = [word for each in read_document(sentence).sentences for word in each]
    surfaces = [sentence[word.start : word.end] for word in words]
    quiet = quieten_all(surfaces, [word.form for word in words], CASES)
    assert "".join(quiet) == written.replace(" ", "")


@pytest.mark.parametrize(
    ("sentences", "written"),
    [
        ("NAVY AT VICTORIA 2 . THE QUEEN HAS", "navy at Victoria 2 . the queen HAS"),
        ("NAVY AT 2 . the castle", "Navy at 2 . the castle"),  # a name at the beginning
        ("UK PM , UK NAVY . the castle", "UK PM , UK navy . the castle"),  # four in capitals
        ("UK PM , NAVY 。", "UK PM , NAVY 。"),  # three
    ],
)
def test_a_text_or_a_sentence_in_capitals_has_several_words(sentences, written):
    surfaces = [each.split() for each in sentences.split(" . ")]
    forms = [[word.lower() for word in each] for each in surfaces]
    quiet = quieten_text(surfaces, forms, CASES)
    assert " . ".join(" ".join(each) for each in quiet) == written


def test_a_summary_of_a_text_in_capitals_does_not_shout():
    source = read_document("THE UK NAVY HAS LEFT MARK TWAIN AT VICTORIA. THE QUEEN HAS LEFT.")
    copies = [SummaryToken(source.words[place].form, place) for place in (1, 2, 4, 5, 6, 7, 8)]
    headline = [SummaryToken("why"), *copies]
    assert write_summary(headline, source, cases=CASES) == "Why UK navy Left Mark Twain at Victoria"
    assert write_summary([SummaryToken("queen")], source, cases=CASES) == "Queen"
    assert (
        write_summary(copies, source, cases=CASES, case="plain")
        == "UK NAVY LEFT MARK TWAIN AT VICTORIA"
    )
    assert write_summary(copies[:2], source, cases=CASES, case="headline") == "UK Navy"


def test_by_plain_case_generated_words_shout_with_their_text():
    source = read_document("THE ZYXWICK NAVY HAS LEFT.")
    generated = [SummaryToken("zyxwick"), SummaryToken("left")]
    assert write_summary(generated, source, cases=CASES, case="plain") == "ZYXWICK LEFT"
