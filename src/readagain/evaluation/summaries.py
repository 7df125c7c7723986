"""Summaries that a system has generated, and their statistics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from readagain.corpus.chunks import UNKNOWN_SPELLINGS
from readagain.text.document import Token, headline_words, read_tokenized, sentence_norms
from readagain.text.language import ENGLISH, Language
from readagain.text.normalization import normalize, normalize_tokens


@dataclass(frozen=True)
class SystemSummary:
    """A summary in the form that is scored.

    Args:
        text: the summary on one line.
        words: words of the summary with their offsets in `text`.
        is_copied: for each word, whether the system copied it from the source text.
    """

    text: str
    words: tuple[Token, ...]
    is_copied: tuple[bool, ...]

    @classmethod
    def copied(
        cls, text: str, *, is_tokenized: bool, language: Language = ENGLISH
    ) -> "SystemSummary":
        """Return a summary whose words are all copied."""
        words = summary_words(text, is_tokenized=is_tokenized, language=language)
        return cls(text, words, (True,) * len(words))


@dataclass(frozen=True, kw_only=True)
class SummaryStats:
    """Means, shares and counts of summaries or references; the titles are in `report.py`.

    Novel words and bigrams are not in the source text. The copy rate of references is None.
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
    """A summary or reference, with the normalized words of it and of the source text."""

    text: str
    norms: Sequence[str]
    source_norms: Sequence[str]


def on_one_line(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())


def summary_words(
    text: str, *, is_tokenized: bool, language: Language = ENGLISH
) -> tuple[Token, ...]:
    """Return the words of a summary or reference, normalized: lower case, # for digits."""
    if is_tokenized:
        words = read_tokenized(text).words
        return tuple(Token(normalize(word.norm), word.start, word.end) for word in words)
    return headline_words(text, language)


def source_norms(text: str, *, is_tokenized: bool, language: Language = ENGLISH) -> list[str]:
    """Return the normalized words of a source text."""
    if is_tokenized:
        return normalize_tokens(text.split())
    return [norm for sentence in sentence_norms(text, language=language) for norm in sentence]


def is_unk(word: str) -> bool:
    """Return whether a word is a spelling of UNK, which Gigaword has instead of rare words."""
    return word in UNKNOWN_SPELLINGS


def summary_stats(
    summaries: Sequence[TokenizedSummary], *, num_copied: int | None = None
) -> SummaryStats:
    """Compute the statistics of summaries; `num_copied` is the number of copied words."""
    num_words = num_bigrams = num_novel_words = num_novel_bigrams = num_repeated = 0
    for summary in summaries:
        bigrams = list(pairwise(summary.norms))
        num_words += len(summary.norms)
        num_bigrams += len(bigrams)
        num_novel_words += _count_novel(summary.norms, summary.source_norms)
        num_novel_bigrams += _count_novel(bigrams, pairwise(summary.source_norms))
        num_repeated += len(summary.norms) - len(set(summary.norms))
    return SummaryStats(
        words=num_words / len(summaries),
        bytes=sum(len(summary.text.encode()) for summary in summaries) / len(summaries),
        copy_rate=None if num_copied is None else _ratio(num_copied, num_words),
        novel_1gram_rate=_ratio(num_novel_words, num_words),
        novel_2gram_rate=_ratio(num_novel_bigrams, num_bigrams),
        repetition_rate=_ratio(num_repeated, num_words),
        distinct=len({summary.text for summary in summaries}),
        empty=sum(not summary.norms for summary in summaries),
    )


def _count_novel(ngrams: Iterable[object], source_ngrams: Iterable[object]) -> int:
    """Count the n-grams of a summary that are not in the source."""
    source_set = set(source_ngrams)
    return sum(ngram not in source_set for ngram in ngrams)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
