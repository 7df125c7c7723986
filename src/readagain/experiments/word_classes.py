"""Word classes for weights: function words, content words, numbers and signs."""

from typing import Literal

from readagain.text.tagging import part_of_speech

WordClass = Literal["function", "content", "number", "sign"]
CLASSES: tuple[WordClass, ...] = ("function", "content", "number", "sign")
OPEN_PARTS = ("noun", "verb", "noun or verb", "adjective", "adverb")
"""Parts of speech of content words; which of the two a word like *plan* is, its form cannot say."""

_CLASS_OF: dict[str, WordClass] = {
    "determiner": "function",
    "pronoun": "function",
    "preposition": "function",
    "conjunction": "function",
    "auxiliary": "function",
    "particle": "function",
    "number": "number",
    "punctuation": "sign",
}
_BRACKETS = ("-lrb-", "-rrb-", "-lcb-", "-rcb-", "-lsb-", "-rsb-")


def word_class(form: str) -> WordClass:
    """Tell the class of a word in the form that models see.

    >>> [word_class(form) for form in ("the", "bridge", "##", "-lrb-", ",")]
    ['function', 'content', 'number', 'sign', 'sign']
    """
    if form in _BRACKETS:
        return "sign"
    return _CLASS_OF.get(part_of_speech(form), "content")
