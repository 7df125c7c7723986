"""Numbers that a text has no digits for are not written."""

import numpy as np
import pytest

from readagain.config.override import override
from readagain.engine.numbers import FillableNumbers
from readagain.engine.source import SourceReader
from readagain.presets import PRESETS
from readagain.search.live import Live
from readagain.search.model import Candidates
from readagain.text.vocab import RESERVED, Vocab

VOCAB = Vocab([*RESERVED, "dies", "##", "#", "at"])
DIES, TWO_DIGITS, ONE_DIGIT, AT = range(4, 8)
COPIED = len(VOCAB) + 2


@pytest.fixture
def rule():
    reader = SourceReader(override(PRESETS["tiny"], {}), VOCAB, VOCAB)
    texts = ("Ann Lee died at 92.", "Ann Lee died.", "All 7 of 92 left.")
    return FillableNumbers(VOCAB, [reader.read(text, tokenized=False) for text in texts])


def offer(*ids, copied_from=-1):
    row = np.array([[*ids]] * 3)
    return Candidates(
        ids=row,
        log_probs=np.zeros(row.shape),
        copied_from=np.full(row.shape, copied_from),
        end_log_probs=np.zeros(3),
        attention=np.zeros((3, 1)),
    )


@pytest.fixture
def live():
    """One hypothesis of each text, those of the last first."""
    return Live(
        document=np.array([2, 1, 0]),
        words=np.empty((3, 0), dtype=np.int64),
        copied_from=np.empty((3, 0), dtype=np.int64),
        log_probs=np.zeros(3),
        coverage=None,
    )


def test_a_number_is_written_only_if_its_text_has_such_digits(rule, live):
    banned = rule.banned_words(live, offer(DIES, TWO_DIGITS, ONE_DIGIT, AT, COPIED))
    assert banned.astype(int).tolist() == [[0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0]]


def test_what_is_copied_has_its_own_digits(rule, live):
    assert not rule.banned_words(live, offer(TWO_DIGITS, ONE_DIGIT, copied_from=0)).any()


def test_as_many_more_words_are_asked_for_as_numbers_are_likely(rule):
    assert rule.max_bans(max_words=10) > 0
    assert rule.bans_end(None) is None
