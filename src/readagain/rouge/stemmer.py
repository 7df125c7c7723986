"""English stemmer of ROUGE-1.5.5 (flag -m): irregular forms from WordNet, then Porter's algorithm.

Porter, "An algorithm for suffix stripping", Program 14 (1980), with two rules that he added later
(-bli, -logi). A bug of the script is kept because it affects all published results (see
`_strip_long_suffixes`).

Many rules depend on Porter's measure m of the letters before a suffix: the number of places where a
vowel is followed by a consonant. It is 0 for "tree", 1 for "trouble" and 2 for "private".
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from string import ascii_lowercase, digits

_MIN_LENGTH = 4
"""Words with fewer letters are not stemmed."""


def _sort_longest_first(suffixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(suffixes, key=len, reverse=True))


def _parse_rules(text: str) -> dict[str, str]:
    """Parse rules such as 'izer>ize' into {suffix: replacement}, longest suffix first."""
    rules = dict(rule.split(">") for rule in text.split())
    return {suffix: rules[suffix] for suffix in _sort_longest_first(rules)}


_STEP_2_RULES = _parse_rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble logi>log"
)
_STEP_3_RULES = _parse_rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4_SUFFIXES = _sort_longest_first(
    ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement"]
    + ["ou", "ism", "ate", "iti", "ous", "ive", "ize"]
)

# Table for `str.translate`: v for vowels, c for consonants and digits; a y is decided later.
_LETTER_KINDS = {ord(letter): "c" for letter in ascii_lowercase + digits}
_LETTER_KINDS |= {ord(vowel): "v" for vowel in "aeiou"} | {ord("y"): "y"}


def stem(word: str) -> str:
    """Return the stem of a lower-case word of letters and digits; keep short words unchanged.

    >>> stem("went"), stem("headlines"), stem("was")
    ('go', 'headlin', 'was')
    """
    if len(word) < _MIN_LENGTH:
        return word
    return irregular_forms().get(word) or porter(word)


@cache
def irregular_forms() -> dict[str, str]:
    """Return the base form of each irregular form, such as {"went": "go"}."""
    lines = files("readagain.rouge").joinpath("wordnet/exceptions.txt").read_text("ascii")
    return {form: base for base, *forms in map(str.split, lines.splitlines()) for form in forms}


def porter(word: str) -> str:
    """Return the stem of a word by the five steps of Porter's algorithm."""
    word = _strip_plural(word)
    word = _strip_ed_and_ing(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _STEP_2_RULES)
    word = _replace_suffix(word, _STEP_3_RULES)
    word = _strip_long_suffixes(word)
    return _strip_final_e_and_l(word)


def _strip_plural(word: str) -> str:
    """Remove a plural ending: caress(es), poni(es), cat(s) (step 1a)."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _strip_ed_and_ing(word: str) -> str:
    """Remove -ed, -ing and the d of -eed: plaster(ed), motor(ing), agree(d) (step 1b)."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
            return _repair_stem(word[: -len(suffix)])
    return word


def _repair_stem(base: str) -> str:
    """Correct the end of a stem after -ed or -ing was removed.

    conflat(ed) becomes conflate, hopp(ing) becomes hop, and fil(ing) becomes file.
    """
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_in_double_consonant(base) and base[-1] not in "lsyz":
        return base[:-1]
    if _measure(base) == 1 and _ends_in_short_syllable(base):
        return base + "e"
    return base


def _replace_suffix(word: str, replacements: dict[str, str]) -> str:
    """Replace the longest matching suffix if m of the letters before it is above 0."""
    suffix = _longest_suffix(word, tuple(replacements))
    if suffix and _measure(word[: -len(suffix)]) > 0:
        return word[: -len(suffix)] + replacements[suffix]
    return word


def _strip_long_suffixes(word: str) -> str:
    """Remove up to three suffixes (step 4).

    Porter's paper removes one suffix, the longest that matches. The script then also removes -ment,
    and then -ent or -ion: 'agreement' becomes 'agreem', and 'departmental' loses -al and -ment.
    """
    word = _remove_suffix(word, _longest_suffix(word, _STEP_4_SUFFIXES))
    word = _remove_suffix(word, "ment")
    if word.endswith("ent"):
        return _remove_suffix(word, "ent")
    return _remove_suffix(word, "ion") if word.endswith(("sion", "tion")) else word


def _remove_suffix(word: str, suffix: str) -> str:
    """Remove a suffix if the word has it and m of the letters before it is above 1."""
    base = word.removesuffix(suffix)
    return base if base != word and _measure(base) > 1 else word


def _strip_final_e_and_l(word: str) -> str:
    """Remove a final -e and the second l of a final -ll: ceas(e), control(l) (step 5)."""
    if word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        if measure > 1 or (measure == 1 and not _ends_in_short_syllable(base)):
            word = base
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _longest_suffix(word: str, suffixes: tuple[str, ...]) -> str:
    """Return the first matching suffix of a list that is sorted longest first, or ''."""
    if not word.endswith(suffixes):  # faster: most words have none, and one call checks all
        return ""
    return next(suffix for suffix in suffixes if word.endswith(suffix))


def _letter_kinds(word: str) -> str:
    """Return 'v' for each vowel and 'c' for each consonant; y after a consonant is a vowel."""
    kinds = word.translate(_LETTER_KINDS)
    if "y" in kinds:
        for index, kind in enumerate(kinds):
            if kind == "y":
                kind_of_y = "v" if index and kinds[index - 1] == "c" else "c"
                kinds = kinds[:index] + kind_of_y + kinds[index + 1 :]
    return kinds


def _measure(word: str) -> int:
    """Return Porter's m, the number of places where a vowel is followed by a consonant."""
    return _letter_kinds(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _letter_kinds(word)


def _ends_in_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _letter_kinds(word)[-1] == "c"


def _ends_in_short_syllable(word: str) -> bool:
    """Return whether a word ends with consonant, vowel, and a consonant other than w, x, y."""
    return _letter_kinds(word).endswith("cvc") and word[-1] not in "wxy"
