"""Part of speech and entity type of a normalized word, from closed lists and endings.

About four in five nouns, verbs, adjectives and adverbs of news sentences agree with those of the
Link Grammar parser.
"""

from readagain.text.taglists import (
    AUXILIARIES,
    CLOSED_CLASSES,
    ENTITY_WORDS,
    NOT_BY_ENDING,
    VERB_FORMS,
    VERBS,
)
from readagain.text.vocab import SPECIAL_TOKENS

# The longest ending that fits decides; the shortest stem before it has three letters.
ENDINGS = {
    "adverb": "ly",
    "adjective": """
        ous ful less ive able ible al ic ish ian ean ese -based -led -backed -born -owned -like
        -wide -old
    """,
    "verb": "ing ed ize ise ify",
    "noun": """
        tion sion ment ness ity ship ism ist ance ence ency ancy age hood dom ure er or ee tions
        sions ments ists ers ors ees ures ages ings
    """,
}
_BY_ENDING = {ending: part for part, endings in ENDINGS.items() for ending in endings.split()}
_LONGEST = max(map(len, _BY_ENDING))
_SHORTEST_STEM = 3


def part_of_speech(form: str) -> str:
    """Return the most likely part of speech of a normalized word.

    >>> part_of_speech("the"), part_of_speech("###"), part_of_speech("quickly")
    ('determiner', 'number', 'adverb')
    """
    if form in SPECIAL_TOKENS:
        return "other"
    if not any(c.isalnum() or c == "#" for c in form):
        return "punctuation" if form not in ("$", "%") else "other"
    for part, words in CLOSED_CLASSES.items():
        if form in words:
            return part
    if form in AUXILIARIES:
        return "auxiliary"
    if form[0] == "#" and not any(c.isalpha() for c in form):
        return "number"
    if form in VERB_FORMS:
        return "verb"
    if form in VERBS or _singular(form) in VERBS:
        return "noun or verb"
    return _by_ending(form)


def entity(form: str) -> str:
    """Return what a normalized word names.

    >>> entity("london"), entity("friday"), entity("##"), entity("bridge")
    ('place', 'date', 'number', 'none')
    """
    for kind, words in ENTITY_WORDS.items():
        if form in words:
            return kind
    return "number" if form.startswith("#") and not any(c.isalpha() for c in form) else "none"


def _singular(form: str) -> str:
    """Take the ending from runs, passes and tries."""
    if form.endswith("ies"):
        return form[:-3] + "y"
    if form.endswith(("shes", "ches", "sses", "xes", "zes", "oes")):
        return form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def _by_ending(form: str) -> str:
    if form in NOT_BY_ENDING:
        return "noun"
    for length in range(min(_LONGEST, len(form) - _SHORTEST_STEM), 1, -1):
        if form[-length:] in _BY_ENDING:
            return _BY_ENDING[form[-length:]]
    return "noun"
