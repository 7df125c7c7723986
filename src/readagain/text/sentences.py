"""Sentence splitter with character offsets.

One pattern finds every mark that may end a sentence; the words before and after it decide whether
it does. `tests/assets/sentences` and `tests/assets/languages` have the cases that the rules were
written for.
"""

import re
from collections.abc import Iterator
from itertools import islice

from readagain.text.language import ENGLISH, Language
from readagain.text.wordlists import ENGLISH_WORDS

_STARTERS = ENGLISH_WORDS["starters"]
_SOMETIMES_LAST = ENGLISH.sometimes_last | ENGLISH_WORDS["months_and_days"]

# Marks, closing quotes and brackets, white space; or a line break. A match cannot fail after its
# first character, so a long run of marks takes linear time.
_MARK = re.compile(
    r"""
    ( [.!?…⋯。！？｡؟۔।॥։።]++ )
    ( (?:\[\d++\])? ["')\]}”’»“」』）】]*+ (?:[ ]''(?=\s|\Z))?+ )
    ( \s*+ )
    | \n\s*+
    """,
    re.VERBOSE,
)
# As above; a closing » may follow after a space, as in French.
_MARK_OF_ANY_LANGUAGE = re.compile(
    r"""
    ( [.!?…⋯。！？｡؟۔।॥։።]++ )
    ( (?:\[\d++\])? ["')\]}”’»“«」』）】›]*+ (?:[ \u00a0\u202f][»”](?=[\s.,;:!?)]|\Z))?+ )
    ( \s*+ )
    | \n\s*+
    """,
    re.VERBOSE,
)
_ENDS_WITHOUT_SPACE = frozenset("。！？｡")
_ENDS_ALWAYS = frozenset("؟۔।॥։።") | _ENDS_WITHOUT_SPACE

