"""Truecasing of words, sentences and all-caps texts."""

import numpy as np
import pytest
from printing import detokenize

from readagain.errors import ArtifactError
from readagain.text.detokenization import SummaryToken
from readagain.text.document import read_document
from readagain.text.truecasing import (
    Truecaser,
    default_truecaser,
    has_informative_case,
    normalize_all_caps,
    truecase_sentence,
    truecase_start,
)
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

CASES = Truecaser(["iPhone", "NASA", "house", "White House", "rocket"])


def informative(*sentences):
    """Return the words of sentences that have an informative case."""
    sentences = [sentence.split() for sentence in sentences]
    words = [word for sentence in sentences for word in sentence]
    tokens = sorted(set(words))
    ids = np.array([tokens.index(word) for word in words], dtype=np.int64)
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    flags = has_informative_case(tokens, ids, lengths)
    return [word for word, is_informative in zip(words, flags, strict=True) if is_informative]


def test_truecaser_finds_words_by_norm():
    assert [CASES.spelling(norm) for norm in ("iphone", "nasa", "house", "white")] == [
        "iPhone", "NASA", "house", None,
    ]  # fmt: skip


def test_truecaser_spells_a_pair_by_its_neighbour():
    assert CASES.spelling_in_context("white", None, "house") == "White"
    assert CASES.spelling_in_context("house", "white", None) == "House"
    assert CASES.spelling_in_context("house", None, "white") == "house"


def test_saved_truecaser_loads_equal(tmp_path):
    CASES.save(tmp_path / "cases.txt")
    assert (tmp_path / "cases.txt").read_text() == "house\niPhone\nNASA\nrocket\nWhite House\n"
    assert Truecaser.load(tmp_path / "cases.txt") == CASES
    Truecaser().save(tmp_path / "none.txt")
    assert len(Truecaser.load(tmp_path / "none.txt")) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"NASA\nThe White House\n", r"cases\.txt:2: found 'The White House'; expected a word, or"),
        (b"NASA\n\n", r"cases\.txt:2: found ''; expected a word, or two words with a space"),
        (b"NASA\n ESA\n", r"cases\.txt:2: found ' ESA'; expected a word"),
        (b"NASA\nNasa\n", r"cases\.txt:1: found 'NASA'; the file also has 'Nasa'; was it"),
        (b"NASA\n\xff", r"cases\.txt: not UTF-8 at byte 5; was it edited by hand\?"),
    ],
)
def test_truecaser_error_names_the_invalid_line(tmp_path, content, message):
    (tmp_path / "cases.txt").write_bytes(content)
    with pytest.raises(ArtifactError, match=message):
        Truecaser.load(tmp_path / "cases.txt")


def test_truecaser_error_names_the_missing_file(tmp_path):
    with pytest.raises(ArtifactError, match=r"cases\.txt: cannot be read: No such file"):
        Truecaser.load(tmp_path / "cases.txt")


def test_truecaser_can_be_restricted_to_a_vocab():
    vocab = Vocab([*SPECIAL_TOKENS, "nasa", "white"])
    assert list(CASES.restricted_to(vocab)) == ["NASA"]
    assert list(CASES.restricted_to(Vocab([*vocab.words, "house"]))) == [
        "house",
        "NASA",
        "White House",
    ]


def test_truecaser_overrides_its_fallback():
    assert list(Truecaser(["Rocket", "esa"]).with_fallback(CASES)) == [
        "esa", "house", "iPhone", "NASA", "Rocket", "White House",
    ]  # fmt: skip


def test_default_truecaser_has_frequent_words():
    assert default_truecaser().spelling("monday") == "Monday"
    assert default_truecaser().spelling("bridge") == "bridge"


def test_case_at_sentence_start_is_not_informative():
    assert informative("Police in Tarn closed the bridge") == [
        "in",
        "Tarn",
        "closed",
        "the",
        "bridge",
    ]
    assert informative("`` Police closed it '' , she wrote") == ["closed", "it", "she", "wrote"]


def test_informative_case_is_decided_per_sentence():
    mixed, all_caps = "Police in Tarn closed the bridge", "MAYOR CLOSES BRIDGE"
    assert informative(mixed, all_caps, mixed) == informative(mixed) + informative(mixed)
    assert informative(all_caps, "Hm", mixed) == informative(mixed)
    assert informative() == []


def test_case_after_a_colon_or_dash_is_not_informative():
    assert informative("Mayors warn : The bridge -- Our only one -- closes") == [
        "warn", "bridge", "only", "one",
    ]  # fmt: skip


def test_title_case_and_all_caps_are_not_informative():
    assert informative("Mayor of Tarn to Close the Only Bridge About Town") == []
    assert informative("MAYOR OF TARN TO CLOSE BRIDGE") == []


