"""Detokenization of hypotheses."""

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.detokenizer import Detokenizer
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.search.hypotheses import Hypothesis
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

VOCAB = Vocab([*SPECIAL_TOKENS, "buys", "##", "ferries", "boats"])
BUYS, MASKED, FERRIES, BOATS = range(4, 8)
TEXT = "Ghent sold 75 trains. Élan Corp. bought 12 ferries."  # positions 0-4 and 5-10


@pytest.fixture
def source():
    run = override(PRESETS["two_sentences_option1_copy_15k"], {})
    return SourceReader(run, VOCAB, VOCAB).read(TEXT, tokenized=False)


def hypothesis(words, attended=()):
    """Make a hypothesis from (id, sentence, position in the sentence) of each word.

    All attention of step t is on the (sentence, position) `attended[t]`.
    """
    attention = np.zeros((len(words) + 1, 2, 6), dtype=np.float32)
    for t, (sentence, position) in enumerate(attended):
        attention[t, sentence, position] = 1.0
    return Hypothesis(
        ids=np.array([id for id, _, _ in words]),
        copied_from=np.array([[sentence, position] for _, sentence, position in words]),
        log_probs=np.arange(-1.0, -2.0 - len(words), -1.0),
        score=-1.0,
        meets_min_length=True,
        attention=attention,
    )


ELAN = (len(VOCAB) + 6, 1, 0)  # id, sentence and position of the copied word
GENERATED = (-1, -1)  # sentence and position of a word that is not copied


def test_copied_token_has_its_source_position(source):
    tokens = Detokenizer(VOCAB).tokens(hypothesis([ELAN, (FERRIES, 1, 4)]), source)
    assert [(token.norm, token.copied_from) for token in tokens] == [("élan", 5), ("ferries", 9)]
    assert [TEXT[token.source.start : token.source.end] for token in tokens] == ["Élan", "ferries"]
    assert [token.log_prob for token in tokens] == [-1.0, -2.0]
    assert {token.origin for token in tokens} == {"copied"}


@pytest.mark.parametrize(("attended", "number"), [((0, 2), "75"), ((1, 3), "12")])
def test_generated_number_takes_the_attended_digits(source, attended, number):
    summary = hypothesis(
        [ELAN, (BUYS, *GENERATED), (MASKED, *GENERATED), (BOATS, *GENERATED)],
        attended=[(1, 0), (1, 2), attended],
    )
    detokenizer = Detokenizer(VOCAB)
    text, tokens = detokenizer.detokenize(
        detokenizer.tokens(summary, source), source, case="sentence"
    )
    assert text == f"Élan buys {number} boats"
    digits = tokens[2]
    assert (digits.surface, digits.start, digits.end) == (number, 10, 12)
    assert TEXT[digits.source.start : digits.source.end] == number
    assert [token.origin for token in tokens] == ["copied", "generated", "digits", "generated"]


@pytest.mark.parametrize(("max_bytes", "text"), [(11, "Élan buys"), (4, "")])
def test_last_tokens_are_dropped_to_fit_a_limit(source, max_bytes, text):
    detokenizer = Detokenizer(VOCAB)
    summary = hypothesis([ELAN, (BUYS, *GENERATED), (BOATS, *GENERATED)])
    printed, tokens = detokenizer.detokenize(
        detokenizer.tokens(summary, source), source, case="sentence", max_bytes=max_bytes
    )
    assert (printed, len(tokens)) == (text, len(text.split()))


def test_words_of_source_and_vocab_have_their_size_in_bytes(source):
    detokenizer = Detokenizer(VOCAB)
    assert detokenizer.source_bytes([source], 2).tolist() == [[5, 4, 2, 6, 1, 0, 5, 5, 6, 2, 7, 1]]
    assert detokenizer.vocab_bytes[FERRIES] == 7


def test_number_without_digits_is_not_printed():
    run = override(PRESETS["two_sentences_option1_copy_15k"], {})
    source = SourceReader(run, VOCAB, VOCAB).read("Ghent sold trains.", tokenized=False)
    detokenizer = Detokenizer(VOCAB)
    tokens = detokenizer.tokens(hypothesis([(MASKED, *GENERATED), (BOATS, *GENERATED)]), source)
    _, (number, boats) = detokenizer.detokenize(tokens, source, case="plain")
    assert (number.surface, number.start, number.end) == ("", 0, 0)
    assert (boats.surface, boats.start) == ("boats", 0)


@pytest.mark.parametrize(
    ("case", "text"), [("plain", "buys BOATS Monday"), ("headline", "Buys BOATS Monday")]
)
def test_truecaser_of_the_model_has_priority(source, case, text):
    vocab = Vocab([*SPECIAL_TOKENS, "buys", "##", "monday", "boats"])
    detokenizer = Detokenizer(vocab, Truecaser(["BOATS"]))
    tokens = detokenizer.tokens(hypothesis([(id, *GENERATED) for id in (4, 7, 6)]), source)
    printed, _ = detokenizer.detokenize(tokens, source, case=case)
    assert printed == text
