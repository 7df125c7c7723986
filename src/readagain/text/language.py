"""Languages: rules for splitting and printing text, and detection of the language of a text."""

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from readagain.errors import ConfigError, quoted

UNDETERMINED = "und"
"""Code of an unknown language (BCP 47); its texts are split by the rules of English."""

# Letters of scripts other than Latin, as ranges of code points.
_SCRIPT_RANGES: dict[str, str] = {
    "Han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff",
    "Kana": "\u3041-\u3096\u30a1-\u30fa\u30fc\uff66-\uff9f",
    "Hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3",
    "Thai": "\u0e01-\u0e4e",
    "Cyrillic": "\u0400-\u052f",
    "Arabic": "\u0620-\u06d3\u06fa-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
    "Hebrew": "\u05d0-\u05ea",
    "Greek": "\u0370-\u03ff\u1f00-\u1fff",
    "Devanagari": "\u0900-\u0963\u0971-\u097f",
}
_SCRIPTS = {script: re.compile(f"[{chars}]") for script, chars in _SCRIPT_RANGES.items()}
UNSPACED_RANGES = "".join(_SCRIPT_RANGES[script] for script in ("Han", "Kana", "Thai"))
"""Ranges of the scripts that are written without spaces, for use inside a character class."""
UNSPACED_CHAR_PATTERN = (
    rf"[{UNSPACED_RANGES}][\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\uff9e\uff9f]*+"
)
"""Pattern of one character of `UNSPACED_RANGES` with its combining marks."""

