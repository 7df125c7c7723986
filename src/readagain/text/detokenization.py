"""Detokenization: from normalized summary tokens to printed text.

Models use normalized tokens: lower case, # for digits, -lrb- for a bracket. A copied token is
printed as in the source. A generated one takes its case from the source, and its digits from the
number that the model attended to.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from readagain.config.options import Case
from readagain.text.casing import SourceTruecaser, capitalize
from readagain.text.document import Document, Token
from readagain.text.language import ENGLISH, UNSPACED_RANGES, Language
from readagain.text.normalization import BRACKETS
from readagain.text.numbers import SourceNumbers
from readagain.text.truecasing import Truecaser, default_truecaser

_SIGNS = {norm: sign for sign, norm in BRACKETS.items()} | {
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
_NO_SPACE_BEFORE = frozenset([",", "."])  # in any language
_NOT_LAST = frozenset([",", ";", ":", "--", ".."])
_CLOSING_OF = {"“": "”", "„": "“", "‘": "’", "‚": "‘", "«": "»", "‹": "›"}
_OPENING_OF = {closing: opening for opening, closing in _CLOSING_OF.items()}
_OPENING_IN_ANY_LANGUAGE = frozenset("¿¡「『（《〈【［〔")
_CLOSING_IN_ANY_LANGUAGE = frozenset("。！？、，；：」』）》〉】］〕،؛؟۔।·・～")
_UNSPACED = re.compile(
    rf"[{UNSPACED_RANGES}「『（《〈【［〔。！？、，；：」』）》〉】］〕·・～⋯…―]"
)
_ONE_WORD = frozenset(
    [("can", "not"), ("gon", "na"), ("got", "ta"), ("wan", "na"), ("gim", "me"), ("lem", "me")]
)


Origin = Literal["copied", "generated", "digits", "given"]


@dataclass(frozen=True)
class SummaryToken:
    """A token of a summary.

    Args:
        norm: normalized token, as in the vocabulary of the model.
        copied_from: position of the source token that it copies, counted over all sentences.
        attended: source positions by decreasing attention; a generated # takes its digits there.
        is_given: whether it belongs to the prefix that the caller gave.
        log_prob: natural logarithm of its probability; 0 for a given token.
        source: source token that it, or its digits, were taken from.
        surface: as printed; empty if not printed, such as a number without digits in the source.
        start, end: span in the printed summary.
        digits_from: position of the source token that its digits were taken from.
    """

    norm: str
    copied_from: int | None = None
    attended: tuple[int, ...] = ()
    is_given: bool = False
    log_prob: float = 0.0
    source: Token | None = None
    surface: str = ""
    start: int = 0
    end: int = 0
    digits_from: int | None = None

    @property
    def origin(self) -> Origin:
        """Origin: copied, generated, generated with digits of the source, or given."""
        if self.is_given:
            return "given"
        if self.copied_from is not None:
            return "copied"
        return "generated" if self.digits_from is None else "digits"


def printed_text(tokens: Sequence[SummaryToken]) -> str:
    """Return the text of tokens with surfaces and spans."""
    text = ""
    for token in tokens:
        text += " " * (token.start - len(text)) + token.surface
    return text


def add_surfaces(
    tokens: Sequence[SummaryToken],
    document: Document,
    *,
    case: Case = "sentence",
    truecaser: Truecaser | None = None,
    language: Language = ENGLISH,
) -> list[SummaryToken]:
    """Return all tokens with their surface and span in the printed summary (`printed_text`).

    Tokens that are not printed get an empty surface and span: marks at the end, and generated
    numbers for which no number of the source has digits. So no digits are invented, and # is never
    printed.

    Args:
        tokens: tokens of the summary.
        document: source document.
        case: "sentence" and "headline" capitalize; "plain" leaves copied tokens unchanged.
        truecaser: usual capitalization of tokens that are not in the document; by default
            of frequent English words.
        language: language of document and summary.
    """
    is_plain = case == "plain"
    source_case = SourceTruecaser(
        document,
        default_truecaser() if truecaser is None else truecaser,
        keep_all_caps=is_plain,
        language=language,
    )
    result = list(_with_spellings(tokens, document, source_case, case, language))
    printed = [nth for nth, token in enumerate(result) if token.surface]
    _match_quotes(result, printed)
    if not is_plain:
        _trim_end(result, printed)
    capitalized = capitalize(
        [result[nth].surface for nth in printed],
        [result[nth].norm for nth in printed],
        case,
        language,
    )
    surfaces = dict(zip(printed, capitalized, strict=True))
    end, previous = 0, None
    for nth, token in enumerate(result):
        start = end
        surface = surfaces.get(nth, "")
        if nth in surfaces:
            if previous is not None and _has_space(
                previous, token, document, language, is_plain=is_plain
            ):
                start += 1
            previous = token
        end = start + len(surface)
        result[nth] = replace(token, surface=surface, start=start, end=end)
    return result


def write_copied(
    document: Document, language: Language = ENGLISH, *, positions: Iterable[int] | None = None
) -> str:
    """Return the words at `positions` (default: all) as in the document, with single spaces."""
    positions = range(len(document.words)) if positions is None else positions
    copies = [SummaryToken(document.words[position].norm, position) for position in positions]
    return printed_text(add_surfaces(copies, document, case="plain", language=language))


def _with_spellings(
    tokens: Sequence[SummaryToken],
    document: Document,
    source_case: SourceTruecaser,
    case: Case,
    language: Language,
) -> Iterator[SummaryToken]:
    """Yield tokens with their spelling, which is empty for numbers without digits."""
    signs = _SIGNS | dict(zip(("``", "''"), language.quotes, strict=True))
    numbers = SourceNumbers(document)
    previous: int | None = None
    norms = [None, *(token.norm for token in tokens), None]
    for nth, token in enumerate(tokens):
        position = token.copied_from
        digits_from = None
        if position is not None and not document.is_tokenized:
            if case == "plain":
                surface = document.surface(document.words[position])
            else:
                surface = source_case.spell_copied(position, continues=previous == position - 1)
        elif position is None and "#" in token.norm:
            filled = numbers.fill(token.norm, token.attended)
            if filled is None:
                yield token
                continue
            surface, digits_from = filled
            token = replace(token, source=document.words[digits_from])
        else:
            before, after = norms[nth], norms[nth + 2]
            surface = signs.get(token.norm) or source_case.spell_generated(
                token.norm, before, after
            )
        previous = position
        yield replace(token, surface=surface, digits_from=digits_from)


def _match_quotes(tokens: list[SummaryToken], printed: Sequence[int]) -> None:
    """Give generated quotation marks the style of their partner, or else of copied tokens."""
    opening: dict[str, int] = {}  # by the norm that closes it
    for nth in printed:
        token = tokens[nth]
        if token.norm in _CLOSED_BY:
            opening[_CLOSED_BY[token.norm]] = nth
        elif token.norm in opening:
            first_nth = opening.pop(token.norm)
            first = tokens[first_nth]
            if token.copied_from is None and first.surface in _CLOSING_OF:
                tokens[nth] = replace(token, surface=_CLOSING_OF[first.surface])
            elif first.copied_from is None and token.surface in _OPENING_OF:
                tokens[first_nth] = replace(first, surface=_OPENING_OF[token.surface])
    copied = "".join(tokens[nth].surface for nth in printed if tokens[nth].copied_from is not None)
    if any(c in copied for c in "‘’“”") and not any(c in copied for c in "'\""):
        for nth in printed:
            if tokens[nth].copied_from is None:
                tokens[nth] = replace(tokens[nth], surface=_curly(tokens[nth]))


def _curly(token: SummaryToken) -> str:
    """Return a generated token with typographic quotation marks or apostrophe."""
    if token.surface in ("'", '"'):
        return _CURLY.get(token.norm, token.surface)
    return token.surface.replace("'", "’")


def _trim_end(tokens: list[SummaryToken], printed: list[int]) -> None:
    """Remove marks that a headline does not end with: a comma, or the dots of "and so on.."."""
    while printed and tokens[printed[-1]].norm in _NOT_LAST:
        printed.pop()
    if not printed or not tokens[printed[-1]].surface.endswith(".."):
        return
    last = tokens[printed[-1]]
    word = last.surface.rstrip(".")
    trimmed = f"{word}." if "." in word else word  # "U.S.." is an abbreviation
    tokens[printed[-1]] = replace(last, surface=trimmed or last.surface)


def _has_space(
    left: SummaryToken,
    right: SummaryToken,
    document: Document,
    language: Language,
    *,
    is_plain: bool,
) -> bool:
    """Return whether a space separates two tokens: as in the source, or by their kind."""
    is_amount = left.norm == "$" and right.norm[0] == "#"
    if not is_plain and (right.norm in _NO_SPACE_BEFORE or is_amount):
        return False  # even if the text has a space: "to Ostham , they said", "$ 5 million"
    first, second = left.copied_from, right.copied_from
    if first is not None and second == first + 1 and not document.is_tokenized:
        return document.words[first].end < document.words[second].start
    if right.norm in language.spaced_marks:
        return True
    if right.norm in _CLOSING or left.norm in _OPENING or left.surface == "#":
        return False
    if language.has_english_rules:
        return (left.norm, right.norm) not in _ONE_WORD
    return not _is_joined(left.norm, right.norm, language)


def _is_joined(left: str, right: str, language: Language) -> bool:
    """Return whether two norms of a language other than English are written without a space."""
    if left in _OPENING_IN_ANY_LANGUAGE or right in _CLOSING_IN_ANY_LANGUAGE:
        return True
    if left.endswith("'") and left[:-1] in language.elisions:
        return True
    if language.is_spaced:
        return False
    return _UNSPACED.fullmatch(left[-1]) is not None or _UNSPACED.fullmatch(right[0]) is not None
