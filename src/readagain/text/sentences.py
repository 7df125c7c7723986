"""Where sentences end.

One pattern finds every mark that may end a sentence; for each, the words on both sides decide.
White space follows an end in scripts that have it; capitals begin a sentence in scripts that have
them. `tests/assets/sentences` holds the cases the rules were written for.
"""

import re

from readagain.text.wordlists import (
    AFTER_TIME_OF_DAY,
    BEFORE_NUMBERS,
    MONTHS_AND_DAYS,
    NEVER_LAST,
    REPORTING_VERBS,
    SOMETIMES_LAST,
    STARTERS,
    WITH_EXCLAMATION,
)

# Marks, then what closes with them, then white space; or the end of a line. Never fails after its
# first character, so a long run of marks is read once.
_MARK = re.compile(
    r"""([.!?…。！？｡؟۔।॥։።]++)((?:\[\d++\])?["')\]}”’»“」』）】]*+)(\s*+)|\n\s*+""", re.VERBOSE
)
_ENDS_WITHOUT_SPACE = frozenset("。！？｡")
_ENDS_ALWAYS = frozenset("؟۔।॥։።") | _ENDS_WITHOUT_SPACE

_NEXT_WORD = re.compile(r"[^\w\s]{0,6}(\w[\w-]{0,40})?(\.?)")
_DASH = re.compile(r"[-—–]+\s")
_BULLET = re.compile(r"(?:[-*•‣◦·–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_SHORT_FORM = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, p.m, Ph.D
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")
_WHO_SAID_IT = re.compile(
    rf"(?:[A-Z][\w.'-]{{0,30}}\s){{1,4}}(?:{'|'.join(sorted(REPORTING_VERBS))})\b"
)
_LONGEST_WORD = 40
_OPENING = "\"'`“‘«„([{<—–-$£€¥#•*"


def sentence_spans(text: str, *, max_sentences: int | None = None) -> list[tuple[int, int]]:
    """Return the place of every sentence as (start, end), white space around it left out.

    >>> text = "Mr. Smith of the U.S. Senate paid $3.5m. He left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Mr. Smith of the U.S. Senate paid $3.5m.', 'He left.']
    """
    spans: list[tuple[int, int]] = []
    start = _skip_space(text, 0)
    for mark in _MARK.finditer(text):
        following = mark.end()
        if following == len(text) or len(spans) == max_sentences:
            break
        if following > start and _ends_sentence(text, start, mark):
            end = mark.end(2) if mark[1] else start + len(text[start : mark.start()].rstrip())
            spans.append((start, end))
            start = following
    if start < len(text) and len(spans) != max_sentences:
        spans.append((start, len(text.rstrip())))
    return spans


def _skip_space(text: str, start: int) -> int:
    return len(text) - len(text[start:].lstrip())


def _ends_sentence(text: str, start: int, mark: re.Match[str]) -> bool:
    """Say whether the sentence that began at `start` ends at a mark or a line's end."""
    marks, closing, space = mark.groups()
    following = mark.end()
    if marks is None:
        return _is_new_paragraph(mark[0], text, following)
    if not space:
        return marks[-1] in _ENDS_WITHOUT_SPACE
    if "\n" in space and _is_new_paragraph(space, text, following):
        return True
    if marks[-1] in _ENDS_ALWAYS:
        return True
    if _DASH.match(text, following):
        return False
    next_word, next_stop = _NEXT_WORD.match(text, following).groups()  # type: ignore[union-attr]
    next_word = next_word or ""
    last_word = _last_word(text, start, mark.start())
    if next_word[:1].islower() and not _BRAND.match(next_word):
        is_ordinary = last_word.islower() and last_word.isalpha() and len(last_word) >= 4
        return marks == "." and not closing and is_ordinary and not _is_abbreviation(last_word)
    if marks != ".":
        if last_word in WITH_EXCLAMATION and marks == "!" and not closing:
            return next_word in STARTERS
        return not (closing and _WHO_SAID_IT.match(text, following))
    if not last_word:
        return text[following] != "."
    starts = next_word.capitalize() in STARTERS and not (next_stop and len(next_word) == 1)
    return bool(closing) or _stop_ends(
        last_word, next_word, starts=starts, is_first=(mark.start() - len(last_word) == start)
    )


def _is_new_paragraph(space: str, text: str, following: int) -> bool:
    """Say whether a line's end is more than the wrapping of a long line."""
    return space.count("\n") > 1 or _BULLET.match(text, following) is not None


def _last_word(text: str, start: int, end: int) -> str:
    """Return the word that a mark at `end` follows, without what opens before it."""
    before = text[max(start, end - _LONGEST_WORD) : end]
    if not before or before[-1].isspace():
        return ""
    return before.rsplit(None, 1)[-1].lstrip(_OPENING)


def _is_abbreviation(word: str) -> bool:
    return word in NEVER_LAST or word in BEFORE_NUMBERS or word in SOMETIMES_LAST


def _stop_ends(last_word: str, next_word: str, *, starts: bool, is_first: bool) -> bool:
    """Say whether a full stop ends the sentence, from the words around it.

    Args:
        last_word: the word before the stop.
        next_word: the word after it, which is no plain lower-case word.
        starts: whether the next word is one that begins sentences.
        is_first: whether the word before the stop is all there is of the sentence.
    """
    if is_first and (last_word.isdigit() or len(last_word) == 1):
        return False  # 1. The first item of a list
    if last_word.rpartition("-")[2] in NEVER_LAST:
        return False  # Sen. and ex-Sen.
    if last_word in BEFORE_NUMBERS and next_word[:1].isdigit():
        return False
    if last_word in ("e.g", "i.e"):
        return False
    if last_word.lower() in ("a.m", "p.m"):
        return next_word not in AFTER_TIME_OF_DAY
    if (
        last_word in SOMETIMES_LAST
        or last_word in MONTHS_AND_DAYS
        or (len(last_word) == 1 and last_word.isupper())
        or _SHORT_FORM.fullmatch(last_word)
    ):
        return starts
    return True
