"""Sentence splitter with character offsets.

One pattern finds every punctuation mark and line break that may end a sentence. The words before
and after the mark then decide whether it does. `tests/assets/sentences` and
`tests/assets/languages` have the cases that the rules were written for.
"""

import re
from collections.abc import Iterator
from itertools import islice

from readagain.text.language import ENGLISH, Language
from readagain.text.wordlists import ENGLISH_WORDS

_STARTERS = ENGLISH_WORDS["starters"]  # words that often begin sentences
_SOMETIMES_LAST = ENGLISH.sometimes_last | ENGLISH_WORDS["months_and_days"]
_ABBREVIATIONS = ENGLISH.never_last | ENGLISH.before_numbers | ENGLISH.sometimes_last

# Possible end of a sentence. Groups: end marks; closing quotes and brackets, perhaps after a
# footnote number such as [1]; white space. For a line break, all groups are None. A match cannot
# fail after its first character, so a long run of marks takes linear time.
_END_MARK = re.compile(
    r"""
    ( [.!?…⋯。！？｡؟۔।॥։።]++ )
    ( (?:\[\d++\])? ["')\]}”’»“」』）】]*+ (?:[ ]''(?=\s|\Z))?+ )
    ( \s*+ )
    | \n\s*+
    """,
    re.VERBOSE,
)
# Possible end of a sentence in other languages, where a space may precede the closing quote, as in
# French " »".
_END_MARK_NON_ENGLISH = re.compile(
    r"""
    ( [.!?…⋯。！？｡؟۔।॥։።]++ )
    ( (?:\[\d++\])? ["')\]}”’»“«」』）】›]*+ (?:[ \u00a0\u202f][»”](?=[\s.,;:!?)]|\Z))?+ )
    ( \s*+ )
    | \n\s*+
    """,
    re.VERBOSE,
)
# Marks that always end a sentence, even without a space after them.
_ENDS_WITHOUT_SPACE = frozenset("。！？｡")
# Marks that always end a sentence if a space follows.
_ENDS_BEFORE_SPACE = frozenset("؟۔।॥։።") | _ENDS_WITHOUT_SPACE

