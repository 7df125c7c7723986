"""Part of speech of a normalized word, from word lists and endings.

About four in five nouns, verbs, adjectives and adverbs of news sentences agree with the Link
Grammar parser.
"""

from functools import lru_cache

from readagain.text.vocab import SPECIAL_TOKENS
from readagain.text.wordlists import load_word_lists

_LISTS = load_word_lists(__package__, "parts_of_speech.toml")
_CLOSED = "determiner pronoun preposition conjunction particle adverb number adjective auxiliary"
CLOSED_CLASSES = {part: _LISTS[part] for part in _CLOSED.split()}
"""Words by part of speech; if several classes have a word, the first one is used."""
_BY_ENDING = {
    ending: part
    for part in ("adverb", "adjective", "verb", "noun")
    for ending in _LISTS[f"{part}_endings"]
}
_MAX_ENDING = max(map(len, _BY_ENDING))
_MIN_STEM = 3  # letters before an ending


@lru_cache(maxsize=1 << 14)
def part_of_speech(norm: str) -> str:
    """Return the most likely part of speech of a normalized word.

    >>> part_of_speech("the"), part_of_speech("###"), part_of_speech("quickly")
    ('determiner', 'number', 'adverb')
    """
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
    return _by_ending(norm)


def _singular(norm: str) -> str:
    """Strip the -s of a plural noun or a verb in the third person."""
    if norm.endswith("ies"):
        return norm[:-3] + "y"
    if norm.endswith(("shes", "ches", "sses", "xes", "zes", "oes")):
        return norm[:-2]
    return norm[:-1] if norm.endswith("s") and not norm.endswith("ss") else norm


def _by_ending(norm: str) -> str:
    if norm in _LISTS["noun"]:
        return "noun"
    for length in range(min(_MAX_ENDING, len(norm) - _MIN_STEM), 1, -1):
        if norm[-length:] in _BY_ENDING:
            return _BY_ENDING[norm[-length:]]
    return "noun"
