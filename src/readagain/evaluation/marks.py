"""Texts as HTML, with the words that were copied marked on both sides."""

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter

from readagain.evaluation.words import Written
from readagain.text.document import Word, read_document, read_tokenized
from readagain.text.normalize import normalize

MAX_SOURCE_WORDS = 120
"""Words of a text that are shown; the rest says little about a headline."""


def marked_summary(summary: Written, source_forms: set[str]) -> str:
    """Mark copied words, and those that the text lacks."""

    def mark(place: int) -> str | None:
        if summary.is_copied[place]:
            return "copied"
        return None if summary.words[place].form in source_forms else "novel"

    return _marked(summary.text, summary.words, mark) or "<em>empty</em>"


def marked_source(text: str, summary: Written, *, is_tokenized: bool) -> str:
    """Mark each copied word where it first stands in the text, as often as it was copied."""
    document = read_tokenized(text) if is_tokenized else read_document(text)
    words = document.words[:MAX_SOURCE_WORDS]
    copied = Counter(
        word.form
        for word, is_copied in zip(summary.words, summary.is_copied, strict=True)
        if is_copied
    )

    def mark(place: int) -> str | None:
        form = normalize(words[place].form)
        if not copied[form]:
            return None
        copied[form] -= 1
        return "copied"

    is_cut = len(words) < len(document.words)
    shown = text[: words[-1].end] if is_cut else text
    return _marked(shown, words, mark) + (" …" if is_cut else "")


def _marked(text: str, words: Sequence[Word], mark: Callable[[int], str | None]) -> str:
    """Write a text with its words marked; neighbours of one kind share a mark."""
    pieces = []
    end = 0
    numbered = ((mark(place), word) for place, word in enumerate(words))
    for kind, run in groupby(numbered, key=itemgetter(0)):
        members = [word for _, word in run]
        start, last = members[0].start, members[-1].end
        shown = escape(text[start:last])
        pieces.append(escape(text[end:start]))
        pieces.append(shown if kind is None else f'<mark class="{kind}">{shown}</mark>')
        end = last
    return "".join(pieces) + escape(text[end:])
