"""Names that a text begins with in capitals throughout, written as names usually are."""

import re
from collections.abc import Sequence
from itertools import takewhile

from readagain.text.cases import Cases
from readagain.text.wordlists import MINOR

_SMALL = MINOR | {"'s", "’s"}
_ROMAN = re.compile(r"[IVX]+")
_VOWEL = re.compile(r"[AEIOUY]")


def quieten(surfaces: Sequence[str], forms: Sequence[str], cases: Cases) -> list[str]:
    """Write the words that a sentence begins with in capitals as the table of cases would.

    Some newspapers print the first name of a text so: "QUEEN ELIZABETH II has left". It takes two
    words of which the table knows one to be written otherwise, so that "UK PM" stays, and a
    sentence that does not go on so, since one that is all in capitals shows nothing.

    >>> quieten(["MARK", "TWAIN", "of", "ITV"], ["mark", "twain", "of", "itv"], Cases(["Twain"]))
    ['Mark', 'Twain', 'of', 'ITV']
    """
    shouted = list(takewhile(_is_shouted, surfaces))
    known = [cases.word(form) for form in forms[: len(shouted)]]
    is_a_name = any(writing is not None and not writing.isupper() for writing in known)
    if not 2 <= len(shouted) < len(surfaces) or not is_a_name:
        return list(surfaces)
    quiet = []
    for n, surface in enumerate(shouted):
        before = forms[n - 1] if n > 0 else None
        after = forms[n + 1] if n + 1 < len(shouted) else None
        is_small = n > 0 and surface.lower() in _SMALL
        writing = cases.beside(forms[n], before, after)
        quiet.append(surface.lower() if is_small else _quietened(surface, writing))
    return [*quiet, *surfaces[len(shouted) :]]


def _is_shouted(surface: str) -> bool:
    return surface.isupper() and all(c.isalpha() or c in "-'’" for c in surface)


def _quietened(surface: str, writing: str | None) -> str:
    """Write a word as the table has it, or else, if it can be read aloud, as a name."""
    if writing is not None and writing != writing.lower():
        return writing
    if writing is None and (len(surface) < 3 or not _VOWEL.search(surface)):
        return surface
    if _ROMAN.fullmatch(surface):
        return surface
    name = "-".join(part.capitalize() for part in surface.split("-"))
    return f"Mc{name[2:].capitalize()}" if name.startswith("Mc") and len(name) > 4 else name
