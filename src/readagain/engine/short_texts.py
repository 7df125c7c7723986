"""Headlines copied from the text: a text that is too short, or a shortened first sentence."""

from collections.abc import Sequence

import numpy as np

from readagain.engine.checks import NEVER_LAST_IN_HEADLINE
from readagain.engine.source import SourceText
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch

MIN_WORDS = 4
"""A text with fewer words is its own summary; a model would invent words."""

_NOT_LAST = (".", ",", ";", ":")  # headlines do not end with these
_CLAUSE_ENDS = (",", ";", ":", "--")


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
    """Return a hypothesis that copies a text, without a full stop at the end.

    The text is in a row of the batch.
    """
    words = source.document.words
    positions = [position for sequence in source.sequences for position in sequence]
    while positions and words[positions[-1]].norm in _NOT_LAST:
        positions.pop()
    return _copy_positions(positions[:max_words], source, batch, row)


def shorten_first_sentence(
    source: SourceText, batch: SourceBatch, row: int, *, max_words: int
) -> Hypothesis:
    """Return a hypothesis that copies the first sentence, shortened if necessary.

    A sentence that is longer than `max_words`, or than the part that was read, is truncated before
    the last comma, semicolon, colon or dash in its second half. Without one, it is truncated to
    `max_words` words, and words that cannot end a headline are removed from its end.
    """
    words = source.document.words
    num_words = len(source.document.sentences[0])
    num_kept = min(num_words, len(source.sequences[0]), max_words)
    if num_kept < num_words:
        ends = [n for n in range(num_kept // 2, num_kept + 1) if words[n].norm in _CLAUSE_ENDS]
        num_kept = ends[-1] if ends else num_kept
        while num_kept > 1 and words[num_kept - 1].norm in NEVER_LAST_IN_HEADLINE:
            num_kept -= 1
    positions = list(range(num_kept))
    while positions and words[positions[-1]].norm in _NOT_LAST:
        positions.pop()
    return _copy_positions(positions, source, batch, row)


def _copy_positions(
    positions: Sequence[int], source: SourceText, batch: SourceBatch, row: int
) -> Hypothesis:
    """Return a hypothesis that copies some words, with all attention on the copied words."""
    copied_from = [
        (n, position - sequence.start)
        for n, sequence in enumerate(source.sequences)
        for position in positions
        if position in sequence
    ]
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
