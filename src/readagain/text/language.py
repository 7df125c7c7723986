"""Languages: rules that differ between them, and detection of the language of a text."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache

from readagain.errors import ConfigError, quoted
from readagain.text.language_words import FUNCTION_WORDS, SPECIAL_LETTERS

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
"""Pattern of one character of these ranges with its combining marks."""

_WORD = re.compile(r"[^\W\d_]+(?:'(?=[^\W\d_]))?")
_MAX_CHARS = 2000
"""Number of characters at the start of a text that are used for detection."""
_MIN_WORDS = 4
"""Minimum number of words for detection."""
_MIN_SCRIPT_SHARE = 0.6
"""Minimum share of the letters that are in the main script."""
_MIN_KANA_SHARE = 0.05
"""Minimum share of kana among kana and Han characters for Japanese; with fewer it is Chinese."""
_MIN_SCORE = 1.5
"""Minimum score of the detected language, see `_detect_by_words`."""
_MIN_COVERAGE = 0.08
"""Minimum ratio of function words and special letters of the detected language to all words."""
_MIN_MARGIN = 1.4
"""Minimum ratio of the best score to the second best."""
_RARE_LANGUAGES = frozenset(
    ["sv", "da", "no", "pl", "cs", "ro", "ca", "tr", "id", "fi", "hu", "vi", "bg"]
)
_RARE_WEIGHT = 0.8
"""Weight of the words of rare languages; words of other languages have weight 1."""
_NOT_ARABIC = frozenset("پچژگکیےٹڈڑںھہەێۆڵڕ")
"""Letters of Persian, Urdu and Kurdish that Arabic does not have."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """Properties of a language.

    Args:
        code: ISO 639-1 code.
        name: English name.
        script: name of its script in Unicode.
        is_spaced: whether spaces separate words; otherwise characters are tokens.
        has_headline_case: whether headlines may have a capital on every word.
        capitalizes_nouns: whether nouns have a capital, so that a capital does not mark a name.
        quotes: opening and closing quotation mark of generated headlines.
        capital_after: norms of marks after which the next word of a headline has a capital.
        has_ordinals: whether a number with a full stop is an ordinal, as in "3. Oktober".
        elisions: words that are written before the next one with an apostrophe, as in "l'impôt".
        apocopes: words that end with an apostrophe, as in "un po' di".
        spaced_marks: marks with a space before them, as in "Pourquoi ?".
    """

    code: str
    name: str
    script: str = "Latin"
    is_spaced: bool = True
    has_headline_case: bool = False
    capitalizes_nouns: bool = False
    quotes: tuple[str, str] = ("“", "”")
    capital_after: frozenset[str] = frozenset(["``", "-", "--"])
    has_ordinals: bool = False
    elisions: str = ""
    apocopes: str = ""
    spaced_marks: str = ""

    @property
    def has_english_rules(self) -> bool:
        """Whether texts are split by the rules of the Penn Treebank."""
        return self.code in ("en", UNDETERMINED)

    @property
    def function_words(self) -> frozenset[str]:
        """Frequent words without content, in lower case; empty if there is no list."""
        return FUNCTION_WORDS.get(self.code, frozenset())


ENGLISH = Language(
    code="en",
    name="English",
    has_headline_case=True,
    quotes=('"', '"'),
    capital_after=frozenset(),
)
_ALL = (
    ENGLISH,
    replace(ENGLISH, code=UNDETERMINED, name="an unknown language"),
    Language(
        code="de",
        name="German",
        capitalizes_nouns=True,
        quotes=("„", "“"),
        capital_after=frozenset(["``", "-", "--", ":"]),
        has_ordinals=True,
    ),
    Language(
        code="fr",
        name="French",
        quotes=("«", "»"),
        elisions="c ç d j l m n s t qu jusqu lorsqu puisqu quoiqu",
        spaced_marks=": ; ? !",
    ),
    Language(
        code="it",
        name="Italian",
        quotes=("«", "»"),
        elisions="""
            l un c d s m t v n gl dell all nell dall sull coll degl agl negl dagl sugl quest quell
            bell sant mezz tutt anch senz com dov cos nient pover grand buon qualcun nessun ciascun
            alcun vent trent quarant cinquant sessant settant ottant novant cent quattr altr ultim
            prim contr sott null fin mezz sant dev neanch pur
        """,
        apocopes="po mo di fa va sta da be to ca",
    ),
    Language(code="es", name="Spanish", quotes=("«", "»")),
    Language(code="pt", name="Portuguese", elisions="d"),
    Language(code="nl", name="Dutch"),
    Language(code="ru", name="Russian", script="Cyrillic", quotes=("«", "»")),
    Language(code="zh", name="Chinese", script="Han", is_spaced=False),
    Language(code="ja", name="Japanese", script="Kana", is_spaced=False),
    Language(code="th", name="Thai", script="Thai", is_spaced=False),
    Language(code="ko", name="Korean", script="Hangul"),
    Language(code="ar", name="Arabic", script="Arabic"),
    Language(code="he", name="Hebrew", script="Hebrew"),
    Language(code="sv", name="Swedish", quotes=("”", "”")),
    Language(code="da", name="Danish", has_ordinals=True),
    Language(code="no", name="Norwegian", quotes=("«", "»"), has_ordinals=True),
    Language(code="pl", name="Polish", quotes=("„", "”")),
    Language(code="cs", name="Czech", quotes=("„", "“"), has_ordinals=True),
    Language(code="ro", name="Romanian", quotes=("„", "”")),
    Language(code="ca", name="Catalan", quotes=("«", "»"), elisions="d l m n s t"),
    Language(code="tr", name="Turkish"),
    Language(code="id", name="Indonesian"),
    Language(code="fi", name="Finnish", quotes=("”", "”"), has_ordinals=True),
    Language(code="hu", name="Hungarian", quotes=("„", "”"), has_ordinals=True),
    Language(code="vi", name="Vietnamese"),
    Language(code="uk", name="Ukrainian", script="Cyrillic", quotes=("«", "»")),
    Language(code="bg", name="Bulgarian", script="Cyrillic", quotes=("„", "“")),
    Language(code="el", name="Greek", script="Greek", quotes=("«", "»")),
    Language(code="hi", name="Hindi", script="Devanagari"),
)
LANGUAGES: dict[str, Language] = {language.code: language for language in _ALL}
"""Known languages by code."""


@dataclass(frozen=True, kw_only=True)
class DetectedLanguage:
    """Detected language of a text; `confidence`, from 0 to 1, is its share of all evidence."""

    code: str
    confidence: float

    @property
    def name(self) -> str:
        """English name of the language."""
        return LANGUAGES[self.code].name


def find_language(code: str) -> Language:
    """Return a language by its code.

    Raises:
        ConfigError: for an unknown code, with the closest one.
    """
    if code in LANGUAGES:
        return LANGUAGES[code]
    names = {language.name.lower(): language.code for language in _ALL}
    near = get_close_matches(code.lower(), [*names, *LANGUAGES], n=1)
    hint = f"did you mean '{names.get(near[0], near[0])}'? " if near else ""
    raise ConfigError(
        f"language is {quoted(code)}; {hint}known codes: {', '.join(LANGUAGES)}; "
        f"use '{UNDETERMINED}' for any other"
    )


def detect_language(text: str) -> DetectedLanguage | None:
    """Return the language of a text by its script and its function words, or None if unsure.

    A sentence is usually enough; a headline often is not.

    >>> detect_language("Die Stadt erhöht die Gebühren für den Müll.").code
    'de'
    """
    text = text[:_MAX_CHARS]
    letters = count_scripts(text)
    total = letters.total()
    if not total:
        return None
    unspaced = letters["Han"] + letters["Kana"]
    if unspaced >= _MIN_SCRIPT_SHARE * total:
        code = "ja" if letters["Kana"] >= _MIN_KANA_SHARE * unspaced else "zh"
        return DetectedLanguage(code=code, confidence=unspaced / total)
    script, count = letters.most_common(1)[0]
    if count < _MIN_SCRIPT_SHARE * total:
        return None
    if script == "Arabic" and not _NOT_ARABIC.isdisjoint(text):
        return None
    codes = [language.code for language in _ALL if language.script == script]
    if len(codes) == 1 and codes[0] not in FUNCTION_WORDS:
        return DetectedLanguage(code=codes[0], confidence=count / total)
    return _detect_by_words(text, script)


def count_scripts(text: str) -> Counter[str]:
    """Count the letters of a text by script; letters of no listed script count as Latin."""
    if text.isascii():
        return +Counter(Latin=sum(map(str.isalpha, text)))
    letters = Counter({script: len(chars.findall(text)) for script, chars in _SCRIPTS.items()})
    others = letters.total()
    letters["Latin"] = max(sum(map(str.isalpha, text)) - others, 0)
    return +letters


@cache
def _languages_by_word(script: str) -> dict[str, list[str]]:
    """Map each function word and special letter to the languages of the script that use it."""
    by_word = {
        letter: [code for code in codes if LANGUAGES[code].script == script]
        for letter, codes in SPECIAL_LETTERS.items()
    }
    for code, words in FUNCTION_WORDS.items():
        if LANGUAGES[code].script == script:
            for word in words:
                by_word.setdefault(word, []).append(code)
    return by_word


def _detect_by_words(text: str, script: str) -> DetectedLanguage | None:
    """Return the language with the most function words and special letters.

    A word counts 1, divided by the number of languages that have it.
    """
    text = text.lower().replace("’", "'")
    words = _WORD.findall(text)
    if len(words) < _MIN_WORDS:
        return None
    by_word = _languages_by_word(script)
    scores: dict[str, float] = {}
    hits: Counter[str] = Counter()
    letters = [letter for letter in text if letter in SPECIAL_LETTERS]
    for word in (*words, *letters):
        codes = by_word.get(word, ())
        for code in codes:
            weight = _RARE_WEIGHT if code in _RARE_LANGUAGES else 1.0
            scores[code] = scores.get(code, 0.0) + weight / len(codes)
            hits[code] += 1
    ranking = sorted(scores, key=lambda code: -scores[code])
    if not ranking:
        return None
    best, second = ranking[0], scores[ranking[1]] if len(ranking) > 1 else 0.0
    is_clear = scores[best] >= max(_MIN_SCORE, _MIN_MARGIN * second)
    if not is_clear or hits[best] < _MIN_COVERAGE * len(words):
        return None
    return DetectedLanguage(code=best, confidence=scores[best] / sum(scores.values()))