def test_lower_case_sentence_is_not_informative():
    assert informative("the mayor of tarn closed the bridge") == []


def test_numbers_and_punctuation_are_not_informative():
    assert informative("Tarn closed 12 bridges , 3-day talks") == ["closed", "bridges", "talks"]


TRUECASER = Truecaser(
    ["queen", "Victoria", "UK", "PM", "navy", "Mark Twain", "mark", "castle", "Mount", "who"]
    + ["the", "at"]
)


def truecase(sentence):
    """Return a sentence with truecased all-caps words at its start."""
    surfaces = sentence.split()
    return " ".join(truecase_start(surfaces, [word.lower() for word in surfaces], TRUECASER))


@pytest.mark.parametrize(
    ("sentence", "expected"),
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
        ("QUORLEY COUNTY has left", "Quorley County has left"),  # looks like a name
    ],
)
def test_all_caps_start_is_truecased(sentence, expected):
    assert truecase(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "UK PM has left",  # acronyms
        "ZYX QUORA has left",  # unknown words, and one is short
        "ZTVK QUORA has left",  # unknown words, and one has no vowel
        "UK QUORA has left",  # one word is known in capitals
        "QUORLEY COUNTY",
        "OPEC meets",  # one unknown word
        "WHO meets",  # may be an acronym
        "PM leaves",
        "AT & T calls",
        "NAVY & Co sail",
        "",
        "QUEEN VICTORIA HAS LEFT",  # the whole sentence
        "The QUEEN VICTORIA has left",  # not at the start
        "NAVY and NAVY 2 sail",  # occurs again in capitals
    ],
)
def test_acronyms_and_other_capitals_stay(sentence):
    assert truecase(sentence) == sentence


def test_summary_truecases_an_all_caps_start():
    source = read_document("QUEEN VICTORIA has left the castle. Queues formed.")
    copies = [SummaryToken("queen", 0), SummaryToken("victoria", 1), SummaryToken("leaves")]
    assert detokenize(copies, source, truecaser=TRUECASER) == "Queen Victoria leaves"
    generated = [SummaryToken(norm) for norm in ("why", "victoria", "left")]
    assert detokenize(generated, source, truecaser=TRUECASER) == "Why Victoria left"
    assert detokenize(copies, source, truecaser=TRUECASER, case="plain") == "QUEEN VICTORIA leaves"


@pytest.mark.parametrize(
    ("sentence", "expected"),
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
def test_all_caps_sentence_is_truecased(sentence, expected):
    words = read_document(sentence).words
    surfaces = [sentence[word.start : word.end] for word in words]
    truecased = truecase_sentence(surfaces, [word.norm for word in words], TRUECASER)
    assert "".join(truecased) == expected.replace(" ", "")


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ("NAVY AT VICTORIA 2 . THE QUEEN HAS", "navy at Victoria 2 . the queen HAS"),
        ("NAVY AT 2 . the castle", "Navy at 2 . the castle"),  # like the start of a sentence
        ("UK PM , UK NAVY . the castle", "UK PM , UK navy . the castle"),  # four words in capitals
        ("UK PM , NAVY 。", "UK PM , NAVY 。"),  # three words in capitals
    ],
)
def test_all_caps_needs_four_words(sentences, expected):
    surfaces = [sentence.split() for sentence in sentences.split(" . ")]
    norms = [[word.lower() for word in sentence] for sentence in surfaces]
    truecased = normalize_all_caps(surfaces, norms, TRUECASER)
    assert " . ".join(" ".join(sentence) for sentence in truecased) == expected


def test_summary_of_all_caps_text_is_truecased():
    source = read_document("THE UK NAVY HAS LEFT MARK TWAIN AT VICTORIA. THE QUEEN HAS LEFT.")
    copies = [
        SummaryToken(source.words[position].norm, position) for position in (1, 2, 4, 5, 6, 7, 8)
    ]
    headline = [SummaryToken("why"), *copies]
    assert (
        detokenize(headline, source, truecaser=TRUECASER)
        == "Why UK navy Left Mark Twain at Victoria"
    )
    assert detokenize([SummaryToken("queen")], source, truecaser=TRUECASER) == "Queen"
    assert (
        detokenize(copies, source, truecaser=TRUECASER, case="plain")
        == "UK NAVY LEFT MARK TWAIN AT VICTORIA"
    )
    assert detokenize(copies[:2], source, truecaser=TRUECASER, case="headline") == "UK Navy"


def test_plain_case_keeps_all_caps():
    source = read_document("THE ZYXWICK NAVY HAS LEFT.")
    generated = [SummaryToken("zyxwick"), SummaryToken("left")]
    assert detokenize(generated, source, truecaser=TRUECASER, case="plain") == "ZYXWICK LEFT"
