"""Capitals: where sentences and headlines put them, and how the words of a text are spelled."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from readagain.config.options import Case
from readagain.text.document import Document
from readagain.text.truecasing import Truecaser, has_informative_case, normalize_all_caps
from readagain.text.wordlists import MINOR, STARTERS

_NEVER_CAPITAL = frozenset(["n't", "'s", "'m", "'d", "'ll", "'re", "'ve"])
_ENDS_SENTENCE = frozenset(".?!")


class SourceTruecaser:
    """How words are written inside a summary of a document.

    Args:
        document: what was summarized.
        cases: how words are written that the document does not show.
        keeps_capitals: words in capitals are taken to be meant so.
    """

    def __init__(
        self, document: Document, cases: Truecaser, *, keeps_capitals: bool = False
    ) -> None:
        self._initial = _sentence_starts(document)
        self._document = document
        self._cases = cases
        self._inside: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {}
        if document.is_tokenized:
            return  # all in lower case: nothing to learn from it
        written = [[document.surface(word) for word in each] for each in document.sentences]
        if not keeps_capitals:
            forms = [[word.norm for word in each] for each in document.sentences]
            written = normalize_all_caps(written, forms, cases)
        self._surfaces = list(chain.from_iterable(written))
        lengths = np.array([len(sentence) for sentence in document.sentences], dtype=np.int64)
        tells = has_informative_case(
            self._surfaces, np.arange(len(self._surfaces)), lengths
        ).tolist()
        for word, surface, is_told in zip(document.words, self._surfaces, tells, strict=True):
            shows = is_told or surface == surface.lower()
            writings = self._inside if shows else self._elsewhere
            writings.setdefault(word.norm, surface)

    def writing(self, form: str, before: str | None, after: str | None) -> str:
        """Write a form as the source does, or else as is usual between its neighbours.

        A capital that only begins a sentence says nothing about words such as "the".
        """
        if form in self._inside:
            return self._inside[form]
        if form in self._elsewhere and not self._is_common(form):
            return self._elsewhere[form]
        return self._cases.word_in_context(form, before, after) or form

    def copied(self, place: int, *, goes_on: bool) -> str:
        """Write a copied word: as it stands, but neither shouted nor as if it began a sentence.

        Args:
            place: where it stands in the source.
            goes_on: the word before it is copied from the place before; both then stay together.
        """
        form, surface = self._document.words[place].norm, self._surfaces[place]
        if goes_on or place not in self._initial or not surface.istitle():
            return surface
        inside = self._inside.get(form)
        if surface in STARTERS or (inside is not None and inside.islower()):
            return surface.lower()
        is_common = inside is None and self._is_common(form) and not self._begins_a_name(place)
        return surface.lower() if is_common else surface

    def _is_common(self, form: str) -> bool:
        """Say whether a word owes a capital to nothing but the beginning of a sentence."""
        return form.capitalize() in STARTERS or self._cases.word(form) == form

    def _begins_a_name(self, place: int) -> bool:
        """Say whether a capital follows: the May of "May Day" is no verb."""
        following = self._document.words[place + 1 : place + 2]
        return any(
            self._document.surface(word)[:1].isupper() and place + 1 not in self._initial
            for word in following
        )


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


def _is_small(word: str) -> bool:
    """Say whether a word may get a capital: "ferry" and "anti-EU" may, "iPhone" and "t-SNE" not."""
    first, hyphen, _ = word.partition("-")
    return word.islower() or (hyphen != "" and len(first) > 1 and first.islower())


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
        if is_word and _is_small(word) and (begins or is_headline_word):
            word = word[0].title() + word[1:]  # of a letter such as ﬁ only the first half
        written.append(word)
        begins = (begins and not is_word) or word in _ENDS_SENTENCE
    return written
