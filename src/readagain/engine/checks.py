"""Checks of a headline against its text: numbers, negation, modality, ending, repetition.

Each check is a heuristic that returns whether the headline may have a problem. It takes the words
of the headline, aligned with the text by `align`, and the words of the text that the model read.
The word lists are in `checks.toml`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from readagain.text.language import ENGLISH, Language
from readagain.text.part_of_speech import CLOSED_CLASSES, part_of_speech
from readagain.text.wordlists import load_word_lists


class CheckedWord(NamedTuple):
    """A word of a headline or of a text.

    Args:
        norm: normalized word.
        surface: printed form.
        position: for a word of a headline, its position in the text; None if the text does not have
            the word.
    """

    norm: str
    surface: str
    position: int | None = None


Words = Sequence[CheckedWord]

_MAX_STEM_LETTERS = 5
_NEARBY_WORDS = 8
"""Maximum distance, in words, of words that are near a number."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBERS_FROM_TWO = (  # "one" is often a pronoun
    *("two", "three", "four", "five", "six", "seven"),
    *("eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS_FROM_TWO, start=2)}
_LISTS = load_word_lists(__package__, "checks.toml")
_DIRECTIONS = {word: name for name in ("up", "down") for word in _LISTS[name]}
_NEGATIONS = _LISTS["negations"]
_NEGATIONS_AND_SYNONYMS = _NEGATIONS | _LISTS["negative"]
_MODALS_AND_HEDGES = _LISTS["modals"] | _LISTS["hedges"]
_UNCERTAIN = _MODALS_AND_HEDGES | _LISTS["uncertain"]
NEVER_LAST_IN_HEADLINE = _LISTS["never_last"] | _LISTS["seldom_last"]
"""Words that a headline should not end with."""
_NOT_CONTENT = (
    CLOSED_CLASSES["determiner"]
    | CLOSED_CLASSES["preposition"]
    | CLOSED_CLASSES["pronoun"]
    | {"to"}
)


def align(headline: Words, source: Words) -> list[CheckedWord]:
    """Return the headline with the position of each word that occurs in the text.

    Words with a position keep it. Every other word gets the position of the same word in the text,
    or else of a word with the same stem. If the text has several such words, the nearest to the
    position after the previous word is used.
    """
    positions_by_key: dict[str, list[int]] = {}
    for position, word in enumerate(source):
        positions_by_key.setdefault(_key(word), []).append(position)
    result = []
    expected = 0
    for word in headline:
        aligned = word.position
        if aligned is None:
            stem = _stem(word.norm)
            positions = positions_by_key.get(_key(word)) or [
                position for position, other in enumerate(source) if _stem(other.norm) == stem
            ]
            aligned = min(positions, key=lambda near: abs(near - expected), default=None)
        if aligned is not None:
            expected = aligned + 1
        result.append(word._replace(position=aligned))
    return result


def has_doubtful_number(headline: Words, source: Words) -> bool:
    """Return whether a number may be wrong.

    A number may be wrong if the text does not have it, if it is near other words in the text, or if
    the headline says that something rises where the text says that something falls, or vice versa.
    """
    if not any(map(_numbers, headline)):
        return False
    source_numbers = {number for word in source for number in _numbers(word)}
    for index, word in enumerate(headline):
        numbers = _numbers(word)
        if not numbers:
            continue
        if not source_numbers.issuperset(numbers):
            return True
        contexts = [
            _words_near(position, source)
            for position, other in enumerate(source)
            if not numbers.isdisjoint(_numbers(other))
        ]
        neighbours = _neighbours(headline, index)
        if neighbours and not any(_share_stem(neighbours, context) for context in contexts):
            return True
        directions = _directions(headline)
        opposite = {"up", "down"} - directions
        if len(directions) == 1 and all(_directions(context) == opposite for context in contexts):
            return True
    return False


def has_lost_negation(headline: Words, source: Words) -> bool:
    """Return whether a word is negated only in the text or only in the headline."""
    norms = {word.norm for word in headline}
    if norms & _NEGATIONS:
        return not any(word.norm in _NEGATIONS_AND_SYNONYMS for word in source)
    has_negative_prefix = any(norm.startswith(("un", "non-", "in")) for norm in norms)
    if norms & _NEGATIONS_AND_SYNONYMS or has_negative_prefix:
        return False
    used_positions = {word.position for word in headline}
    return any(
        word.norm in _NEGATIONS and _next_content_words(source, position, 2) & used_positions
        for position, word in enumerate(source)
    )


def has_lost_modality(headline: Words, source: Words) -> bool:
    """Return whether the headline states something as a fact that is uncertain in the text."""
    if any(word.norm in _UNCERTAIN for word in headline):
        return False
    used_positions = {word.position for word in headline}
    is_future = any(word.norm in ("to", "will") for word in headline)
    uncertain = _MODALS_AND_HEDGES if is_future else _MODALS_AND_HEDGES | _LISTS["plans"]
    return any(
        word.norm in uncertain
        and word.surface.islower()  # not the month of May
        and _next_content_words(source, position, 1) & used_positions
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
        return following.replace("#", "0").isalnum()  # a word or number
    if last.norm in _LISTS["needs_more"]:
        is_adjective = last.norm in CLOSED_CLASSES["adjective"]
        return following in _LISTS["continues"] or (is_adjective and following.isalpha())
    return False


def has_doubled_word(headline: Words, source: Words) -> bool:
    """Return whether a word follows itself, or a content word is more frequent than in the text."""
    norms = [word.norm for word in headline]
    if any(norm == following and norm.isalpha() for norm, following in pairwise(norms)):
        return True
    counts = Counter(norm for norm in norms if len(norm) > 3 and norm.isalpha())
    if max(counts.values(), default=0) < 2:
        return False
    source_counts = Counter(word.norm for word in source)
    return any(
        count > max(1, source_counts[norm])
        and part_of_speech(norm) not in ("preposition", "determiner", "pronoun", "conjunction")
        for norm, count in counts.items()
    )


def has_dropped_restriction(headline: Words, source: Words) -> bool:
    """Return whether the headline leaves out a word that restricts one of its words.

    "former minister" becomes "minister", "two of its nine schools" becomes "schools".
    """
    norms = {word.norm for word in headline}
    used_positions = {word.position for word in headline}
    has_number = any(map(_numbers, headline))
    for position, word in enumerate(source):
        following = position + 1
        if position in used_positions:
            continue
        if word.norm in _LISTS["restricting"] and word.norm not in norms:
            if following in used_positions and _is_content(source[following]):
                return True
            continue
        is_number_of = bool(_numbers(word)) and _norm_at(source, following) == "of"
        if is_number_of and not has_number and following not in used_positions:
            restricted = range(position + 2, min(position + 5, len(source)))
            if any(_is_content(source[noun]) for noun in restricted if noun in used_positions):
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
    head = position - 1
    used_positions = {word.position for word in headline}
    return head not in used_positions and source[head].norm not in _LISTS["same_subject"]


def has_wrong_agreement(headline: Words, source: Words) -> bool:
    """Return whether a plural subject has a singular verb, as in "Three men appears".

    Only verbs that are in the past tense in the text ("appeared") are checked, and only subjects
    with a number.
    """
    for index, word in enumerate(headline[2:], start=2):
        if not word.norm.endswith("s") or word.position is None:
            continue
        if not source[word.position].norm.endswith("ed"):
            continue
        subject = headline[index - 1].norm
        is_plural = subject in ("men", "women", "people", "children") or (
            subject.endswith("s") and not subject.endswith(("ss", "us", "is", "'s"))
        )
        if is_plural and any(map(_numbers, headline[max(0, index - 3) : index - 1])):
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
_NON_ENGLISH_CHECKS = ("numbers", "repetition")


def failed_checks(headline: Words, source: Words, language: Language = ENGLISH) -> list[str]:
    """Return the codes of the checks that an aligned headline fails.

    Most checks use English word lists and are left out for other languages.
    """
    codes = CHECKS if language.has_english_rules else _NON_ENGLISH_CHECKS
    return [code for code in codes if CHECKS[code](headline, source)]


def _key(word: CheckedWord) -> str:
    """Return what equal words have in common: the norm, or for a number its digits."""
    return word.surface.lower() if "#" in word.norm else word.norm


def _stem(norm: str) -> str:
    """Return the first letters of a long word, or a short word without the -s of a plural."""
    is_long = len(norm) > _MAX_STEM_LETTERS
    return norm[:_MAX_STEM_LETTERS] if is_long else norm.removesuffix("s")


def _is_word(word: CheckedWord) -> bool:
    """Return whether a token is not a punctuation mark."""
    return any(map(str.isalnum, word.surface))


def _is_content(word: CheckedWord) -> bool:
    """Return whether a token is a word other than a determiner, preposition or pronoun."""
    return _is_word(word) and word.norm not in _NOT_CONTENT


def _numbers(word: CheckedWord) -> frozenset[str]:
    """Return the numbers in a word as digits, without separators of thousands."""
    if word.norm in _NUMBER_WORDS:
        return frozenset([_NUMBER_WORDS[word.norm]])
    if "#" not in word.norm:
        return frozenset()
    numbers = _NUMBER.findall(word.surface)
    return frozenset(number.replace(",", "").lstrip("0") for number in numbers)


def _norm_at(source: Words, position: int) -> str:
    """Return the norm at a position, or an empty string after the end."""
    return source[position].norm if position < len(source) else ""


def _neighbours(headline: Words, index: int) -> list[CheckedWord]:
    """Return the nearest content word before and after a number, if the text has it.

    Up to three words on each side are searched, as far as the clause or the next number.
    """
    neighbours = []
    for nearby in (headline[index + 1 : index + 4], reversed(headline[max(0, index - 3) : index])):
        for word in nearby:
            if _numbers(word) or word.norm in _LISTS["clause_marks"]:
                break
            if _is_content(word) and word.norm not in _DIRECTIONS:
                if word.position is not None:
                    neighbours.append(word)
                break
    return neighbours


def _share_stem(words: Words, others: Words) -> bool:
    """Return whether a word has the same stem as one of the others."""
    stems = {_stem(word.norm) for word in others}
    return any(_stem(word.norm) in stems for word in words)


def _directions(words: Words) -> set[str]:
    """Return "up" if a word says that something rises, and "down" if one says that it falls."""
    return {_DIRECTIONS[word.norm] for word in words if word.norm in _DIRECTIONS}


def _words_near(position: int, source: Words) -> Words:
    """Return the words of the same sentence that are near a position."""
    sentence_marks = _LISTS["sentence_marks"]
    start = end = position
    while start > max(0, position - _NEARBY_WORDS) and source[start - 1].norm not in sentence_marks:
        start -= 1
    last = min(len(source) - 1, position + _NEARBY_WORDS)
    while end < last and source[end].norm not in sentence_marks:
        end += 1
    return source[start : end + 1]


def _next_content_words(source: Words, position: int, count: int) -> set[int | None]:
    """Return the positions of the next content words of the same clause, at most `count`.

    Up to four words are searched. Auxiliary verbs are left out.
    """
    positions: set[int | None] = set()
    for following in range(position + 1, min(position + 5, len(source))):
        norm = source[following].norm
        if norm in _LISTS["clause_marks"] or len(positions) == count:
            break
        if _is_content(source[following]) and part_of_speech(norm) != "auxiliary":
            positions.add(following)
    return positions
