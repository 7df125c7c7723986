"""Checks of a headline against its text: numbers, negation, modality, ending, repetition.

Each check is a heuristic that returns whether the headline may have a problem. Its arguments are
the words of the headline, aligned by `align`, and the words of the text that the model read. The
word lists are in `checks.toml`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from readagain.text.language import ENGLISH, Language
from readagain.text.part_of_speech import CLOSED_CLASSES, part_of_speech
from readagain.text.wordlists import load_word_lists


class CheckedWord(NamedTuple):
    """A word of a headline or of a text.

    Args:
        norm: normalized word.
        surface: as printed.
        position: for a word of a headline, the position of the same word in the text, or None.
    """

    norm: str
    surface: str
    position: int | None = None


Words = Sequence[CheckedWord]


_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBERS_FROM_TWO = (
    *("two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS_FROM_TWO, start=2)}
_LISTS = load_word_lists(__package__, "checks.toml")
_DIRECTIONS = {word: name for name in ("up", "down") for word in _LISTS[name]}
_NEGATIONS = _LISTS["negations"]
_NEGATIVE = _NEGATIONS | _LISTS["negative"]
_UNPROVEN = _LISTS["modals"] | _LISTS["hedges"]
_UNCERTAIN = _UNPROVEN | _LISTS["uncertain"]
NEVER_LAST_IN_HEADLINE = _LISTS["never_last"] | _LISTS["seldom_last"]
"""Words that a headline should not end with."""
_WEAK = (
    CLOSED_CLASSES["determiner"]
    | CLOSED_CLASSES["preposition"]
    | CLOSED_CLASSES["pronoun"]
    | {"to"}
)


def align(headline: Words, source: Words) -> list[CheckedWord]:
    """Return the headline with a position for each word that occurs in the text.

    A word without a position gets the position of the same word of the text, or else of a word with
    the same stem; of several, the one nearest to the previous word.
    """
    positions_of: dict[str, list[int]] = {}
    for nth, word in enumerate(source):
        positions_of.setdefault(_key(word), []).append(nth)
    result = []
    previous = -1
    for word in headline:
        position = word.position
        if position is None:
            stem = _stem(word.norm)
            positions = positions_of.get(_key(word)) or [
                nth for nth, each in enumerate(source) if _stem(each.norm) == stem
            ]
            expected = previous + 1
            position = min(positions, key=lambda each: abs(each - expected), default=None)
        if position is not None:
            previous = position
        result.append(CheckedWord(word.norm, word.surface, position))
    return result


def has_doubtful_number(headline: Words, source: Words) -> bool:
    """Return whether a number may be wrong.

    That is so if the text does not have it, if it has other words around it than in the text, or if
    the headline says that something rises and the text says beside the number that it falls.
    """
    if not any(map(_numbers, headline)):
        return False
    in_source = {number for word in source for number in _numbers(word)}
    for nth, word in enumerate(headline):
        numbers = _numbers(word)
        if not numbers:
            continue
        if not in_source.issuperset(numbers):
            return True
        positions = [
            position
            for position, each in enumerate(source)
            if not numbers.isdisjoint(_numbers(each))
        ]
        neighbours = _neighbours(headline, nth)
        if neighbours and all(_is_apart(each, neighbours, source) for each in positions):
            return True
        directions = _directions(headline)
        opposite = {"up", "down"} - directions
        if len(directions) == 1 and all(
            _directions(_around(each, source)) == opposite for each in positions
        ):
            return True
    return False


def has_lost_negation(headline: Words, source: Words) -> bool:
    """Return whether a word is negated only in the text or only in the headline."""
    norms = {word.norm for word in headline}
    if norms & _NEGATIONS:
        return not any(word.norm in _NEGATIVE for word in source)
    if norms & _NEGATIVE or any(norm.startswith(("un", "non-", "in")) for norm in norms):
        return False
    used = {word.position for word in headline}
    return any(
        word.norm in _NEGATIONS and _next_content(source, position, 2) & used
        for position, word in enumerate(source)
    )


def has_lost_modality(headline: Words, source: Words) -> bool:
    """Return whether the headline states something as a fact that is uncertain in the text."""
    if any(word.norm in _UNCERTAIN for word in headline):
        return False
    used = {word.position for word in headline}
    is_future = any(word.norm in ("to", "will") for word in headline)
    uncertain = _UNPROVEN if is_future else _UNPROVEN | _LISTS["plans"]
    return any(
        word.norm in uncertain
        and word.surface.islower()  # not the month of May
        and _next_content(source, position, 1) & used
        for position, word in enumerate(source)
    )


def is_cut_off(headline: Words, source: Words) -> bool:
    """Return whether the end of the headline is missing."""
    words = [word for word in headline if _is_word(word)]
    if not words:
        return False
    last = words[-1]
    following = "" if last.position is None else _norm_at(source, last.position + 1)
    if last.norm in _LISTS["never_last"]:
        return True
    if last.norm in _LISTS["seldom_last"]:
        return following.replace("#", "0").isalnum()
    if last.norm in _LISTS["needs_more"]:
        return following in _LISTS["continues"] or (
            last.norm in CLOSED_CLASSES["adjective"] and following.isalpha()
        )
    return False


def has_doubled_word(headline: Words, source: Words) -> bool:
    """Return whether a word follows itself, or a rare word is more frequent than in the text."""
    norms = [word.norm for word in headline]
    if any(one == two and one.isalpha() for one, two in zip(norms, norms[1:], strict=False)):
        return True
    counts = Counter(norm for norm in norms if len(norm) > 3 and norm.isalpha())
    if max(counts.values(), default=0) < 2:
        return False
    in_source = Counter(word.norm for word in source)
    return any(
        count > max(1, in_source[norm])
        and part_of_speech(norm) not in ("preposition", "determiner", "pronoun", "conjunction")
        for norm, count in counts.items()
    )


def has_dropped_restriction(headline: Words, source: Words) -> bool:
    """Return whether the headline leaves out a word that restricts one of its words.

    "former minister" becomes "minister", "two of its nine schools" becomes "schools".
    """
    norms = {word.norm for word in headline}
    used = {word.position for word in headline}
    has_number = any(map(_numbers, headline))
    for position, word in enumerate(source):
        if position in used:
            continue
        if word.norm in _LISTS["restricting"] and word.norm not in norms:
            if position + 1 in used and _is_content(source[position + 1]):
                return True
            continue
        is_number_of = _norm_at(source, position + 1) == "of" and bool(_numbers(word))
        if is_number_of and not has_number and position + 1 not in used:
            nouns = range(position + 2, min(position + 5, len(source)))
            if any(each in used and _is_content(source[each]) for each in nouns):
                return True
    return False


def has_dropped_head(headline: Words, source: Words) -> bool:
    """Return whether the headline starts inside a noun phrase, as without "The head of"."""
    first = next((word for word in headline if _is_word(word)), None)
    if first is None or first.position is None:
        return False
    position = first.position - 1
    while position > 0 and source[position].norm in CLOSED_CLASSES["determiner"]:
        position -= 1
    if position < 1 or source[position].norm not in ("of", "between"):
        return False
    used = {word.position for word in headline}
    return position - 1 not in used and source[position - 1].norm not in _LISTS["same_subject"]


def has_wrong_agreement(headline: Words, source: Words) -> bool:
    """Return whether a plural subject has a singular verb, as in "Three men appears".

    Only verbs in the past tense in the text ("appeared") are checked.
    """
    for nth, word in enumerate(headline[2:], start=2):
        if not word.norm.endswith("s") or word.position is None:
            continue
        if not source[word.position].norm.endswith("ed"):
            continue
        before = headline[nth - 1].norm
        is_plural = before.endswith("s") and not before.endswith(("ss", "us", "is", "'s"))
        has_number = any(map(_numbers, headline[max(0, nth - 3) : nth - 1]))
        if has_number and (is_plural or before in ("men", "women", "people", "children")):
            return True
    return False


CHECKS = {
    "numbers": has_doubtful_number,
    "negation": has_lost_negation,
    "modality": has_lost_modality,
    "cut_off": is_cut_off,
    "repetition": has_doubled_word,
    "restriction": has_dropped_restriction,
    "subject": has_dropped_head,
    "agreement": has_wrong_agreement,
}
"""Checks by warning code."""
_CHECKS_OF_ANY_LANGUAGE = ("numbers", "repetition")


def failed_checks(headline: Words, source: Words, language: Language = ENGLISH) -> list[str]:
    """Return the codes of the checks that an aligned headline fails.

    Most checks have English word lists and are left out for other languages.
    """
    codes = CHECKS if language.has_english_rules else _CHECKS_OF_ANY_LANGUAGE
    return [code for code in codes if CHECKS[code](headline, source)]


def _key(word: CheckedWord) -> str:
    """Return the key by which words are compared: the norm, with the digits of a number."""
    return word.surface.lower() if "#" in word.norm else word.norm


def _stem(norm: str) -> str:
    return norm[:5] if len(norm) > 5 else norm.removesuffix("s")


def _is_word(word: CheckedWord) -> bool:
    return any(map(str.isalnum, word.surface))


def _is_content(word: CheckedWord) -> bool:
    return _is_word(word) and word.norm not in _WEAK


def _numbers(word: CheckedWord) -> frozenset[str]:
    """Return the numbers in a word, without separators of thousands."""
    if word.norm in _NUMBER_WORDS:
        return frozenset([_NUMBER_WORDS[word.norm]])
    if "#" not in word.norm:
        return frozenset()
    return frozenset(each.replace(",", "").lstrip("0") for each in _NUMBER.findall(word.surface))


def _norm_at(source: Words, position: int) -> str:
    return source[position].norm if position < len(source) else ""


def _neighbours(headline: Words, nth: int) -> list[CheckedWord]:
    """Return the nearest content word on either side of a number, where the text has it too."""
    neighbours = []
    for others in (headline[nth + 1 : nth + 4], reversed(headline[max(0, nth - 3) : nth])):
        for word in others:
            if _numbers(word) or word.norm in _LISTS["clause_marks"]:
                break
            if _is_content(word) and word.norm not in _DIRECTIONS:
                if word.position is not None:
                    neighbours.append(word)
                break
    return neighbours


def _is_apart(position: int, neighbours: Words, source: Words) -> bool:
    """Return whether no neighbour of a number is near a position of the text."""
    near = {_stem(word.norm) for word in _around(position, source)}
    return not any(_stem(word.norm) in near for word in neighbours)


def _directions(words: Words) -> set[str]:
    """Return "up" if the words say that something rises, "down" if it falls."""
    return {_DIRECTIONS[word.norm] for word in words if word.norm in _DIRECTIONS}


def _around(position: int, source: Words) -> Words:
    """Return up to 8 words before and after a position, from the same sentence."""
    start, end = position, position
    while (
        start > 0
        and position - start < 8
        and source[start - 1].norm not in _LISTS["sentence_marks"]
    ):
        start -= 1
    while (
        end + 1 < len(source)
        and end - position < 8
        and source[end].norm not in _LISTS["sentence_marks"]
    ):
        end += 1
    return source[start : end + 1]


def _next_content(source: Words, position: int, count: int) -> set[int | None]:
    """Return the positions of the next `count` content words of the same clause."""
    positions: set[int | None] = set()
    for each in range(position + 1, min(position + 5, len(source))):
        if source[each].norm in _LISTS["clause_marks"] or len(positions) == count:
            break
        if _is_content(source[each]) and part_of_speech(source[each].norm) != "auxiliary":
            positions.add(each)
    return positions
