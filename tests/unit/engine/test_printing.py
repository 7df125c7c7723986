"""From ids and places to what a person reads."""

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.printing import Detokenizer, parts
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.search.hypotheses import Hypothesis
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

VOCAB = Vocab([*SPECIAL_TOKENS, "buys", "##", "ferries", "boats"])
BUYS, MASKED, FERRIES, BOATS = range(4, 8)
TEXT = "Ghent sold 75 trains. Élan Corp. bought 12 ferries."  # places 0-4 and 5-10


@pytest.fixture
def source():
    run = override(PRESETS["two_sentences_option1_copy_15k"], {})
    return SourceReader(run, VOCAB, VOCAB).read(TEXT, tokenized=False)


def hypothesis(words, attended=()):
    """Words as (id, sentence, place in it); attention all on one (sentence, place) for each."""
    attention = np.zeros((len(words) + 1, 2, 6), dtype=np.float32)
    for t, (sentence, place) in enumerate(attended):
        attention[t, sentence, place] = 1.0
    return Hypothesis(
        ids=np.array([id for id, _, _ in words]),
        copied_from=np.array([[sentence, place] for _, sentence, place in words]),
        log_probs=np.arange(-1.0, -2.0 - len(words), -1.0),
        score=-1.0,
        meets_min_length=True,
        attention=attention,
    )


ELAN = (len(VOCAB) + 6, 1, 0)
GENERATED = (-1, -1)


def test_a_copied_word_is_found_in_its_own_sentence(source):
    found = hypothesis([ELAN, (FERRIES, 1, 4)])
    words = Detokenizer(VOCAB).words(found, source)
    assert [(word.form, word.copied_from) for word in words] == [("élan", 5), ("ferries", 9)]
    described = parts(words, found, source)
    assert [TEXT[part.start : part.end] for part in described] == ["Élan", "ferries"]
    assert [part.log_prob for part in described] == [-1.0, -2.0]


@pytest.mark.parametrize(("looked_at", "number"), [((0, 2), "75"), ((1, 3), "12")])
def test_a_generated_number_takes_the_digits_it_looked_at(source, looked_at, number):
    found = hypothesis(
        [ELAN, (BUYS, *GENERATED), (MASKED, *GENERATED), (BOATS, *GENERATED)],
        attended=[(1, 0), (1, 2), looked_at],
    )
    printer = Detokenizer(VOCAB)
    text, _ = printer.text(printer.words(found, source), source, case="sentence", max_bytes=0)
    assert text == f"Élan buys {number} boats"


def test_words_that_do_not_fit_are_left_out_from_the_end(source):
    printer = Detokenizer(VOCAB)
    words = printer.words(hypothesis([ELAN, (BUYS, *GENERATED), (BOATS, *GENERATED)]), source)
    assert printer.text(words, source, case="sentence", max_bytes=11) == ("Élan buys", 2)
    assert printer.text(words, source, case="sentence", max_bytes=4) == ("", 0)


def test_bytes_are_those_of_the_source_and_of_the_vocabulary(source):
    sizes = Detokenizer(VOCAB).printed_bytes([source], 2)
    assert sizes.copied.tolist() == [[5, 4, 2, 6, 1, 0, 5, 5, 6, 2, 7, 1]]
    assert sizes.generated[FERRIES] == 7


def test_a_printed_number_says_where_its_digits_come_from(source):
    found = hypothesis([(MASKED, *GENERATED), (FERRIES, *GENERATED)], attended=[(1, 3)])
    printer = Detokenizer(VOCAB)
    words = printer.words(found, source)
    number, ferries = printer.printed_words(words, source, case="sentence")
    assert (number.surface, number.start, number.end) == ("12", 0, 2)
    assert TEXT[number.digits_from.start : number.digits_from.end] == "12"
    assert (ferries.surface, ferries.start, ferries.digits_from) == ("ferries", 3, None)


def test_a_number_that_is_left_out_takes_no_room():
    run = override(PRESETS["two_sentences_option1_copy_15k"], {})
    source = SourceReader(run, VOCAB, VOCAB).read("Ghent sold trains.", tokenized=False)
    found = hypothesis([(MASKED, *GENERATED), (BOATS, *GENERATED)])
    printer = Detokenizer(VOCAB)
    number, boats = printer.printed_words(printer.words(found, source), source, case="plain")
    assert (number.surface, number.start, number.end) == ("", 0, 0)
    assert (boats.surface, boats.start) == ("boats", 0)


def test_words_are_written_as_their_model_says_and_else_as_is_usual(source):
    vocab = Vocab([*SPECIAL_TOKENS, "buys", "##", "monday", "boats"])
    printer = Detokenizer(vocab, Truecaser(["BOATS"]))
    words = printer.words(hypothesis([(id, *GENERATED) for id in (4, 7, 6)]), source)
    assert printer.text(words, source, case="plain", max_bytes=0) == ("buys BOATS Monday", 3)
    printed = printer.printed_words(words, source, case="headline")
    assert [word.surface for word in printed] == ["Buys", "BOATS", "Monday"]
