"""Words of a summary written as a person would write them.

Models deal in forms: lower case, # for digits, -lrb- for a bracket. A word that was copied is
printed as it stands in the source. A generated one takes from the source what its form forgot:
its capitals, and the digits of the number the model looked at when it wrote ##.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from readagain.config.options import Case
from readagain.errors import ShapeError
from readagain.text.casing import SourceTruecaser, capitalized
from readagain.text.document import Document
from readagain.text.normalization import BRACKETS
from readagain.text.numbers import SourceNumbers
from readagain.text.truecasing import Truecaser, default_truecaser

_SIGNS = {form: sign for sign, form in BRACKETS.items()} | {
    "``": '"',
    "''": '"',
    "`": "'",
    "--": "–",
}
_CLOSING = frozenset(
    [",", ".", ";", ":", "?", "!", "%", "...", "''", "'", "-rrb-", "-rsb-", "-rcb-"]
    + ["n't", "'s", "'m", "'d", "'ll", "'re", "'ve"]
)
_OPENING = frozenset(["``", "`", "-lrb-", "-lsb-", "-lcb-", "$", "£", "€", "¥"])
_CLOSED_BY = {"``": "''", "`": "'"}
_CURLY = {"``": "“", "''": "”", "`": "‘", "'": "’"}
_NEVER_APART = frozenset([",", "."])  # from the word before, in any language
_NOT_LAST = frozenset([",", ";", ":", "--", ".."])
_PARTNERS = {"“": "”", "„": "“", "‘": "’", "‚": "‘", "«": "»", "‹": "›"}
_ONE_WORD = frozenset(
    [("can", "not"), ("gon", "na"), ("got", "ta"), ("wan", "na"), ("gim", "me"), ("lem", "me")]
)


@dataclass(frozen=True)
class SummaryToken:
    """A word of a summary and where it comes from.

    Args:
        form: the word as the model knows it.
        copied_from: the place of the source word it is a copy of, counted over all sentences.
        attended: places of source words, the most attended first; where a generated # looks for
            its digits.
    """

    form: str
    copied_from: int | None = None
    attended: tuple[int, ...] = ()


@dataclass(frozen=True)
class WrittenWord:
    """A word of a summary as it is printed.

    Args:
        place: which word of the summary it is; numbers that cannot be filled in are missing.
        surface: how it is spelled.
        has_space: whether a space stands before it.
        digits_from: the place of the source number whose digits a generated # took.
    """

    place: int
    surface: str
    has_space: bool
    digits_from: int | None


@dataclass(frozen=True)
class _SurfaceToken:
    """A word on its way to the page."""

    place: int
    form: str
    surface: str
    copied_from: int | None
    digits_from: int | None


def write_summary(
    summary: Sequence[SummaryToken],
    document: Document,
    *,
    case: Case = "sentence",
    cases: Truecaser | None = None,
) -> str:
    """Write a summary for people: real case, digits, accents, brackets, quotes and spacing.

    A number that the model made up, with no number in the source to take digits from, is left out:
    no digits are invented, and # is never printed.

    Args:
        summary: the words in order.
        document: what was summarized.
        case: "sentence" begins with a capital, "headline" has one on every word of weight, and
            "plain" changes no copied word at all.
        cases: how words are written that the document does not show; those of frequent English
            words unless given.
    """
    words = write_words(summary, document, case=case, cases=cases)
    return "".join(" " * word.has_space + word.surface for word in words)


def write_words(
    summary: Sequence[SummaryToken],
    document: Document,
    *,
    case: Case = "sentence",
    cases: Truecaser | None = None,
) -> list[WrittenWord]:
    """Write a summary as `write_summary` does, and keep its words apart."""
    source_case = SourceTruecaser(
        document, default_truecaser() if cases is None else cases, keeps_capitals=case == "plain"
    )
    written = _with_like_quotes(list(_surfaces(summary, document, source_case, case)))
    if case != "plain":
        written = _ended(written)
    surfaces = capitalized([word.surface for word in written], case)
    return [
        WrittenWord(
            place=word.place,
            surface=surface,
            has_space=nth > 0
            and _has_space_between(written[nth - 1], word, document, is_plain=case == "plain"),
            digits_from=word.digits_from,
        )
        for nth, (word, surface) in enumerate(zip(written, surfaces, strict=True))
    ]


def write_document(document: Document) -> str:
    """Write all words of a document: its text, with each stretch of white space as one space."""
    copies = [SummaryToken(word.norm, place) for place, word in enumerate(document.words)]
    return write_summary(copies, document, case="plain")


def _surfaces(
    summary: Sequence[SummaryToken], document: Document, source_case: SourceTruecaser, case: Case
) -> Iterator[_SurfaceToken]:
    """Find how each word is spelled; numbers that cannot be filled in are left out."""
    numbers = SourceNumbers(document)
    previous: int | None = None
    forms = [None, *(word.form for word in summary), None]
    for nth, word in enumerate(summary):
        place = word.copied_from
        digits_from = None
        if place is not None and not document.is_tokenized:
            surface = _source_word(place, document)
            if case != "plain":
                surface = source_case.copied(place, goes_on=previous == place - 1)
        elif place is None and "#" in word.form:
            filled = numbers.fill(word.form, word.attended)
            if filled is None:
                continue
            surface, digits_from = filled
        else:
            before, after = forms[nth], forms[nth + 2]
            surface = _SIGNS.get(word.form) or source_case.writing(word.form, before, after)
        previous = place
        yield _SurfaceToken(nth, word.form, surface, place, digits_from)


def _with_like_quotes(written: list[_SurfaceToken]) -> list[_SurfaceToken]:
    """Give a generated quotation mark the style of its partner, or else of other copied words."""
    opening: dict[str, int] = {}  # by the form that closes it
    for nth, word in enumerate(written):
        if word.form in _CLOSED_BY:
            opening[_CLOSED_BY[word.form]] = nth
        elif word.form in opening:
            at = opening.pop(word.form)
            first = written[at]
            if word.copied_from is None and first.surface in _PARTNERS:
                written[nth] = replace(word, surface=_PARTNERS[first.surface])
            elif first.copied_from is None and word.surface in _PARTNERS.values():
                written[at] = replace(first, surface=_opens(word.surface))
    copied = "".join(word.surface for word in written if word.copied_from is not None)
    is_typographic = any(c in copied for c in "‘’“”") and not any(c in copied for c in "'\"")
    if not is_typographic:
        return written
    return [
        word if word.copied_from is not None else replace(word, surface=_typographic(word))
        for word in written
    ]


def _typographic(word: _SurfaceToken) -> str:
    """Write a generated quotation mark, or the apostrophe of a word, as a printer does."""
    if word.surface in ("'", '"'):
        return _CURLY.get(word.form, word.surface)
    return word.surface.replace("'", "’")


def _ended(written: list[_SurfaceToken]) -> list[_SurfaceToken]:
    """Leave out what no headline ends with, such as a comma, or the dots of "and so on.."."""
    while written and written[-1].form in _NOT_LAST:
        written = written[:-1]
    if not written or not written[-1].surface.endswith(".."):
        return written
    *others, last = written
    word = last.surface.rstrip(".")
    whole = f"{word}." if "." in word else word  # "U.S.." is an abbreviation
    return [*others, replace(last, surface=whole or last.surface)]


def _opens(closing: str) -> str:
    return next(opening for opening, partner in _PARTNERS.items() if partner == closing)


def _source_word(place: int, document: Document) -> str:
    words = document.words
    if not 0 <= place < len(words):
        raise ShapeError(
            f"a summary word is copied from place {place} of a source of {len(words)} words; "
            f"expected 0 to {len(words) - 1}"
        )
    return document.surface(words[place])


def _has_space_between(
    left: _SurfaceToken, right: _SurfaceToken, document: Document, *, is_plain: bool
) -> bool:
    """Say whether a space stands between two words: as in the source, or by the words."""
    if not is_plain and (right.form in _NEVER_APART or (left.form == "$" and right.form[0] == "#")):
        return False  # though some texts have one: "to Ostham , they said", "$ 5 million"
    first, second = left.copied_from, right.copied_from
    if first is not None and second == first + 1 and not document.is_tokenized:
        return document.words[first].end < document.words[second].start
    if right.form in _CLOSING or left.form in _OPENING or left.surface == "#":
        return False
    return (left.form, right.form) not in _ONE_WORD
