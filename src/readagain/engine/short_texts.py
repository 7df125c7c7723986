"""Texts that are too short to summarize."""

import numpy as np

from readagain.engine.source import SourceText
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch

MIN_WORDS = 4
"""A text with fewer words is its own summary; a model would invent one."""

_NOT_LAST = (".", ",", ";", ":")  # headlines do not end with these


def is_too_short(source: SourceText) -> bool:
    """Return whether a text is too short to summarize."""
    if source.is_truncated:
        return False
    surface = source.document.surface
    num_words = sum(any(map(str.isalnum, surface(word))) for word in source.read_words)
    return 0 < num_words < MIN_WORDS


def copy_whole_text(
    source: SourceText, batch: SourceBatch, row: int, *, max_words: int
) -> Hypothesis:
    """Return a hypothesis that copies the words of a text, without a full stop at the end.

    Args:
        source: source text.
        batch: batch of the text.
        row: row of the text in the batch.
        max_words: maximum number of words.
    """
    words = source.document.words
    positions = [
        (n, position - sequence.start, words[position].norm)
        for n, sequence in enumerate(source.sequences)
        for position in sequence
    ]
    while positions and positions[-1][2] in _NOT_LAST:
        positions.pop()
    copied_from = [(n, position) for n, position, _ in positions[:max_words]]
    _, N, L = batch.source_ids.shape
    flat = np.array([n * L + position for n, position in copied_from], dtype=np.int64)
    attention = np.zeros((len(flat) + 1, N * L))
    attention[np.arange(len(flat)), flat] = 1.0
    return Hypothesis(
        ids=batch.source_ext_ids[row, flat],
        copied_from=np.array(copied_from, dtype=np.int64),
        log_probs=np.zeros(len(flat) + 1),
        score=0.0,
        meets_min_length=True,
        attention=attention.reshape(-1, N, L),
    )
