"""Detokenization: from normalized summary tokens to printed text.

Models use normalized tokens: lower case, # for digits, -lrb- for a bracket. A copied token is
printed as in the source. A generated token takes its case from the source, and its digits from a
number of the source, preferably one that the model attended to.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from readagain.config.options import Case
from readagain.text.casing import CLITICS, SourceTruecaser, capitalize
from readagain.text.document import Document, Token
from readagain.text.language import ENGLISH, UNSPACED_RANGES, Language
from readagain.text.normalization import BRACKETS
from readagain.text.numbers import SourceNumbers
from readagain.text.truecasing import Truecaser, default_truecaser

# Printed form of marks, by norm.
_PRINTED_MARKS = {norm: bracket for bracket, norm in BRACKETS.items()} | {
    "``": '"',
    "''": '"',
    "`": "'",
    "--": "–",
}
# Norms without a space before them.
_CLOSING = CLITICS.union(
    [",", ".", ";", ":", "?", "!", "%", "...", "''", "'", "-rrb-", "-rsb-", "-rcb-"]
)
# Norms without a space after them.
_OPENING = frozenset(["``", "`", "-lrb-", "-lsb-", "-lcb-", "$", "£", "€", "¥"])
# Further marks of languages other than English.
_CLOSING_NON_ENGLISH = frozenset("。！？、，；：」』）》〉】］〕،؛؟۔।·・～")
_OPENING_NON_ENGLISH = frozenset("¿¡「『（《〈【［〔")
_NEVER_SPACED = frozenset([",", "."])  # no space before them, even if the source has one
_NOT_LAST = frozenset([",", ";", ":", "--", ".."])  # a headline does not end with these norms

_CLOSING_NORM = {"``": "''", "`": "'"}  # by the norm of the opening quote
_CLOSING_QUOTE = {"“": "”", "„": "“", "‘": "’", "‚": "‘", "«": "»", "‹": "›"}
_OPENING_QUOTE = {closing: opening for opening, closing in _CLOSING_QUOTE.items()}
_CURLY_QUOTES = {"``": "“", "''": "”", "`": "‘", "'": "’"}  # by norm

_UNSPACED = re.compile(
    rf"[{UNSPACED_RANGES}「『（《〈【［〔。！？、，；：」』）》〉】］〕·・～⋯…―]"
)
# Pairs of tokens that the tokenizer makes of one word.
_ONE_WORD = frozenset(
    [("can", "not"), ("gon", "na"), ("got", "ta"), ("wan", "na"), ("gim", "me"), ("lem", "me")]
)


Origin = Literal["copied", "generated", "digits", "given"]
"""Origin of a token, see `SummaryToken.origin`."""


@dataclass(frozen=True)
class SummaryToken:
    """A token of a summary.

    Args:
        norm: normalized token, as in the vocabulary of the model.
        copied_from: position, counted over all sentences, of the source token that is copied.
        attended: source positions by decreasing attention, which are searched first for the digits
            of a generated number.
        is_given: whether the token belongs to the prefix that the caller gave.
        log_prob: natural logarithm of the token's probability; 0 for a given token.
        source: source token from which the token or its digits are taken.
        surface: printed form; empty if the token is not printed (a number without digits).
        start, end: span in the printed summary.
        digits_from: position of the source token from which the digits are taken.
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
        """Origin of the token; "digits" means generated, with digits of the source."""
        if self.is_given:
            return "given"
        if self.copied_from is not None:
            return "copied"
        return "generated" if self.digits_from is None else "digits"


def printed_text(tokens: Sequence[SummaryToken]) -> str:
    """Return the text of tokens that have surfaces and spans."""
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
    """Return the tokens with their surfaces and spans in the printed summary (`printed_text`).

    Tokens that are not printed get an empty surface and span: commas and similar marks at the end,
    and generated numbers whose digits the source does not have. So # is never printed, and digits
    are never invented.

    Args:
        tokens: tokens of the summary.
        document: source document.
        case: "sentence" and "headline" capitalize; "plain" leaves copied tokens unchanged.
        truecaser: spelling of words that are not in the document (default: `default_truecaser`,
            for frequent English words).
        language: language of document and summary.
    """
    is_plain = case == "plain"
    source_truecaser = SourceTruecaser(
        document,
        default_truecaser() if truecaser is None else truecaser,
        keep_all_caps=is_plain,
        language=language,
    )
    spelled = list(_with_spellings(tokens, document, source_truecaser, case, language))
    _match_quotes(spelled)
    if not is_plain:
        _trim_end(spelled)
    printed = [token for token in spelled if token.surface]
    surfaces = iter(
        capitalize(
            [word.surface for word in printed], [word.norm for word in printed], case, language
        )
    )
    result = []
    end, previous = 0, None
    for token in spelled:
        start, surface = end, ""
        if token.surface:
            surface = next(surfaces)
            if previous and _has_space(previous, token, document, language, is_plain=is_plain):
                start += 1
            previous = token
        end = start + len(surface)
        result.append(replace(token, surface=surface, start=start, end=end))
    return result


