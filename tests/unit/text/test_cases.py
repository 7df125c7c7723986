"""How words are written: the table, and where one can tell it from."""

import numpy as np
import pytest

from readagain.errors import ArtifactError
from readagain.text.cases import Truecaser, tell_case, usual_cases
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

CASES = Truecaser(["iPhone", "NASA", "house", "White House", "rocket"])


def told(*sentences):
    sentences = [sentence.split() for sentence in sentences]
    words = [word for sentence in sentences for word in sentence]
    tokens = sorted(set(words))
    numbers = np.array([tokens.index(word) for word in words], dtype=np.int64)
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    tells = tell_case(tokens, numbers, lengths)
    return [word for word, is_told in zip(words, tells, strict=True) if is_told]


def test_a_word_is_found_by_its_form():
    assert [CASES.word(form) for form in ("iphone", "nasa", "house", "white")] == [
        "iPhone", "NASA", "house", None,
    ]  # fmt: skip


def test_two_words_may_be_written_otherwise_together():
    assert CASES.pair("white", "house") == ["White", "House"]
    assert CASES.pair("house", "white") is None


def test_what_is_saved_is_loaded(tmp_path):
    CASES.save(tmp_path / "cases.txt")
    assert (tmp_path / "cases.txt").read_text() == "house\niPhone\nNASA\nrocket\nWhite House\n"
    assert Truecaser.load(tmp_path / "cases.txt") == CASES
    Truecaser().save(tmp_path / "none.txt")
    assert len(Truecaser.load(tmp_path / "none.txt")) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"NASA\nThe White House\n", r"cases\.txt:2: found 'The White House'; expected a word, or"),
        (b"NASA\n\n", r"cases\.txt:2: found ''; expected a word, or two with a space between"),
        (b"NASA\n ESA\n", r"cases\.txt:2: found ' ESA'; expected a word"),
        (b"NASA\nNasa\n", r"cases\.txt:1: found 'NASA'; it stands there as 'Nasa' too; was it"),
        (b"NASA\n\xff", r"cases\.txt: not UTF-8 at byte 5; was it edited by hand\?"),
    ],
)
def test_a_line_that_cannot_be_right_is_named(tmp_path, content, message):
    (tmp_path / "cases.txt").write_bytes(content)
    with pytest.raises(ArtifactError, match=message):
        Truecaser.load(tmp_path / "cases.txt")


def test_a_table_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"cases\.txt: cannot be read: No such file"):
        Truecaser.load(tmp_path / "cases.txt")


def test_a_model_needs_only_what_its_vocabulary_holds():
    vocab = Vocab([*SPECIAL_TOKENS, "nasa", "white"])
    assert list(CASES.of(vocab)) == ["NASA"]
    assert list(CASES.of(Vocab([*vocab.words, "house"]))) == ["house", "NASA", "White House"]


def test_one_table_goes_before_another():
    assert list(Truecaser(["Rocket", "esa"]).over(CASES)) == [
        "esa", "house", "iPhone", "NASA", "Rocket", "White House",
    ]  # fmt: skip


def test_frequent_english_words_are_known_without_a_model():
    assert usual_cases().word("monday") == "Monday"
    assert usual_cases().word("bridge") == "bridge"


def test_the_start_of_a_sentence_tells_nothing():
    assert told("Police in Tarn closed the bridge") == ["in", "Tarn", "closed", "the", "bridge"]
    assert told("`` Police closed it '' , she wrote") == ["closed", "it", "she", "wrote"]


def test_each_sentence_is_looked_at_alone():
    quiet, loud = "Police in Tarn closed the bridge", "MAYOR CLOSES BRIDGE"
    assert told(quiet, loud, quiet) == told(quiet) + told(quiet)
    assert told(loud, "Hm", quiet) == told(quiet)
    assert told() == []


def test_what_may_begin_a_sentence_of_its_own_tells_nothing():
    assert told("Mayors warn : The bridge -- Our only one -- closes") == [
        "warn", "bridge", "only", "one",
    ]  # fmt: skip


def test_a_headline_with_capitals_on_all_words_of_weight_tells_nothing():
    assert told("Mayor of Tarn to Close the Only Bridge About Town") == []
    assert told("MAYOR OF TARN TO CLOSE BRIDGE") == []


def test_a_sentence_without_a_capital_tells_nothing():
    assert told("the mayor of tarn closed the bridge") == []


def test_numbers_and_signs_tell_nothing():
    assert told("Tarn closed 12 bridges , 3-day talks") == ["closed", "bridges", "talks"]
