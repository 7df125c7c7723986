"""Texts that are too short to be shortened."""

import numpy as np

from readagain.engine.source import SourceText
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Ints

FEWEST_WORDS = 4
"""A text of fewer words is its own headline; a model that reads nothing else would invent one."""


_NOT_LAST = (".", ",", ";", ":")  # headlines do not end so


def is_too_short(source: SourceText) -> bool:
    """Say whether a text has nothing that a headline could leave out."""
    if source.is_truncated:
        return False
    surface = source.document.surface
    num_words = sum(any(map(str.isalnum, surface(word))) for word in source.read_words)
    return 0 < num_words < FEWEST_WORDS


def own_words(source: SourceText, ext_ids: Ints, *, length: int, max_words: int) -> Hypothesis:
    """Make a summary of all words of a text, each copied from its place.

    Args:
        source: the text.
        ext_ids: (N * L,) its extended ids, as its batch has them.
        length: L, the places of a sequence there.
        max_words: the most words of a summary.
    """
    places = _places(source)[:max_words]
    flat = np.array([n * length + place for n, place in places], dtype=np.int64)
    attention = np.zeros((len(places) + 1, len(ext_ids)))
    attention[np.arange(len(places)), flat] = 1.0
    return Hypothesis(
        ids=ext_ids[flat],
        copied_from=np.array(places, dtype=np.int64),
        log_probs=np.zeros(len(places) + 1),
        score=0.0,
        meets_min_length=True,
        attention=attention.reshape(len(places) + 1, -1, length),
    )


def _places(source: SourceText) -> list[tuple[int, int]]:
    """Return sequence and place in it of every word, but for a full stop at the end."""
    words = source.document.words
    places = [
        (n, place - sequence.start, words[place].norm)
        for n, sequence in enumerate(source.sequences)
        for place in sequence
    ]
    while places and places[-1][2] in _NOT_LAST:
        places.pop()
    return [(n, place) for n, place, _ in places]
