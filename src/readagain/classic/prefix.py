"""The floor of every table: the beginning of a text as its summary."""

from bisect import bisect_right
from dataclasses import dataclass

from readagain.errors import ConfigError
from readagain.text.document import Document
from readagain.text.surface import SummaryWord, write_summary


@dataclass(frozen=True)
class Summary:
    """A summary made without a network.

    Args:
        text: the summary in print.
        words: its words, with the places in the source that they come from.
    """

    text: str
    words: tuple[SummaryWord, ...]


def first_bytes(document: Document, max_bytes: int) -> Summary:
    """Take as much of the beginning as `max_bytes` bytes hold, up to the end of a word.

    It ends where white space or the end of the text follows, so "don't" is not cut in two. Where
    the first word is too long already, the summary is empty.

    Raises:
        ConfigError: for a limit below 0.
    """
    _check_limit("max_bytes", max_bytes)
    words = document.words
    ends = [
        count
        for count in range(1, len(words) + 1)
        if count == len(words) or words[count - 1].end < words[count].start
    ]
    fitting = bisect_right(
        ends, max_bytes, key=lambda count: len(_first(document, count).text.encode())
    )
    return _first(document, ends[fitting - 1] if fitting else 0)


def first_words(document: Document, max_words: int) -> Summary:
    """Take the first `max_words` words, or all there are.

    Raises:
        ConfigError: for a limit below 0.
    """
    _check_limit("max_words", max_words)
    return _first(document, max_words)


def lead_sentence(document: Document) -> Summary:
    """Take the first sentence whole; of a text without words, nothing."""
    return _first(document, len(document.sentences[0]) if document.sentences else 0)


def _first(document: Document, count: int) -> Summary:
    """Copy the first words as they stand in the source."""
    words = tuple(
        SummaryWord(word.form, copied_from=place)
        for place, word in enumerate(document.words[:count])
    )
    return Summary(write_summary(words, document, case="plain"), words)


def _check_limit(name: str, value: int) -> None:
    if value < 0:
        raise ConfigError(f"{name} is {value}; expected 0 or more")
