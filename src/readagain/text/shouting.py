"""Words in capitals throughout, at the beginning of a text or all over it, written as usual."""

import re
from collections.abc import Sequence
from itertools import takewhile

from readagain.text.cases import Truecaser
from readagain.text.wordlists import MINOR

_SMALL = MINOR | {"'s", "’s"}
_ROMAN = re.compile(r"[IVX]+")
_VOWEL = re.compile(r"[AEIOUY]")
_ORDINAL = re.compile(r"\d+(?:ST|ND|RD|TH|S)")  # the 14TH, the 1990S

FEWEST_SHOUTED = 4
"""Words in capitals that make a text or a sentence a shouted one; fewer may be short forms."""
FEWEST_LETTERS = 4
"""Letters of an unknown word that may be a name; one of fewer is more often short for something."""


def quieten_text(
    sentences: Sequence[Sequence[str]], forms: Sequence[Sequence[str]], cases: Truecaser
) -> list[list[str]]:
    """Write the words of a text that are in capitals for no reason of their own as usual.

    Args:
        sentences: the words of each sentence as they are written.
        forms: their forms.
        cases: how words are usually written.
    """
    is_shouted = _are_all_shouted([surface for sentence in sentences for surface in sentence])
    return [
        (quieten_all if is_shouted or _are_all_shouted(surfaces) else quieten)(surfaces, of, cases)
        for surfaces, of in zip(sentences, forms, strict=True)
    ]


def quieten_all(surfaces: Sequence[str], forms: Sequence[str], cases: Truecaser) -> list[str]:
    """Write a sentence in capitals as the table of cases would inside another.

    What the table does not know is most often a name, and written as one if it can be read aloud.

    >>> surfaces = ["FERRY", "TO", "OSTHAM", "SINKS", "OFF", "UK"]
    >>> cases = Cases(["ferry", "to", "sinks", "off", "UK"])
    >>> quieten_all(surfaces, [surface.lower() for surface in surfaces], cases)
    ['ferry', 'to', 'Ostham', 'sinks', 'off', 'UK']
    """
    before, after = [None, *forms[:-1]], [*forms[1:], None]
    writings = map(cases.beside, forms, before, after)
    return [
        _as_inside(surface, writing, cases)
        for surface, writing in zip(surfaces, writings, strict=True)
    ]


def quieten(surfaces: Sequence[str], forms: Sequence[str], cases: Truecaser) -> list[str]:
    """Write the words that a sentence begins with in capitals as the table of cases would.

    Some newspapers print the first name or the first word of a text so: "QUEEN ELIZABETH II has
    left", "POLICE have found". It takes a word that the table knows to be written otherwise, so
    that "UK PM" stays, or several that look like a name; and capitals that are not meant.

    >>> quieten(["MARK", "TWAIN", "of", "ITV"], ["mark", "twain", "of", "itv"], Cases(["Twain"]))
    ['Mark', 'Twain', 'of', 'ITV']
    """
    shouted = list(takewhile(_is_shouted, surfaces))
    known = [cases.word(form) for form in forms[: len(shouted)]]
    is_usually_quiet = any(writing is not None and not writing.isupper() for writing in known)
    following = surfaces[len(shouted) :]
    is_quiet = is_usually_quiet or (not any(known) and _look_like_a_name(shouted))
    if not is_quiet or _are_meant(shouted, following):
        return list(surfaces)
    quiet = []
    for n, surface in enumerate(shouted):
        before = forms[n - 1] if n > 0 else None
        after = forms[n + 1] if n + 1 < len(shouted) else None
        is_small = n > 0 and surface.lower() in _SMALL
        writing = cases.beside(forms[n], before, after)
        quiet.append(surface.lower() if is_small else _quietened(surface, writing))
    return [*quiet, *following]


def _are_all_shouted(surfaces: Sequence[str]) -> bool:
    """Say whether several words are in capitals from the first to the last."""
    has_small_letter = any(c.islower() for surface in surfaces for c in surface)
    return not has_small_letter and sum(map(str.isupper, surfaces)) >= FEWEST_SHOUTED


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


def _look_like_a_name(shouted: Sequence[str]) -> bool:
    """Say whether words that no table knows are "KUALA LUMPUR" rather than short forms."""
    return len(shouted) > 1 and all(
        len(word) >= FEWEST_LETTERS and _VOWEL.search(word) for word in shouted
    )


def _is_shouted(surface: str) -> bool:
    return surface.isupper() and all(c.isalpha() or c in "-'’" for c in surface)


def _as_inside(surface: str, writing: str | None, cases: Truecaser) -> str:
    """Write a word in capitals as its writing has them, or else as those of its parts do."""
    if writing is not None and len(writing) == len(surface):
        return "".join(
            c.lower() if like.islower() else c for c, like in zip(surface, writing, strict=True)
        )
    if surface[:1] in ("'", "’") or surface == "N'T" or _ORDINAL.fullmatch(surface):
        return surface.lower()
    if "-" in surface:
        parts = surface.split("-")
        return "-".join(_as_inside(part, cases.word(part.lower()), cases) for part in parts)
    is_a_name = _is_shouted(surface) and len(surface) >= FEWEST_LETTERS
    return _quietened(surface, None) if is_a_name else surface


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
