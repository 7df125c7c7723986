"""The numbers of a document, where words whose digits are masked find theirs."""

import re
from collections.abc import Sequence
from functools import lru_cache

from readagain.text.document import Document

_MASKED_NUMBER = re.compile(r"#(?:[.,:]?#)*")
_AGE = re.compile(r"#+-year-olds?")


class SourceNumbers:
    """The numbers of a document, for generated words whose digits are masked.

    A word takes the digits of a number of the same form. Failing that, a word that begins with its
    digits ("##pc") takes those of a bare number of as many, and a bare number those of an age
    ("17-year-old"). Nothing else lends any: the 19 of COVID-19 counts no people.
    """

    def __init__(self, document: Document) -> None:
        self._surfaces = [document.surface(word) for word in document.words]
        self._numbers = {
            place: word.form
            for place, word in enumerate(document.words)
            if any(c.isdigit() for c in self._surfaces[place])
        }
        self._forms = set(self._numbers.values())
        self._used: set[int] = set()

    def can_fill(self, form: str) -> bool:
        """Say whether there are digits for a word."""
        return form in self._forms or any(_lends(number, form) for number in self._forms)

    def fill(self, form: str, attended: Sequence[int]) -> tuple[str, int] | None:
        """Return a word with the digits of a number, and that number's place; or nothing.

        Args:
            form: the word, with # for digits.
            attended: places of source words, the most attended first: their numbers go before
                those that were not used yet, and these before the others.
        """
        looked_at = [place for place in attended if place in self._numbers]
        unused = [place for place in self._numbers if place not in self._used]
        places = [*looked_at, *unused, *self._numbers]
        for place in places:
            if self._numbers[place] == form:
                self._used.add(place)
                return self._surfaces[place], place
        for place in places:
            if _lends(self._numbers[place], form):
                self._used.add(place)
                return _with_digits(form, self._surfaces[place]), place
        return None


@lru_cache(maxsize=1 << 14)
def _lends(number: str, form: str) -> bool:
    """Say whether a number of another form has the digits that a word needs."""
    bare = _MASKED_NUMBER.match(form)
    if bare is None or _MASKED_NUMBER.findall(form) != _MASKED_NUMBER.findall(number):
        return False
    return number == bare[0] or (form == bare[0] and _AGE.fullmatch(number) is not None)


def _with_digits(form: str, number: str) -> str:
    digits = iter([c for c in number if c.isdigit()])
    return "".join(next(digits) if c == "#" else c for c in form)