_NEXT_WORD = re.compile(r"[^\w\s]{0,6}(\w[\w-]{0,40})?(\.?)")
_OPENING_QUOTES = re.compile(r"(?:[«„“‘‚\"'¿¡(\[*-][ \u00a0\u202f]?)*")
_DASH = re.compile(r"[-—―–]++\s")
BULLET = re.compile(r"(?:[-*•‣◦·–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_SHORT_FORM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, p.m, Ph.D
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")
REPORTING_VERB_PATTERN = "|".join(sorted(ENGLISH_WORDS["reporting_verbs"]))
_SPEAKER = re.compile(rf"(?:[A-Z][\w.'-]{{0,30}}\s){{1,4}}(?:{REPORTING_VERB_PATTERN})\b")
_MAX_WORD_CHARS = 40
_OPENING = "\"'`“‘«„([{<—―–-$£€¥#•*"
_ROMAN = re.compile(r"[IVXLC]+")
_DOUBLED = re.compile(r"([A-Z])\1")  # EE. UU.
_NUMBER = re.compile(r"(?:\d{1,2}\.?[/–-])?(\d+)")  # 3. and 25./26.
_MAX_ORDINAL_DIGITS = 2  # a longer number is an ordinal only after an article


def sentence_spans(
    text: str, *, max_sentences: int | None = None, language: Language = ENGLISH
) -> list[tuple[int, int]]:
    """Return the span of every sentence without surrounding white space.

    >>> text = "Mr. Smith of the U.S. Senate paid $3.5m. He left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Mr. Smith of the U.S. Senate paid $3.5m.', 'He left.']
    """
    return list(islice(iter_sentence_spans(text, language), max_sentences))


def iter_sentence_spans(text: str, language: Language = ENGLISH) -> Iterator[tuple[int, int]]:
    """Yield the spans of `sentence_spans` one by one."""
    start = len(text) - len(text.lstrip())
    pattern = _MARK if language.has_english_rules else _MARK_OF_ANY_LANGUAGE
    for mark in pattern.finditer(text):
        following = mark.end()
        if following == len(text):
            break
        if following > start and _ends_sentence(text, start, mark, language):
            end = mark.end(2) if mark[1] else start + len(text[start : mark.start()].rstrip())
            yield start, end
            start = following
    if start < len(text):
        yield start, len(text.rstrip())


def _ends_sentence(text: str, start: int, mark: re.Match[str], language: Language) -> bool:
    """Return whether the sentence from `start` ends at a mark or line break."""
    marks, _, space = mark.groups()
    if marks is None:
        return _is_new_paragraph(mark[0], text, mark.end())
    if not space:
        return marks[-1] in _ENDS_WITHOUT_SPACE
    if marks[-1] in _ENDS_ALWAYS or _is_new_paragraph(space, text, mark.end()):
        return True
    if _DASH.match(text, mark.end()):
        return False
    if language.has_english_rules:
        return _mark_ends(text, start, mark)
    return _mark_ends_by_language(text, start, mark, language)


def _mark_ends(text: str, start: int, mark: re.Match[str]) -> bool:
    """Return whether a mark followed by white space ends the sentence."""
    marks, closing, _ = mark.groups()
    last_word = _last_word(text, start, mark.start())
    next_word, next_stop = _next_word(text, mark.end())
    is_initial = bool(next_stop) and len(next_word) == 1
    begins_sentences = next_word.capitalize() in _STARTERS and not is_initial
    if next_word[:1].islower() and not _BRAND.match(next_word):
        # Some writers begin sentences in lower case; after an abbreviation, the sentence goes on.
        return marks == "." and not closing and _is_ordinary(last_word)
    if marks == "!" and not closing and last_word in ENGLISH_WORDS["with_exclamation"]:
        return begins_sentences
    if marks != ".":
        return not (closing and _SPEAKER.match(text, mark.end()))
    if not last_word:
        return text[mark.end()] != "."  # not between the dots of ". . ."
    is_first = mark.start() - len(last_word) == start
    if is_first and (last_word.isdigit() or len(last_word) == 1):
        return False  # a list item: "1. The first"
    return bool(closing) or _stop_ends(last_word, next_word, begins_sentences)


def _mark_ends_by_language(text: str, start: int, mark: re.Match[str], language: Language) -> bool:
    """Return whether a mark ends the sentence, by the word lists of a language."""
    marks, closing, _ = mark.groups()
    quotes = _OPENING_QUOTES.match(text, mark.end())
    assert quotes is not None, "the pattern matches the empty string"
    next_word, _ = _next_word(text, quotes.end())
    if next_word[:1].islower():
        return False
    if marks != "." or closing:
        return True
    last_word = _last_word(text, start, mark.start()).lstrip("¿¡»‚‹›")
    if not last_word:
        return text[mark.end()] != "."  # not between the dots of ". . ."
    is_first = mark.start() - len(last_word) == start
    if is_first and (last_word.isdigit() or len(last_word) == 1):
        return False  # a list item: "1. Der erste"
    begins_sentence = next_word.lower() in language.function_words
    if language.has_ordinals and (number := _NUMBER.fullmatch(last_word)):
        before = text[start : mark.start()].split()[-2:-1]
        return not _is_ordinal(number[1], before, next_word, begins_sentence, language)
    return _stop_ends_by_language(last_word, next_word, begins_sentence, language)


def _is_ordinal(
    number: str, before: list[str], next_word: str, begins_sentence: bool, language: Language
) -> bool:
    """Return whether a number with a full stop is an ordinal: "am 3. Oktober", "1. FC Köln"."""
    if next_word in language.months:
        return True
    has_article = any(word.lower() in language.before_ordinals for word in before)
    return not begins_sentence and (len(number) <= _MAX_ORDINAL_DIGITS or has_article)


def _stop_ends_by_language(
    last_word: str, next_word: str, begins_sentence: bool, language: Language
) -> bool:
    """Return whether a full stop between two words ends the sentence."""
    whole_word = last_word.replace("’", "'")
    last_word = whole_word.rpartition("'")[2].rpartition("-")[2]  # "l'art."
    if not language.never_last.isdisjoint([whole_word, last_word]):
        return False
    if last_word in language.before_numbers and next_word[:1].isdigit():
        return False
    if (
        last_word in language.sometimes_last
        or (len(whole_word) == 1 and whole_word.isalpha())
        or _SHORT_FORM.fullmatch(last_word)
        or _DOUBLED.fullmatch(last_word)
        or (language.has_ordinals and _ROMAN.fullmatch(last_word))
    ):
        return begins_sentence
    return True


def _is_new_paragraph(space: str, text: str, following: int) -> bool:
    """Return whether a line break is more than the wrapping of a long line."""
    num_lines = space.count("\n")
    return num_lines > 1 or (num_lines == 1 and BULLET.match(text, following) is not None)


def _last_word(text: str, start: int, end: int) -> str:
    """Return the word before a mark at `end`, without opening quotes and brackets."""
    before = text[max(start, end - _MAX_WORD_CHARS) : end]
    if not before or before[-1].isspace():
        return ""
    return before.rsplit(None, 1)[-1].lstrip(_OPENING)


def _next_word(text: str, start: int) -> tuple[str, str]:
    """Return the next word without opening quotes and brackets, and the full stop after it."""
    match = _NEXT_WORD.match(text, start)
    assert match is not None, "the pattern matches the empty string"
    return match[1] or "", match[2]


def _is_ordinary(word: str) -> bool:
    """Return whether a word is no abbreviation: long, in lower case and in no list."""
    lists = (ENGLISH.never_last, ENGLISH.before_numbers, ENGLISH.sometimes_last)
    is_listed = any(word in each for each in lists)
    return len(word) >= 4 and word.isalpha() and word.islower() and not is_listed


def _stop_ends(last_word: str, next_word: str, begins_sentences: bool) -> bool:
    """Return whether a full stop between two words ends the sentence."""
    if last_word.rpartition("-")[2] in ENGLISH.never_last:
        return False  # "Sen." and "ex-Sen."
    if last_word in ENGLISH.before_numbers and next_word[:1].isdigit():
        return False
    if last_word in ("e.g", "i.e"):
        return False
    if last_word.lower() in ("a.m", "p.m"):
        return next_word not in ENGLISH_WORDS["after_time_of_day"]
    if (
        last_word in _SOMETIMES_LAST
        or (len(last_word) == 1 and last_word.isupper())
        or _SHORT_FORM.fullmatch(last_word)
    ):
        return begins_sentences
    return True
