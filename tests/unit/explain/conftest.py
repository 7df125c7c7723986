"""Fixtures: a summary with invented words, attention and importance."""

import numpy as np
import pytest

from readagain.engine.summary import Explanation, Summary
from readagain.engine.warnings import warning
from readagain.explain.view import explanation_view
from readagain.text.detokenization import SummaryToken
from readagain.text.document import read_document

TEXT = "Ghent bought 12 <b>ferries</b> & trams."
WORDS = tuple(read_document("Ghent bought 12 ferries").words)


def token(norm, surface, start, copied_from=None, digits_from=None):
    """Return a summary token of probability 0.5."""
    position = copied_from if digits_from is None else digits_from
    return SummaryToken(
        norm,
        copied_from,
        log_prob=float(np.log(0.5)),
        source=None if position is None else WORDS[position],
        surface=surface,
        start=start,
        end=start + len(surface),
        digits_from=digits_from,
    )


@pytest.fixture
def summary():
    """Return a summary of four tokens.

    One is copied, one generated, one (##) has digits of the text, and one (#-#) is not printed.
    """
    return Summary(
        text="Ghent buys 12",
        score=-1.0,
        words=(
            token("ghent", "Ghent", 0, copied_from=0),
            token("buys", "buys", 6),
            token("##", "12", 11, digits_from=2),
            token("#-#", "", 13),
        ),
        read_sentences=1,
        truncated=True,
        read_share=0.3,
        confidence=0.85,
        warnings=(warning("truncated", "30%"),),
        explanation=Explanation(
            source_words=WORDS[:3],
            importance=np.array([0.25, -0.25, 0.75]),
            importance_kind="weight",
            attention=np.array(
                [[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [0.0, 0.2, 0.8], [1, 0, 0], [0, 0, 1]]
            ),
        ),
    )


@pytest.fixture
def view(summary):
    return explanation_view(TEXT, summary, model="toy")
