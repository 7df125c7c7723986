"""Digits for generated words: each # is replaced by a digit of a number in the source document."""

import re
from collections.abc import Sequence

from readagain.text.document import Document
from readagain.text.normalization import StringCache

_MASKED_NUMBER = re.compile(r"#(?:[.,:]?#)*")
_AGE = re.compile(r"#+-year-olds?")
_MAX_AGE_SUFFIX = len("-year-olds")


class SourceNumbers:
    """Numbers of a document, which provide the digits of generated words such as "##pc".

    A word takes its digits from a source word with the same norm. If there is none, a word that
    starts with digits ("##pc") takes them from a plain number with as many digits ("45"), and a
    plain number ("##") takes them from an age ("17-year-old"). Other source words, such as
    COVID-19, provide no digits.
    """

    def __init__(self, document: Document) -> None:
        self._surfaces = [document.surface(word) for word in document.words]
        self._norms = {  # norms of the source words that have a digit, by position
            position: word.norm
            for position, word in enumerate(document.words)
            if any(c.isdigit() for c in self._surfaces[position])
        }
        self._distinct_norms = set(self._norms.values())
        self._used_positions: set[int] = set()

    def can_fill(self, norm: str) -> bool:
        """Return whether the document has digits for a word."""
        return norm in self._distinct_norms or any(
            _provides_digits(source_norm, norm) for source_norm in self._distinct_norms
        )

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
    return len(source_norm) <= len(norm) + _MAX_AGE_SUFFIX and _FITS[f"{source_norm}\n{norm}"]


def _fits(source_norm: str, norm: str) -> bool:
    """Return whether a plain source number fits a word, or a source age fits a plain number."""
    plain = _MASKED_NUMBER.match(norm)  # the # at the start of the word
    if plain is None or _MASKED_NUMBER.findall(norm) != _MASKED_NUMBER.findall(source_norm):
        return False
    if norm == plain[0] and _AGE.fullmatch(source_norm):
        return True
    return source_norm == plain[0]


_FITS = StringCache(lambda norms: _fits(*norms.split("\n", 1)))  # norms have no line breaks


def _fill_digits(norm: str, surface: str) -> str:
    """Replace each # of a word by the next digit of the surface of a source word."""
    digits = iter([c for c in surface if c.isdigit()])
    return "".join(next(digits) if c == "#" else c for c in norm)
