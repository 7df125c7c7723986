"""Numbers of a source document, whose digits replace the # of generated words."""

import re
from collections.abc import Sequence
from functools import lru_cache

from readagain.text.document import Document

_MASKED_NUMBER = re.compile(r"#(?:[.,:]?#)*")
_AGE = re.compile(r"#+-year-olds?")
_MAX_AGE_SUFFIX = len("-year-olds")


class SourceNumbers:
    """Numbers of a document, for generated words whose digits are masked by #.

    A word gets the digits of a source word with the same norm. Otherwise a word that starts with
    digits ("##pc") gets those of a plain number of the same length ("45"), and a plain number those
    of an age ("17-year-old"). Other source words, such as COVID-19, provide no digits.
    """

    def __init__(self, document: Document) -> None:
        self._surfaces = [document.surface(word) for word in document.words]
        self._numbers = {
            position: word.norm
            for position, word in enumerate(document.words)
            if any(c.isdigit() for c in self._surfaces[position])
        }
        self._norms = set(self._numbers.values())
        self._used: set[int] = set()

    def can_fill(self, norm: str) -> bool:
        """Return whether the document has digits for a word."""
        return norm in self._norms or any(_provides_digits(each, norm) for each in self._norms)

    def fill(self, norm: str, attended: Sequence[int]) -> tuple[str, int] | None:
        """Return a word with the digits of a number and the position of the number, or None.

        Args:
            norm: word with # for digits.
            attended: positions of source words, most attended first. Their numbers are preferred,
                then numbers that were not used yet.
        """
        preferred = [position for position in attended if position in self._numbers]
        unused = [position for position in self._numbers if position not in self._used]
        positions = [*preferred, *unused, *self._numbers]
        for position in positions:
            if self._numbers[position] == norm:
                self._used.add(position)
                return self._surfaces[position], position
        for position in positions:
            if _provides_digits(self._numbers[position], norm):
                self._used.add(position)
                return _fill_digits(norm, self._surfaces[position]), position
        return None


def _provides_digits(number: str, norm: str) -> bool:
    """Return whether a number with another norm has the digits of a word."""
    # Long numbers are rejected before the lookup, so that the cache has only short keys.
    return len(number) <= len(norm) + _MAX_AGE_SUFFIX and _has_same_digits(number, norm)


@lru_cache(maxsize=1 << 14)
def _has_same_digits(number: str, norm: str) -> bool:
    bare = _MASKED_NUMBER.match(norm)
    if bare is None or _MASKED_NUMBER.findall(norm) != _MASKED_NUMBER.findall(number):
        return False
    return number == bare[0] or (norm == bare[0] and _AGE.fullmatch(number) is not None)


def _fill_digits(norm: str, number: str) -> str:
    digits = iter([c for c in number if c.isdigit()])
    return "".join(next(digits) if c == "#" else c for c in norm)
