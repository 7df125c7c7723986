"""Capitals: where sentences and headlines put them, and how the words of a text are spelled."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from readagain.text.document import Document
from readagain.text.wordlists import ALWAYS_CAPITAL, MINOR, STARTERS

Case = Literal["sentence", "headline", "plain"]

_NEVER_CAPITAL = frozenset(["n't", "'s", "'m", "'d", "'ll", "'re", "'ve"])
_ENDS_SENTENCE = frozenset(".?!")


class SourceCase:
    """How the words of a document are spelled when they do not begin a sentence."""

    def __init__(self, document: Document) -> None:
        self._initial = _sentence_starts(document)
        self._document = document
        self._inside: dict[str, str] = {}
        self._at_start: dict[str, str] = {}
        if document.is_tokenized:
            return  # all in lower case: nothing to learn from it
        for place, word in enumerate(document.words):
            spellings = self._at_start if place in self._initial else self._inside
            spellings.setdefault(word.form, document.surface(word))

    def spelling(self, form: str) -> str:
        """Spell a form as the source does, or else as is usual, or else as it is.

        A capital that only begins a sentence says nothing about words such as "the".
        """
        if form in self._inside:
            return self._inside[form]
        if form in self._at_start and not _is_common(form):
            return self._at_start[form]
        return usual_spellings().get(form, form)

    def inside_a_sentence(self, place: int, form: str, surface: str) -> str:
        """Take from a copied word the capital it owes to beginning its sentence."""
        if place not in self._initial or not surface.istitle():
            return surface
        inside = self._inside.get(form)
        if surface in STARTERS or (inside is not None and inside.islower()):
            return surface.lower()
        is_common = inside is None and _is_common(form) and not self._begins_a_name(place)
        return surface.lower() if is_common else surface

    def _begins_a_name(self, place: int) -> bool:
        """Say whether a capital follows: the May of "May Day" is no verb."""
        following = self._document.words[place + 1 : place + 2]
        return any(
            self._document.surface(word)[:1].isupper() and place + 1 not in self._initial
            for word in following
        )


@cache
def usual_spellings() -> dict[str, str]:
    """Return how frequent words are spelled inside a sentence, by their form in lower case.

    `spellings.txt` was counted over the texts that the bundled models were trained on (decision
    0181); words that are spelled now this way, now that, are not in it.
    """
    listed = files("readagain.text").joinpath("spellings.txt").read_text(encoding="ascii")
    return {word.lower(): word for word in (*listed.split(), *ALWAYS_CAPITAL)}


def _is_common(form: str) -> bool:
    """Say whether a word owes a capital to nothing but the beginning of a sentence."""
    return form.capitalize() in STARTERS or usual_spellings().get(form) == form


def _sentence_starts(document: Document) -> frozenset[int]:
    """Return the places of the first word of each sentence, past quotes and brackets."""
    starts = set()
    place = 0
    for sentence in document.sentences:
        for offset, word in enumerate(sentence):
            if any(c.isalnum() for c in document.surface(word)):
                starts.add(place + offset)
                break
        place += len(sentence)
    return frozenset(starts)


def capitalized(words: Sequence[str], case: Case) -> list[str]:
    """Put capitals where a sentence or a headline has them; a capital that is there stays."""
    if case == "plain":
        return list(words)
    last = len(words) - 1
    written: list[str] = []
    begins = True
    for place, word in enumerate(words):
        is_word = any(c.isalnum() for c in word) and word.replace("’", "'") not in _NEVER_CAPITAL
        is_headline_word = case == "headline" and (word not in MINOR or place == last)
        if is_word and word.islower() and (begins or is_headline_word):
            word = word[0].upper() + word[1:]
        written.append(word)
        begins = (begins and not is_word) or word in _ENDS_SENTENCE
    return written
