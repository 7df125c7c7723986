"""What summaries are like: how long, how much of them is new, how often they repeat themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from readagain.evaluation.words import Written


@dataclass(frozen=True, kw_only=True)
class SummaryStats:
    """Of a set of summaries, or of references; rates are shares of all their words.

    Args:
        words, bytes: mean length; words as a model counts them, bytes of UTF-8.
        copy_rate: words that the system copied from the text; None where nobody knows.
        novel_1gram_rate, novel_2gram_rate: words, and pairs of neighbours, that the text lacks.
        repetition_rate: words that stand in the same summary a second time.
        distinct: different summaries; a model that says the same of every text has collapsed.
        empty: summaries without a word.
    """

    words: float
    bytes: float
    copy_rate: float | None
    novel_1gram_rate: float
    novel_2gram_rate: float
    repetition_rate: float
    distinct: int
    empty: int


@dataclass(frozen=True)
class TokenizedSummary:
    """The forms of a summary's words beside those of its text."""

    text: str
    forms: Sequence[str]
    source: Sequence[str]


def measure_habits(
    examples: Sequence[TokenizedSummary], *, copied: int | None = None
) -> SummaryStats:
    """Measure summaries; `copied` is the number of their words that were copied, if known."""
    num_words = sum(len(example.forms) for example in examples)
    num_pairs = sum(max(len(example.forms) - 1, 0) for example in examples)
    new_words = sum(_new(example.forms, example.source) for example in examples)
    new_pairs = sum(
        _new(list(pairwise(example.forms)), pairwise(example.source)) for example in examples
    )
    repeated = sum(len(example.forms) - len(set(example.forms)) for example in examples)
    return SummaryStats(
        words=num_words / len(examples),
        bytes=sum(len(example.text.encode()) for example in examples) / len(examples),
        copy_rate=None if copied is None else _share(copied, num_words),
        novel_1gram_rate=_share(new_words, num_words),
        novel_2gram_rate=_share(new_pairs, num_pairs),
        repetition_rate=_share(repeated, num_words),
        distinct=len({example.text for example in examples}),
        empty=sum(not example.forms for example in examples),
    )


def count_copied(summaries: Iterable[Written]) -> int:
    """Count the words that were copied."""
    return sum(sum(summary.is_copied) for summary in summaries)


def _new(units: Sequence[object], known: Iterable[object]) -> int:
    standing = set(known)
    return sum(unit not in standing for unit in units)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
