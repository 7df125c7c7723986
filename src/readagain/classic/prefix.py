"""Prefix baselines: the first words or the first sentence of a text."""

from dataclasses import dataclass

from readagain.errors import ConfigError
from readagain.text.detokenization import SummaryToken, write_summary
from readagain.text.document import Document


@dataclass(frozen=True)
class BaselineSummary:
    """Summary of a baseline.

    Args:
        text: printed text.
        words: its words with their source positions.
    """

    text: str
    words: tuple[SummaryToken, ...]


def first_words(document: Document, max_words: int) -> BaselineSummary:
    """Return the first `max_words` words, or all if there are fewer.

    Raises:
        ConfigError: if `max_words` is negative.
    """
    if max_words < 0:
        raise ConfigError(f"max_words is {max_words}; expected 0 or more")
    return _first(document, max_words)


def lead_sentence(document: Document) -> BaselineSummary:
    """Return the first sentence, empty for a text without words."""
    return _first(document, len(document.sentences[0]) if document.sentences else 0)


def _first(document: Document, count: int) -> BaselineSummary:
    """Return the first words, copied."""
    words = tuple(
        SummaryToken(word.norm, copied_from=position)
        for position, word in enumerate(document.words[:count])
    )
    return BaselineSummary(write_summary(words, document, case="plain"), words)
