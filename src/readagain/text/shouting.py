"""Words that a text begins with in capitals throughout, written as they usually are."""

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

    Some newspapers print the first name or the first word of a text so: "QUEEN ELIZABETH II has
    left", "POLICE have found". It takes a word that the table knows to be written otherwise, so
    that "UK PM" stays, and capitals that are not meant.

    >>> quieten(["MARK", "TWAIN", "of", "ITV"], ["mark", "twain", "of", "itv"], Cases(["Twain"]))
    ['Mark', 'Twain', 'of', 'ITV']
    """
    shouted = list(takewhile(_is_shouted, surfaces))
    known = [cases.word(form) for form in forms[: len(shouted)]]
    is_usually_quiet = any(writing is not None and not writing.isupper() for writing in known)
    following = surfaces[len(shouted) :]
    if not is_usually_quiet or _are_meant(shouted, following):
        return list(surfaces)
    quiet = []
    for n, surface in enumerate(shouted):
        before = forms[n - 1] if n > 0 else None
        after = forms[n + 1] if n + 1 < len(shouted) else None
        is_small = n > 0 and surface.lower() in _SMALL
        writing = cases.beside(forms[n], before, after)
        quiet.append(surface.lower() if is_small else _quietened(surface, writing))
    return [*quiet, *following]


def _are_meant(shouted: Sequence[str], following: Sequence[str]) -> bool:
    """Say whether capitals are more than the fashion of a beginning.

    A sentence that is all in capitals shows nothing. A word alone may be short for something, as
    "WHO" is and "THE" is not, or half of a name such as "AT&T"; and one that comes again in
    capitals is written so.
    """
    if not following or len(shouted) > 1:
        return not following
    (word,) = shouted
    is_short = len(word) < (3 if word.lower() in MINOR else 4)
    return is_short or following[0] == "&" or word in following


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
