"""The words of texts and summaries in one form, so that they can be compared and marked."""

from dataclasses import dataclass

from readagain.text.document import Token, sentence_words
from readagain.text.normalize import NormalForms
from readagain.text.tokenize import token_at, token_spans
from readagain.text.typography import plain_typography

_FORMS = NormalForms()


@dataclass(frozen=True)
class Written:
    """A summary as it is scored.

    Args:
        text: on one line.
        words: its words, with their places in it.
        is_copied: for each word whether the system copied it from the text.
    """

    text: str
    words: tuple[Token, ...]
    is_copied: tuple[bool, ...]


def summary_words(text: str, *, is_tokenized: bool) -> tuple[Token, ...]:
    """Cut a summary or a reference into words; digits are masked, so 1987 is like 1988."""
    if is_tokenized:
        words = []
        end = 0
        for token in text.split():
            start = text.index(token, end)
            end = start + len(token)
            words.append(Token(_FORMS[token], start, end))
        return tuple(words)
    plain = plain_typography(text)
    return tuple(
        Token(_FORMS[token_at(plain, start, end)], start, end) for start, end in token_spans(plain)
    )


def source_forms(text: str, *, is_tokenized: bool) -> list[str]:
    """Return the forms of all words of a text, its sentences joined."""
    if is_tokenized:
        return [_FORMS[token] for token in text.split()]
    return [form for sentence in sentence_words(text) for form in sentence]
