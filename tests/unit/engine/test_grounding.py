"""Grounding: numbers and names that do not come from the text are not generated."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.grounding import UngroundedWords
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.search.hypotheses import ActiveHypotheses
from readagain.search.model import Candidates
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

VOCAB = Vocab([*SPECIAL_TOKENS, "dies", "##", "#", "at", "ibsen", "leeds", "itv", "norwegian"])
DIES, TWO_DIGITS, ONE_DIGIT, AT, IBSEN, LEEDS, ITV, NORWEGIAN = range(4, 12)
CASES = Truecaser(["Ibsen", "Leeds", "ITV", "Norwegian", "dies"])
TEXTS = ("Ibsen of Norway died at 78.", "Ibsen died.", "All 7 of 92 left.")
COPIED = len(VOCAB) + 2  # extended id of a word outside the vocabulary


@pytest.fixture
def sources():
    reader = SourceReader(override(PRESETS["tiny"], {}), VOCAB, VOCAB)
    return [reader.read(text, tokenized=False) for text in TEXTS]


@pytest.fixture
def constraint(sources):
    return UngroundedWords(VOCAB, CASES).constraint(sources, names=False)


def make_candidates(*ids, copied_from=-1):
    """Return the same candidates for each of three hypotheses."""
    row = np.array([[*ids]] * 3)
    return Candidates(
        ids=row,
        log_probs=np.zeros(row.shape),
        copied_from=np.full(row.shape, copied_from),
        end_log_probs=np.zeros(3),
        attention=np.zeros((3, 1)),
    )


@pytest.fixture
def active():
    """Return one hypothesis per text, in reverse order of the texts."""
    return replace(ActiveHypotheses.initial(3), documents=np.array([2, 1, 0]))


def test_numbers_need_digits_in_the_text(constraint, active):
    banned = constraint.banned_words(
        active, make_candidates(DIES, TWO_DIGITS, ONE_DIGIT, AT, COPIED)
    )
    assert banned.astype(int).tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0]]


def test_names_need_a_word_with_the_same_stem(sources, active):
    candidates = make_candidates(IBSEN, LEEDS, ITV, NORWEGIAN, AT)
    constraint = UngroundedWords(VOCAB, CASES).constraint(sources, names=True)
    assert constraint.banned_words(active, candidates).astype(int).tolist() == [
        [1, 1, 0, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 0, 0],
    ]


def test_names_are_allowed_by_default(constraint, active):
    assert not constraint.banned_words(active, make_candidates(IBSEN, LEEDS, ITV, NORWEGIAN)).any()


def test_copied_numbers_are_allowed(constraint, active):
    assert not constraint.banned_words(
        active, make_candidates(TWO_DIGITS, ONE_DIGIT, copied_from=0)
    ).any()


def test_grounding_requests_spare_candidates(constraint):
    assert constraint.max_banned(max_words=10) > 0
    assert constraint.banned_end(None) is None
