"""Stemmer of ROUGE-1.5.5 -m: irregular forms from WordNet, then Porter's algorithm.

Porter, "An algorithm for suffix stripping", Program 14 (1980), with two later rules (-bli, -logi)
and one bug of the script that affects all published results (see `_strip_long_suffix`).
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import ascii_lowercase, digits

MIN_STEMMED_LENGTH = 4


def _longest_first(suffixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(suffixes, key=len, reverse=True))


def _rules(text: str) -> dict[str, str]:
    """Parse replacements of suffixes such as 'izer>ize', longest first."""
    rules = dict(rule.split(">") for rule in text.split())
    return {suffix: rules[suffix] for suffix in _longest_first(rules)}


# Porter's steps 2, 3 and 4.
_DERIVED = _rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble logi>log"
)
_ADJECTIVES = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_LONG = _longest_first(
    ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement"]
    + ["ou", "ism", "ate", "iti", "ous", "ive", "ize"]
)

_SHAPES = {ord(letter): "c" for letter in ascii_lowercase + digits}
_SHAPES |= {ord(vowel): "v" for vowel in "aeiou"} | {ord("y"): "y"}


def stem(word: str) -> str:
    """Return the stem of a lower-case word of letters and digits; keep short words unchanged.

    >>> stem("went"), stem("headlines"), stem("was")
    ('go', 'headlin', 'was')
    """
    if len(word) < MIN_STEMMED_LENGTH:
        return word
    return irregular_forms().get(word) or porter(word)


@cache
def irregular_forms() -> dict[str, str]:
    """Return the base form of each irregular form."""
    lines = files("readagain.rouge").joinpath("wordnet/exceptions.txt").read_text("ascii")
    return {form: base for base, *forms in map(str.split, lines.splitlines()) for form in forms}


def porter(word: str) -> str:
    """Return the stem by Porter's five steps."""
    word = _strip_plural(word)
    word = _strip_past_and_ing(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _DERIVED)
    word = _replace_suffix(word, _ADJECTIVES)
    word = _strip_long_suffix(word)
    return _tidy_end(word)


def _strip_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _strip_past_and_ing(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
            return _repair_stem(word[: -len(suffix)])
    return word


def _repair_stem(base: str) -> str:
    """Repair a stem after -ed or -ing was removed: conflat(e), hop(p), fil(e)."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_in_double_consonant(base) and base[-1] not in "lsyz":
        return base[:-1]
    if _measure(base) == 1 and _ends_in_short_syllable(base):
        return base + "e"
    return base


def _replace_suffix(word: str, replacements: dict[str, str]) -> str:
    """Replace the longest matching suffix if the part before it has a measure above 0."""
    suffix = _longest_suffix(word, tuple(replacements))
    if suffix and _measure(word[: -len(suffix)]) > 0:
        return word[: -len(suffix)] + replacements[suffix]
    return word


def _strip_long_suffix(word: str) -> str:
    """Remove up to three long suffixes, each if the part before it has a measure above 1 (step 4).

    Porter's paper removes one suffix, the longest that matches. The script then also removes -ment,
    and then -ent or -ion, from what is left: 'agreement' becomes 'agreem', and 'departmental'
    loses both 'al' and 'ment'.
    """
    word = _remove_suffix(word, _longest_suffix(word, _LONG))
    word = _remove_suffix(word, "ment" if word.endswith("ment") else "")
    if word.endswith("ent"):
        return _remove_suffix(word, "ent")
    return _remove_suffix(word, "ion" if word.endswith(("sion", "tion")) else "")


def _remove_suffix(word: str, suffix: str) -> str:
    base = word.removesuffix(suffix)
    return base if suffix and _measure(base) > 1 else word


def _tidy_end(word: str) -> str:
    """Remove a final -e and one l of -ll where Porter's step 5 does."""
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _ends_in_short_syllable(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _longest_suffix(word: str, longest_first: tuple[str, ...]) -> str:
    if not word.endswith(longest_first):
        return ""  # the usual case: one call checks all suffixes
    return next(suffix for suffix in longest_first if word.endswith(suffix))


def _shape(word: str) -> str:
    """Return 'v' for each vowel and 'c' for each consonant; y after a consonant is a vowel."""
    shape = word.translate(_SHAPES)
    if "y" in shape:
        for index, letter in enumerate(shape):
            if letter == "y":
                kind = "v" if index and shape[index - 1] == "c" else "c"
                shape = shape[:index] + kind + shape[index + 1 :]
    return shape


def _measure(word: str) -> int:
    """Return Porter's m, the number of vowel-consonant sequences."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_in_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_in_short_syllable(word: str) -> bool:
    """Return Porter's *o: ends with consonant, vowel, consonant other than w, x, y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
