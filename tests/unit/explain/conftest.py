"""A summary whose words, attention and importance are made up, so that one can check them."""

import numpy as np
import pytest

from readagain.engine.summary import Explanation, PrintedWord, Summary, SummaryPart
from readagain.explain.story import tell
from readagain.text.document import read_document

TEXT = "Ghent bought 12 <b>ferries</b> & trams."
WORDS = tuple(read_document("Ghent bought 12 ferries").words)


def part(form, origin="generated", word=None, probability=0.5):
    return SummaryPart(
        form=form,
        origin=origin,
        start=word and word.start,
        end=word and word.end,
        log_prob=float(np.log(probability)),
    )


def printed(surface, start, digits_from=None):
    return PrintedWord(
        surface=surface, start=start, end=start + len(surface), digits_from=digits_from
    )


@pytest.fixture
def summary():
    """Ghent is copied, buys generated, ## takes the digits of 12, #-# is left out."""
    return Summary(
        text="Ghent buys 12",
        score=-1.0,
        words=(part("ghent", "copied", WORDS[0]), part("buys"), part("##"), part("#-#")),
        read_sentences=1,
        truncated=True,
        explanation=Explanation(
            source_words=WORDS[:3],
            importance=np.array([0.25, -0.25, 0.75]),
            importance_kind="weight",
            attention=np.array(
                [[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [0.0, 0.2, 0.8], [1, 0, 0], [0, 0, 1]]
            ),
            printed=(
                printed("Ghent", 0),
                printed("buys", 6),
                printed("12", 11, digits_from=WORDS[2]),
                printed("", 13),
            ),
        ),
    )


@pytest.fixture
def story(summary):
    return tell(TEXT, summary, model="toy")
