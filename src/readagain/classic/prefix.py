"""The first words or the first sentence of a text as its summary."""

from dataclasses import dataclass

from readagain.errors import ConfigError
from readagain.text.document import Document
from readagain.text.surface import SummaryToken, write_summary


@dataclass(frozen=True)
class BaselineSummary:
    """A summary made without a network.

    Args:
        text: the summary in print.
        words: its words, with the places in the source that they come from.
    """

    text: str
    words: tuple[SummaryToken, ...]


def first_words(document: Document, max_words: int) -> BaselineSummary:
    """Take the first `max_words` words, or all there are.

    Raises:
        ConfigError: for a limit below 0.
    """
    if max_words < 0:
        raise ConfigError(f"max_words is {max_words}; expected 0 or more")
    return _first(document, max_words)


def lead_sentence(document: Document) -> BaselineSummary:
    """Take the first sentence whole; of a text without words, nothing."""
    return _first(document, len(document.sentences[0]) if document.sentences else 0)


def _first(document: Document, count: int) -> BaselineSummary:
    """Copy the first words as they stand in the source."""
    words = tuple(
        SummaryToken(word.norm, copied_from=place)
        for place, word in enumerate(document.words[:count])
    )
    return BaselineSummary(write_summary(words, document, case="plain"), words)
