"""Part of speech of a normalized word, from word lists and endings.

In news sentences the result agrees with the Link Grammar parser for about four in five nouns,
verbs, adjectives and adverbs.
"""

from readagain.text.normalization import StringCache
from readagain.text.vocab import SPECIAL_TOKENS
from readagain.text.wordlists import load_word_lists

_LISTS = load_word_lists(__package__, "parts_of_speech.toml")
_CLOSED = "determiner pronoun preposition conjunction particle adverb number adjective auxiliary"
CLOSED_CLASSES = {part: _LISTS[part] for part in _CLOSED.split()}
"""Word lists by part of speech; a word in several lists has the first of these parts of speech."""
_PART_BY_ENDING = {
    ending: part
    for part in ("adverb", "adjective", "verb", "noun")
    for ending in _LISTS[f"{part}_endings"]
}
_MAX_ENDING = max(map(len, _PART_BY_ENDING))  # letters
_MIN_STEM = 3  # letters before an ending


def part_of_speech(norm: str) -> str:
    """Return the most likely part of speech of a normalized word.

    >>> part_of_speech("the"), part_of_speech("###"), part_of_speech("quickly")
    ('determiner', 'number', 'adverb')
    """
    return _PARTS[norm]


def _find_part(norm: str) -> str:
    if norm in SPECIAL_TOKENS:
        return "other"
    if not any(c.isalnum() or c == "#" for c in norm):
        return "punctuation" if norm not in ("$", "%") else "other"
    for part, words in CLOSED_CLASSES.items():
        if norm in words:
            return part
    if norm[0] == "#" and not any(c.isalpha() for c in norm):
        return "number"
    if norm in _LISTS["verb"]:
        return "verb"
    if not _LISTS["noun_or_verb"].isdisjoint((norm, _singular(norm))):
        return "noun or verb"
    return _part_by_ending(norm)


_PARTS = StringCache(_find_part)


def _singular(norm: str) -> str:
    """Remove the -s of a plural noun or of a verb in the third person."""
    if norm.endswith("ies"):
        return norm[:-3] + "y"
    if norm.endswith(("shes", "ches", "sses", "xes", "zes", "oes")):
        return norm[:-2]
    return norm[:-1] if norm.endswith("s") and not norm.endswith("ss") else norm


def _part_by_ending(norm: str) -> str:
    """Return the part of speech of the longest listed ending of a word; noun if there is none."""
    if norm in _LISTS["noun"]:
        return "noun"
    for length in range(min(_MAX_ENDING, len(norm) - _MIN_STEM), 1, -1):
        if norm[-length:] in _PART_BY_ENDING:
            return _PART_BY_ENDING[norm[-length:]]
    return "noun"