def write_copied(
    document: Document, language: Language = ENGLISH, *, positions: Iterable[int] | None = None
) -> str:
    """Return the words at some positions (default: all) as spelled and spaced in the document.

    Each run of white space becomes one space.
    """
    positions = range(len(document.words)) if positions is None else positions
    copies = [SummaryToken(document.words[position].norm, position) for position in positions]
    return printed_text(add_surfaces(copies, document, case="plain", language=language))


def _with_spellings(
    tokens: Sequence[SummaryToken],
    document: Document,
    source_truecaser: SourceTruecaser,
    case: Case,
    language: Language,
) -> Iterator[SummaryToken]:
    """Yield tokens with their surface, which stays empty for numbers without digits."""
    opening_quote, closing_quote = language.quotes
    printed_marks = _PRINTED_MARKS | {"``": opening_quote, "''": closing_quote}
    numbers = SourceNumbers(document)
    previous: int | None = None  # position from which the previous token was copied
    norms = [None, *(token.norm for token in tokens), None]
    for index, token in enumerate(tokens):
        position = token.copied_from
        digits_from = None
        if position is not None and not document.is_tokenized:
            if case == "plain":
                surface = document.surface(document.words[position])
            else:
                surface = source_truecaser.spell_copied(
                    position, continues_copy=previous == position - 1
                )
        elif position is None and "#" in token.norm:
            filled = numbers.fill(token.norm, token.attended)
            if filled is None:
                yield token
                continue
            surface, digits_from = filled
            token = replace(token, source=document.words[digits_from])
        else:
            before, after = norms[index], norms[index + 2]
            surface = printed_marks.get(token.norm) or source_truecaser.spell_generated(
                token.norm, before, after
            )
        previous = position
        yield replace(token, surface=surface, digits_from=digits_from)


def _match_quotes(tokens: list[SummaryToken]) -> None:
    """Change the surfaces of generated quotation marks to match copied text, in place.

    A generated mark takes the shape of the copied mark that it opens or closes. If all quotation
    marks and apostrophes in copied tokens are curly, the generated ones become curly too.
    """
    opening_index: dict[str, int] = {}  # by the norm of the closing mark
    for index, token in enumerate(tokens):
        if token.norm in _CLOSING_NORM:
            opening_index[_CLOSING_NORM[token.norm]] = index
        elif token.norm in opening_index:
            first_index = opening_index.pop(token.norm)
            first = tokens[first_index]
            if token.copied_from is None and first.surface in _CLOSING_QUOTE:
                tokens[index] = replace(token, surface=_CLOSING_QUOTE[first.surface])
            elif first.copied_from is None and token.surface in _OPENING_QUOTE:
                tokens[first_index] = replace(first, surface=_OPENING_QUOTE[token.surface])
    copied = "".join(token.surface for token in tokens if token.copied_from is not None)
    if any(c in copied for c in "‘’“”") and not any(c in copied for c in "'\""):
        for index, token in enumerate(tokens):
            if token.copied_from is None:
                tokens[index] = replace(token, surface=_curly_surface(token))


def _curly_surface(token: SummaryToken) -> str:
    """Return the surface of a token with a curly quotation mark or apostrophe."""
    if token.surface in ("'", '"'):
        return _CURLY_QUOTES.get(token.norm, token.surface)
    return token.surface.replace("'", "’")


def _trim_end(tokens: list[SummaryToken]) -> None:
    """Remove marks at the end, in place: commas and similar, and the dots of a word like "on..".

    Removed tokens get an empty surface.
    """
    for index in reversed(range(len(tokens))):
        token = tokens[index]
        if token.surface and token.norm not in _NOT_LAST:
            if token.surface.endswith(".."):
                word = token.surface.rstrip(".")
                trimmed = f"{word}." if "." in word else word  # "U.S.." becomes "U.S."
                tokens[index] = replace(token, surface=trimmed or token.surface)
            return
        tokens[index] = replace(token, surface="")


def _has_space(
    left: SummaryToken,
    right: SummaryToken,
    document: Document,
    language: Language,
    *,
    is_plain: bool,
) -> bool:
    """Return whether a space separates two printed tokens.

    Neighbours in the source keep its spacing. Otherwise the norms decide.
    """
    is_amount = left.norm == "$" and right.norm[0] == "#"
    if not is_plain and (right.norm in _NEVER_SPACED or is_amount):
        return False  # even if the source has a space: "to Ostham , they said", "$ 5 million"
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
    if left in _OPENING_NON_ENGLISH or right in _CLOSING_NON_ENGLISH:
        return True
    if left.endswith("'") and left[:-1] in language.elisions:
        return True
    if language.is_spaced:
        return False
    return _UNSPACED.fullmatch(left[-1]) is not None or _UNSPACED.fullmatch(right[0]) is not None
