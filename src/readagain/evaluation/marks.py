"""Texts as HTML, with the words that were copied marked on both sides."""

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import groupby
from operator import itemgetter

from readagain.evaluation.words import Written
from readagain.text.document import Token, read_document, read_tokenized
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
    """Mark the words of a text that a summary copied, and shorten it."""
    document = read_tokenized(text) if is_tokenized else read_document(text)
    words = document.words[:MAX_SOURCE_WORDS]
    copied = _copied_places([normalize(word.form) for word in words], summary)
    is_cut = len(words) < len(document.words)
    shown = text[: words[-1].end] if is_cut else text
    marked = _marked(shown, words, lambda place: "copied" if place in copied else None)
    return marked + (" …" if is_cut else "")


def _copied_places(source: Sequence[str], summary: Written) -> set[int]:
    """Find where copied words stand: in runs as long as possible, the others at their first place.

    Each is found as often as it was copied.
    """
    copied = [
        word.form
        for word, is_copied in zip(summary.words, summary.is_copied, strict=True)
        if is_copied
    ]
    blocks = SequenceMatcher(None, source, copied, autojunk=False).get_matching_blocks()
    places = {block.a + offset for block in blocks for offset in range(block.size)}
    left = Counter(copied) - Counter(source[place] for place in places)
    for place, form in enumerate(source):
        if left[form] and place not in places:
            left[form] -= 1
            places.add(place)
    return places


def _marked(text: str, words: Sequence[Token], mark: Callable[[int], str | None]) -> str:
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
