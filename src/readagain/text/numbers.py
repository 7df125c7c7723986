"""Digits for generated words: each # is replaced by a digit of a number in the source document."""

import re
from collections.abc import Sequence

from readagain.text.document import Document
from readagain.text.normalization import StringCache

# A word that starts with its only number, such as ## and ##pc.
_STARTS_WITH_NUMBER = re.compile(r"(#(?:[.,:]?#)*)[^#]*")
_AGE = re.compile(r"(#+)-year-olds?")


class SourceNumbers:
    """Numbers of a document, which provide the digits of generated words such as "##pc".

    A word takes its digits from a source word with the same norm. If there is none, a word that
    starts with digits ("##pc") takes them from a plain number with as many digits ("45"), and a
    plain number ("##") takes them from an age ("17-year-old"). Other source words, such as
    COVID-19, provide no digits.
    """

    def __init__(self, document: Document) -> None:
        # By position. A tokenized text may have # without digits.
        self._surfaces = {
            position: document.surface(word)
            for position, word in enumerate(document.words)
            if "#" in word.norm and any(map(str.isdigit, document.surface(word)))
        }
        self._norms = {position: document.words[position].norm for position in self._surfaces}
        self._distinct_norms = set(self._norms.values())
        self._ages = {age[1] for age in map(_AGE.fullmatch, self._distinct_norms) if age}
        self._used_positions: set[int] = set()

    def can_fill(self, norm: str) -> bool:
        """Return whether the document has digits for a word."""
        norms = self._distinct_norms
        return norm in norms or norm in self._ages or _FIRST_NUMBERS[norm] in norms

    def fill(self, norm: str, attended: Sequence[int]) -> tuple[str, int] | None:
        """Return a word with its digits and the source position of the digits, or None.

        Args:
            norm: word with # for digits.
            attended: source positions, most attended first. Numbers there are preferred, then
                numbers that no earlier word of the summary has used.
        """
        preferred = [position for position in attended if position in self._norms]
        unused = [position for position in self._norms if position not in self._used_positions]
        positions = [*preferred, *unused, *self._norms]
        for position in positions:
            if self._norms[position] == norm:
                self._used_positions.add(position)
                return self._surfaces[position], position
        for position in positions:
            if _provides_digits(self._norms[position], norm):
                self._used_positions.add(position)
                return _fill_digits(norm, self._surfaces[position]), position
        return None


def _provides_digits(source_norm: str, norm: str) -> bool:
    """Return whether a source word has the digits for a word with another norm, `norm`."""
    age = _AGE.fullmatch(source_norm)
    return source_norm == _FIRST_NUMBERS[norm] or (age is not None and age[1] == norm)


def _first_number(norm: str) -> str:
    """Return the number at the start of a word; '' if the word has another number or none."""
    number = _STARTS_WITH_NUMBER.fullmatch(norm)
    return "" if number is None else number[1]


_FIRST_NUMBERS = StringCache(_first_number)


def _fill_digits(norm: str, surface: str) -> str:
    """Replace each # of a word by the next digit of the surface of a source word."""
    digits = iter([c for c in surface if c.isdigit()])
    return "".join(next(digits) if c == "#" else c for c in norm)
