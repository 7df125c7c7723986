"""Headlines that copy a whole short text, or the first sentence (`fallback="sentence"`)."""

from collections.abc import Sequence

import numpy as np

from readagain.engine.checks import NEVER_LAST_IN_HEADLINE
from readagain.engine.source import SourceText
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch

MIN_WORDS = 4
"""A text with fewer words is its own summary, since a model would invent words."""

_TRAILING_MARKS = (".", ",", ";", ":")  # removed from the end of a headline
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
    """Return a hypothesis that copies a text, without punctuation at the end.

    `row` is the index of the text in the batch.
    """
    positions = [position for sequence in source.sequences for position in sequence]
    return _copy_positions(positions, source, batch, row, max_words)


def shorten_first_sentence(
    source: SourceText, batch: SourceBatch, row: int, *, max_words: int
) -> Hypothesis:
    """Return a hypothesis that copies the first sentence, shortened if necessary.

    If the sentence has more than `max_words` words, or more than the model reads, only its first
    words are copied. The copy ends before the last comma, semicolon, colon or dash in the second
    half of these words, if there is one. Words that cannot end a headline are removed from its end.
    `row` is the index of the text in the batch.
    """
    words = source.document.words
    num_words = len(source.document.sentences[0])
    num_copied = min(num_words, len(source.sequences[0]), max_words)
    if num_copied < num_words:
        second_half = range(num_copied // 2, num_copied + 1)
        clause_ends = [position for position in second_half if words[position].norm in _CLAUSE_ENDS]
        num_copied = clause_ends[-1] if clause_ends else num_copied
        while num_copied > 1 and words[num_copied - 1].norm in NEVER_LAST_IN_HEADLINE:
            num_copied -= 1
    return _copy_positions(range(num_copied), source, batch, row, max_words)


def _copy_positions(
    positions: Sequence[int], source: SourceText, batch: SourceBatch, row: int, max_words: int
) -> Hypothesis:
    """Return a hypothesis that copies T words, with all attention on the copied words.

    Punctuation marks at the end are left out, then words after the first `max_words`.
    """
    words = source.document.words
    while positions and words[positions[-1]].norm in _TRAILING_MARKS:
        positions = positions[:-1]
    positions = positions[:max_words]
    copied_from = [  # sequence, and position in the sequence
        (n, position - sequence.start)
        for n, sequence in enumerate(source.sequences)
        for position in positions
        if position in sequence
    ]
    T, (_, N, L) = len(copied_from), batch.source_ids.shape
    flat_positions = np.array([n * L + position for n, position in copied_from], dtype=np.int64)
    attention = np.zeros((T + 1, N * L))  # the last row is for EOS
    attention[np.arange(T), flat_positions] = 1.0
    return Hypothesis(
        ids=batch.source_ext_ids[row, flat_positions],
        copied_from=np.array(copied_from, dtype=np.int64),  # (T, 2)
        log_probs=np.zeros(T + 1),
        score=0.0,
        meets_min_length=True,
        attention=attention.reshape(-1, N, L),
    )
