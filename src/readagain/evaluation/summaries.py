"""Summaries of systems as words, and their statistics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from readagain.corpus.chunks import UNKNOWN_SPELLINGS
from readagain.text.document import Token, sentence_norms
from readagain.text.language import ENGLISH, Language
from readagain.text.normalization import normalize, normalize_tokens, normalize_typography
from readagain.text.tokenizer import token_at, token_spans


@dataclass(frozen=True)
class SystemSummary:
    """A summary as it is scored.

    Args:
        text: the summary on one line.
        words: its words with offsets.
        is_copied: for each word whether the system copied it from the text.
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
    """Statistics of summaries or references; rates are shares of all words.

    Args:
        words, bytes: mean length.
        copy_rate: words that the system copied; None for references.
        novel_1gram_rate, novel_2gram_rate: unigrams and bigrams that are not in the text.
        repetition_rate: words that occurred before in the same summary.
        distinct: number of different summaries.
        empty: number of summaries without a word.
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
    """Normalized words of a summary and of its text."""

    text: str
    norms: Sequence[str]
    source: Sequence[str]


def on_one_line(text: str) -> str:
    """Replace each run of white space by one space."""
    return " ".join(text.split())


def summary_words(
    text: str, *, is_tokenized: bool, language: Language = ENGLISH
) -> tuple[Token, ...]:
    """Return the normalized words of a summary or a reference, with masked digits."""
    if is_tokenized:
        words = []
        end = 0
        for token in text.split():
            start = text.index(token, end)
            end = start + len(token)
            words.append(Token(normalize(token), start, end))
        return tuple(words)
    plain = normalize_typography(text, keep_quotes=not language.has_english_rules)
    return tuple(
        Token(normalize(token_at(plain, start, end, language)), start, end)
        for start, end in token_spans(plain, language)
    )


def source_norms(text: str, *, is_tokenized: bool, language: Language = ENGLISH) -> list[str]:
    """Return the normalized words of a text."""
    if is_tokenized:
        return normalize_tokens(text.split())
    return [norm for sentence in sentence_norms(text, language=language) for norm in sentence]


def is_unk(word: str) -> bool:
    """Return whether a word is UNK, which Gigaword's preprocessing wrote for rare words."""
    return word in UNKNOWN_SPELLINGS


def summary_stats(
    summaries: Sequence[TokenizedSummary], *, num_copied: int | None = None
) -> SummaryStats:
    """Compute the statistics of summaries; `num_copied` is the number of copied words."""
    num_words = sum(len(each.norms) for each in summaries)
    num_bigrams = sum(max(len(each.norms) - 1, 0) for each in summaries)
    novel_words = sum(_count_novel(each.norms, each.source) for each in summaries)
    novel_bigrams = sum(
        _count_novel(list(pairwise(each.norms)), pairwise(each.source)) for each in summaries
    )
    num_repeated = sum(len(each.norms) - len(set(each.norms)) for each in summaries)
    return SummaryStats(
        words=num_words / len(summaries),
        bytes=sum(len(each.text.encode()) for each in summaries) / len(summaries),
        copy_rate=None if num_copied is None else _ratio(num_copied, num_words),
        novel_1gram_rate=_ratio(novel_words, num_words),
        novel_2gram_rate=_ratio(novel_bigrams, num_bigrams),
        repetition_rate=_ratio(num_repeated, num_words),
        distinct=len({each.text for each in summaries}),
        empty=sum(not each.norms for each in summaries),
    )


def _count_novel(units: Sequence[object], known: Iterable[object]) -> int:
    known = set(known)
    return sum(unit not in known for unit in units)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