# A word in a text; the apostrophe of an elision belongs to the first word.
_WORD = re.compile(r"[^\W\d_]+(?:'(?=[^\W\d_]))?")
_MAX_CHARS = 2000
"""Number of characters at the start of a text that are used for detection."""
_MIN_WORDS = 4
"""Minimum number of words for detection."""
_MIN_SCRIPT_SHARE = 0.6
"""Minimum share of the letters that are in the main script."""
_MIN_KANA_SHARE = 0.05
"""Minimum share of kana among kana and Han characters in Japanese; Chinese has fewer."""
_MIN_SCORE = 1.5
"""Minimum score of the detected language, see `_detect_by_words`."""
_MIN_COVERAGE = 0.08
"""Minimum ratio of function words and special letters of the detected language to all words."""
_MIN_MARGIN = 1.4
"""Minimum ratio of the best score to the second best."""
_RARE_WEIGHT = 0.8
"""Weight of the words of languages with `is_rare`; words of other languages have weight 1."""
_NON_ARABIC_LETTERS = frozenset("پچژگکیےٹڈڑںھہەێۆڵڕ")
"""Letters of Persian, Urdu and Kurdish that Arabic does not have."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """Properties of a language, from `languages.toml`.

    Args:
        code: ISO 639-1 code.
        name: English name.
        script: Unicode name of the script.
        is_spaced: whether spaces separate words; otherwise characters are tokens.
        has_headline_case: whether headlines may have a capital on every word.
        capitalizes_nouns: whether all nouns have a capital; then a capital does not mark a name.
        has_ordinals: whether a number with a full stop is an ordinal, as in "3. Oktober".
        is_rare: whether the language is rare in corpora; then its detection needs more evidence.
        quotes: opening and closing quotation mark of generated headlines.
        capital_after: normalized punctuation marks after which the next word of a headline has a
            capital; `` is an opening quotation mark.
        elisions: words that an apostrophe joins to the next word, such as the l of "l'impôt".
        apocopes: shortened words that end with an apostrophe, such as the po of "un po' di".
        spaced_marks: punctuation marks with a space before them, as in "Pourquoi ?".
        special_letters: letters and marks that few other languages with the same script have.
        function_words: frequent words without content, in lower case.
        never_last: abbreviations that never end a sentence.
        before_numbers: abbreviations that do not end a sentence if a number follows.
        sometimes_last: abbreviations that end a sentence only if the next word often begins one.
        months: names of months; a number with a full stop before one is an ordinal.
        before_ordinals: words after which even a number of three or more digits with a full stop
            is an ordinal: "zum 100. Mal".
    """

    code: str
    name: str
    script: str = "Latin"
    is_spaced: bool = True
    has_headline_case: bool = False
    capitalizes_nouns: bool = False
    has_ordinals: bool = False
    is_rare: bool = False
    quotes: tuple[str, str] = ("“", "”")
    capital_after: frozenset[str] = frozenset(["``", "-", "--"])
    elisions: frozenset[str] = frozenset()
    apocopes: frozenset[str] = frozenset()
    spaced_marks: frozenset[str] = frozenset()
    special_letters: frozenset[str] = frozenset()
    function_words: frozenset[str] = frozenset()
    never_last: frozenset[str] = frozenset()
    before_numbers: frozenset[str] = frozenset()
    sometimes_last: frozenset[str] = frozenset()
    months: frozenset[str] = frozenset()
    before_ordinals: frozenset[str] = frozenset()

    @property
    def has_english_rules(self) -> bool:
        """Whether texts are split by the rules of the Penn Treebank."""
        return self.code in ("en", UNDETERMINED)


def _to_language(code: str, fields: dict[str, Any]) -> Language:
    """Return a language from its table in `languages.toml`."""
    values: dict[str, Any] = {"code": code}
    for name, value in fields.items():
        if name == "quotes":
            value = tuple(value)
        elif isinstance(value, str) and name not in ("name", "script"):
            words = value.split()
            if name in ("never_last", "before_numbers", "sometimes_last") and code != "en":
                # Abbreviations may begin a sentence; the English lists have these forms already.
                words += [word[:1].upper() + word[1:] for word in words]
            value = frozenset(words)
        values[name] = value
    return Language(**values)


def _load_languages() -> dict[str, Language]:
    """Return the languages of `languages.toml`, and the undetermined language, by code."""
    tables = tomllib.loads((files(__package__) / "languages.toml").read_text(encoding="utf-8"))
    english = _to_language("en", tables.pop("en"))
    undetermined = replace(
        english, code=UNDETERMINED, name="an unknown language", function_words=frozenset()
    )
    others = {code: _to_language(code, fields) for code, fields in tables.items()}
    return {"en": english, UNDETERMINED: undetermined, **others}


LANGUAGES = _load_languages()
"""Known languages by code."""
ENGLISH = LANGUAGES["en"]
_SPECIAL_LETTERS = frozenset().union(*(language.special_letters for language in LANGUAGES.values()))


def find_language(code: str) -> Language:
    """Return a language by its code.

    Raises:
        ConfigError: for an unknown code; the message suggests the closest code.
    """
    if code in LANGUAGES:
        return LANGUAGES[code]
    names = {language.name.lower(): language.code for language in LANGUAGES.values()}
    closest = get_close_matches(code.lower(), [*names, *LANGUAGES], n=1)
    hint = f"did you mean '{names.get(closest[0], closest[0])}'? " if closest else ""
    raise ConfigError(
        f"language is {quoted(code)}; {hint}known codes: {', '.join(LANGUAGES)}; "
        f"use '{UNDETERMINED}' for any other"
    )


def detect_language(text: str) -> Language | None:
    """Return the language of a text by its script and its function words, or None if unsure.

    A sentence is usually enough; a headline often is not.

    >>> detect_language("Die Stadt erhöht die Gebühren für den Müll.").name
    'German'
    """
    text = text[:_MAX_CHARS]
    num_letters = count_scripts(text)  # by script
    min_letters = _MIN_SCRIPT_SHARE * num_letters.total()
    if not num_letters:
        return None
    num_han_and_kana = num_letters["Han"] + num_letters["Kana"]
    if num_han_and_kana >= min_letters:
        is_japanese = num_letters["Kana"] >= _MIN_KANA_SHARE * num_han_and_kana
        return LANGUAGES["ja" if is_japanese else "zh"]
    script, num_in_script = num_letters.most_common(1)[0]
    if num_in_script < min_letters:
        return None
    if script == "Arabic" and not _NON_ARABIC_LETTERS.isdisjoint(text):
        return None
    languages = [language for language in LANGUAGES.values() if language.script == script]
    if len(languages) == 1 and not languages[0].function_words:
        return languages[0]
    return _detect_by_words(text, script)


def count_scripts(text: str) -> Counter[str]:
    """Count the letters of a text by script, without scripts that do not occur.

    Letters that are in none of `_SCRIPTS` count as Latin.
    """
    counts: Counter[str] = Counter()
    if not text.isascii():
        counts.update({script: len(chars.findall(text)) for script, chars in _SCRIPTS.items()})
    counts["Latin"] = sum(map(str.isalpha, text)) - counts.total()
    return +counts


@cache
def _languages_by_word(script: str) -> dict[str, list[Language]]:
    """Map each function word and special letter to the languages of the script that use it."""
    by_word: dict[str, list[Language]] = {}
    for language in LANGUAGES.values():
        if language.script == script:
            for word in (*language.special_letters, *language.function_words):
                by_word.setdefault(word, []).append(language)
    return by_word


def _detect_by_words(text: str, script: str) -> Language | None:
    """Return the language with the highest score for its function words and special letters.

    Each word or letter adds 1 to the score, divided by the number of languages that have it. Return
    None if the text is too short, or if the score is too low or too close to the second highest.
    """
    text = text.lower().replace("’", "'")
    words = _WORD.findall(text)
    if len(words) < _MIN_WORDS:
        return None
    languages_by_word = _languages_by_word(script)
    letters = [letter for letter in text if letter in _SPECIAL_LETTERS]
    scores: dict[str, float] = {}  # by language code
    num_hits: Counter[str] = Counter()
    for word in (*words, *letters):
        languages = languages_by_word.get(word, ())
        for language in languages:
            weight = _RARE_WEIGHT if language.is_rare else 1.0
            scores[language.code] = scores.get(language.code, 0.0) + weight / len(languages)
            num_hits[language.code] += 1
    if not scores:
        return None
    best, *others = sorted(scores, key=lambda code: -scores[code])
    second_score = scores[others[0]] if others else 0.0
    is_clear = scores[best] >= max(_MIN_SCORE, _MIN_MARGIN * second_score)
    has_coverage = num_hits[best] >= _MIN_COVERAGE * len(words)
    return LANGUAGES[best] if is_clear and has_coverage else None