# Opening quotes and brackets, a word, a full stop.
_NEXT_WORD = re.compile(r"[^\w\s]{0,6}(\w[\w-]{0,40})?(\.?)")
_OPENING_QUOTES = re.compile(r"(?:[«„“‘‚\"'¿¡(\[*-][ \u00a0\u202f]?)*")
_DASH = re.compile(r"[-—―–]++\s")
BULLET = re.compile(r"(?:[-*•‣◦·–]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
# Abbreviations and names, without their last full stop.
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, p.m, Ph.D
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")  # iPhone, eBay
REPORTING_VERB_PATTERN = "|".join(sorted(ENGLISH_WORDS["reporting_verbs"]))
# A name and a reporting verb: "Jo Roe said".
_SPEAKER = re.compile(rf"(?:[A-Z][\w.'-]{{0,30}}\s){{1,4}}(?:{REPORTING_VERB_PATTERN})\b")
_MAX_WORD_CHARS = 40  # a longer word before a mark is truncated
_OPENING = "\"'`“‘«„([{<—―–-$£€¥#•*"
_ROMAN = re.compile(r"[IVXLC]+")
_DOUBLED = re.compile(r"([A-Z])\1")  # Spanish plurals such as EE. UU.
_NUMBER = re.compile(r"(?:\d{1,2}\.?[/–-])?(\d+)")  # "3" of "3.", "25./26" of "25./26."
_MAX_ORDINAL_DIGITS = 2  # a longer number is an ordinal only after a word of `before_ordinals`


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
    pattern = _END_MARK if language.has_english_rules else _END_MARK_NON_ENGLISH
    for mark in pattern.finditer(text):
        following = mark.end()
        if following == len(text):
            break
        if following > start and _is_sentence_end(text, start, mark, language):
            end = mark.end(2) if mark[1] else start + len(text[start : mark.start()].rstrip())
            yield start, end
            start = following
    if start < len(text):
        yield start, len(text.rstrip())


def _is_sentence_end(text: str, start: int, mark: re.Match[str], language: Language) -> bool:
    """Return whether the sentence from `start` ends at a mark or line break."""
    marks, _, space = mark.groups()
    if marks is None:
        return _is_new_paragraph(mark[0], text, mark.end())
    if not space:
        return marks[-1] in _ENDS_WITHOUT_SPACE
    if marks[-1] in _ENDS_BEFORE_SPACE or _is_new_paragraph(space, text, mark.end()):
        return True
    if _DASH.match(text, mark.end()):
        return False  # "Why? - he asked"
    if language.has_english_rules:
        return _is_end_english(text, start, mark)
    return _is_end_non_english(text, start, mark, language)


def _is_end_english(text: str, start: int, mark: re.Match[str]) -> bool:
    """Return whether a mark before white space ends an English sentence."""
    marks, closing, _ = mark.groups()
    last_word = _last_word(text, start, mark.start())
    next_word, next_stop = _next_word(text, mark.end())
    is_initial = next_stop != "" and len(next_word) == 1
    is_starter = next_word.capitalize() in _STARTERS and not is_initial
    if next_word[:1].islower() and not _BRAND.match(next_word):
        # Some writers begin sentences in lower case.
        return marks == "." and not closing and not _may_be_abbreviation(last_word)
    if marks == "!" and not closing and last_word in ENGLISH_WORDS["with_exclamation"]:
        return is_starter
    if marks != ".":
        is_quotation = bool(closing) and _SPEAKER.match(text, mark.end()) is not None
        return not is_quotation  # "Why?" Jo Roe asked
    if not last_word:
        return text[mark.end()] != "."  # not between the dots of ". . ."
    is_first = mark.start() - len(last_word) == start
    if is_first and (last_word.isdigit() or len(last_word) == 1):
        return False  # the number of a list item: "1. The first"
    return bool(closing) or _is_final_stop_english(last_word, next_word, is_starter=is_starter)


def _is_end_non_english(text: str, start: int, mark: re.Match[str], language: Language) -> bool:
    """Return whether a mark before white space ends a sentence of another language."""
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
        return False  # the number of a list item: "1. Der erste"
    is_starter = next_word.lower() in language.function_words
    if language.has_ordinals and (number := _NUMBER.fullmatch(last_word)):
        if next_word in language.months:
            return False  # an ordinal: "am 3. Oktober"
        words = text[start : mark.start()].split()
        before_number = words[-2] if len(words) > 1 else ""
        is_short = len(number[1]) <= _MAX_ORDINAL_DIGITS
        may_be_ordinal = is_short or before_number.lower() in language.before_ordinals
        return is_starter or not may_be_ordinal
    return _is_final_stop_non_english(last_word, next_word, language, is_starter=is_starter)


def _is_final_stop_non_english(
    last_word: str, next_word: str, language: Language, *, is_starter: bool
) -> bool:
    """Return whether a full stop between two words ends a sentence of another language.

    `is_starter`: whether the next word often begins sentences.
    """
    whole_word = last_word.replace("’", "'")
    last_word = whole_word.rpartition("'")[2].rpartition("-")[2]  # "l'art": "art"
    if not language.never_last.isdisjoint([whole_word, last_word]):
        return False
    if last_word in language.before_numbers and next_word[:1].isdigit():
        return False
    if (
        last_word in language.sometimes_last
        or (len(whole_word) == 1 and whole_word.isalpha())
        or _DOTTED.fullmatch(last_word)
        or _DOUBLED.fullmatch(last_word)
        or (language.has_ordinals and _ROMAN.fullmatch(last_word))
    ):
        return is_starter
    return True


def _is_new_paragraph(space: str, text: str, following: int) -> bool:
    """Return whether white space has an empty line, or a line break before a bullet.

    A single line break otherwise only wraps a long line. `following` is the offset after the space.
    """
    num_breaks = space.count("\n")
    return num_breaks > 1 or (num_breaks == 1 and BULLET.match(text, following) is not None)


def _last_word(text: str, start: int, end: int) -> str:
    """Return the word before a mark at `end`, without leading quotes, brackets and symbols."""
    before = text[max(start, end - _MAX_WORD_CHARS) : end]
    if not before or before[-1].isspace():
        return ""
    return before.rsplit(None, 1)[-1].lstrip(_OPENING)


def _next_word(text: str, start: int) -> tuple[str, str]:
    """Return the next word without opening quotes and brackets, and the full stop after it."""
    match = _NEXT_WORD.match(text, start)
    assert match is not None, "the pattern matches the empty string"
    return match[1] or "", match[2]


def _may_be_abbreviation(word: str) -> bool:
    """Return whether an English word is short, listed, or not in lower-case letters."""
    is_lower_case = word.isalpha() and word.islower()
    return len(word) < 4 or word in _ABBREVIATIONS or not is_lower_case


def _is_final_stop_english(last_word: str, next_word: str, *, is_starter: bool) -> bool:
    """Return whether a full stop between two words ends an English sentence.

    `is_starter`: whether the next word often begins sentences.
    """
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
        or _DOTTED.fullmatch(last_word)
    ):
        return is_starter
    return True
