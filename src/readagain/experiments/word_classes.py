"""Word classes that can be told without a tagger: the closed ones, by list.

Prepositions, determiners, pronouns, conjunctions, auxiliaries and particles are few and known.
Everything else that is no number and no sign is open: nouns, verbs, adjectives, adverbs. Which of
these a word is depends on its sentence, and is not guessed here.
"""

from typing import Literal

WordClass = Literal["function", "content", "number", "sign"]
CLASSES: tuple[WordClass, ...] = ("function", "content", "number", "sign")

_PREPOSITIONS = """
    about above across after against along amid among around as at before behind below beneath
    beside besides between beyond by despite down during except for from in inside into like near
    of off on onto out outside over past per since than through throughout to toward towards under
    underneath until up upon via with within without
"""
_DETERMINERS = """
    a an the this that these those each every either neither some any no all both half several many
    much more most few fewer less least such another other what which whose enough
"""
_PRONOUNS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves who whom whoever
    something anything nothing everything someone anyone everyone nobody somebody anybody everybody
    one ones none there here
"""
_CONJUNCTIONS = """
    and or but nor so yet if unless because although though while whereas whether when where why how
    once till lest
"""
_AUXILIARIES = """
    be am is are was were been being have has had having do does did doing will would shall should
    can could may might must ought ca wo 's 're 've 'll 'd 'm
"""
_PARTICLES = "not n't also too very just only even still again then now already almost"

FUNCTION_WORDS = frozenset(
    " ".join(
        (_PREPOSITIONS, _DETERMINERS, _PRONOUNS, _CONJUNCTIONS, _AUXILIARIES, _PARTICLES)
    ).split()
)


def word_class(form: str) -> WordClass:
    """Tell the class of a word in the form that models see.

    >>> [word_class(form) for form in ("the", "bridge", "##", "-lrb-", ",")]
    ['function', 'content', 'number', 'sign', 'sign']
    """
    if form in FUNCTION_WORDS:
        return "function"
    if form in _BRACKETS or not any(sign.isalnum() or sign == "#" for sign in form):
        return "sign"
    if "#" in form and not any(map(str.isalpha, form)):
        return "number"
    return "content"


_BRACKETS = ("-lrb-", "-rrb-", "-lcb-", "-rcb-", "-lsb-", "-rsb-")
