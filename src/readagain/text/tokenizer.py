"""Tokenizer with character offsets: Penn Treebank for English, simpler rules for other languages.

The Treebank's script (Robert MacIntyre's `tokenizer.sed`) is a dozen substitutions. Here its rules
are one pattern, so that each token has a span. `docs/text.md` lists the differences, and
`docs/languages.md` the rules of other languages.

Only single characters have possessive quantifiers: Python before 3.11.5 has a bug with groups.
"""

import re
from functools import cache

from readagain.text.language import (
    ENGLISH,
    LANGUAGES,
    UNSPACED_CHAR_PATTERN,
    UNSPACED_RANGES,
    Language,
)

# Characters that are always tokens; ― and ⋯ come from `normalize_typography`.
_ALONE = r";@#$%&?!()\[\]{}<>\"`―⋯。！？、，；：｡「」『』؟۔।॥"

# Rest of the text after its last full stop: closing brackets, quotes and white space.
_TEXT_END = r"""[\])}>"']*+\s*+\Z"""

# A clitic ('s, n't) is split off only if one of these follows it.
_BOUNDARY = rf"(?:[\s{_ALONE}]|\Z|''|--|\.\.\.|[,:](?!\d)|\.(?={_TEXT_END}))"
_END = rf"(?={_BOUNDARY}|'{_BOUNDARY})"
_CLITIC = r"(?:[sSmMdD]|ll|LL|re|RE|ve|VE)"

# First halves of words that the Treebank splits in two, such as "cannot".
_FIRST_HALF = r"""
    [cC][aA][nN](?=[nN][oO][tT]\b)
    | [gG](?:[oO][nN](?=[nN][aA]\b) | [oO][tT](?=[tT][aA]\b) | [iI][mM](?=[mM][eE]\b))
    | [lL][eE][mM](?=[mM][eE]\b)
    | [wW][aA][nN](?=[nN][aA]\s)
    | [dD](?='[yY][eE]\b)
    | [mM][oO][rR][eE](?='[nN]\b)
    | '[tT](?=[iI][sS]\b | [wW][aA][sS]\b)
"""

_TOKEN = re.compile(
    rf"""
    {_FIRST_HALF}
    # Most words: letters, digits and single hyphens up to a space. For speed only.
    | [^\W_]++(?:-[^\W_]++)*(?=[\s;?!)]|,\s|\Z)
    # Any word: the longest sequence without a split.
    | (?: [^\s{_ALONE}.,:'\-nN]++
        | n(?!'t{_END}) | N(?!'T{_END})
        | [,:](?=\d)
        | -(?!-)
        | (?<=[\w\\])`(?!`)
        | \.(?!\.\.)(?:(?<=\.\.)|(?<=\.[A-Za-z]\.)|(?!{_TEXT_END}))
        | '(?!'|{_CLITIC}?{_END})
      )+
    | n't | N'T | '' | '{_CLITIC}{_END}
    | -- | \.\.\. | ``
    | \S
    """,
    re.VERBOSE,
)

# A double quote opens at the start, after white space and after these.
_OPENS_AFTER = frozenset("([{<`―–")

# Other languages: characters that are always tokens; quotation marks, and the characters before an
# opening and after a closing one.
_ALONE_IN_ANY_LANGUAGE = _ALONE + r"¿¡«»„“”‟‘‚‹›€£¥،؛٪…—〈〉《》【】（）［］〔〕·・～｛｝＂＇՞‐‑−"
_AFTER_LAST_STOP = r"""[\])}>"'»“”«‹›\s]*+\Z"""
_OPENING_MARKS = frozenset("«„‟“")
_CLOSING_MARKS = frozenset("»”")
QUOTES = _OPENING_MARKS | _CLOSING_MARKS | {'"', "''"}
"""Double quotation marks, whose norms are `` and ''."""
_BEFORE_OPENING = frozenset("([{<`―–—-/'’¿¡=„«“")
_AFTER_CLOSING = frozenset(".,;:?!)]}>―–—-⋯…/'»”“")


@cache
def _token_pattern(code: str) -> re.Pattern[str]:
    """Return the pattern of the tokens of a language."""
    language = LANGUAGES[code]
    if language.has_english_rules:
        return _TOKEN
    parts = [] if language.is_spaced else [UNSPACED_CHAR_PATTERN]
    if language.elisions:
        elisions = "|".join(sorted(language.elisions, key=len, reverse=True))
        parts.append(rf"(?i:{elisions})'(?=[\w\"«“„])")
    if language.apocopes:
        parts.append(rf"(?i:{'|'.join(language.apocopes)})'(?!\w)")
    if code == "nl":
        parts.append(r"'(?i:s|t|n|k|m|r)\b(?!-\w)|'[sS]-\w+")
    unspaced = "" if language.is_spaced else UNSPACED_RANGES
    parts.append(
        rf"""(?: [^\s{_ALONE_IN_ANY_LANGUAGE}{unspaced}.,:'\-]++
            | [,:](?=\d)
            | -(?!-)
            | \.(?!\.\.)(?:(?<=\.\.)|(?<=\.[^\W\d_]\.)|(?!{_AFTER_LAST_STOP}))
            | '(?=\w)(?<=\w')
            | "(?<=[א-ת]")(?=[א-ת])  # Hebrew abbreviations
          )+
        | '\d\d(?!\d) | '' | -- | \.\.\. | ``
        | \S
        """
    )
    return re.compile("|".join(parts), re.VERBOSE)


def token_spans(text: str, language: Language = ENGLISH) -> list[tuple[int, int]]:
    """Return the span of every token of a sentence.

    The spans cover every character that is not white space. Only the full stop at the end of the
    text is split off, so pass one sentence at a time.

    >>> token_spans("It's $3.5m.")
    [(0, 2), (2, 4), (5, 6), (6, 10), (10, 11)]
    """
    return [match.span() for match in _token_pattern(language.code).finditer(text)]


def tokenize(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the tokens of a sentence, double quotes as `` and ''.

    >>> tokenize('He said "I cannot," no?')
    ['He', 'said', '``', 'I', 'can', 'not', ',', "''", 'no', '?']
    """
    has_quotes = (
        '"' in text or "''" in text
        if language.has_english_rules
        else not QUOTES.isdisjoint(text) or "''" in text
    )
    if not has_quotes:
        return _token_pattern(language.code).findall(text)
    return [token_at(text, start, end, language) for start, end in token_spans(text, language)]


def token_at(text: str, start: int, end: int, language: Language = ENGLISH) -> str:
    """Return the token at a span of `token_spans`, a double quote as `` or ''."""
    token = text[start:end]
    if not language.has_english_rules:
        return _directed_quote(text, start, end) if token in QUOTES else token
    if token not in ('"', "''"):
        return token
    before = text[start - 1 : start]
    return "``" if not before or before.isspace() or before in _OPENS_AFTER else "''"


def _directed_quote(text: str, start: int, end: int) -> str:
    """Return `` or '' for a quotation mark, by its neighbours or else by its shape.

    German opens with „ or », which close elsewhere; French has spaces on both sides.
    """
    mark, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    may_open = not before or before.isspace() or before in _BEFORE_OPENING
    may_close = not after or after.isspace() or after in _AFTER_CLOSING
    if may_open != may_close:
        return "``" if may_open else "''"
    if mark in _OPENING_MARKS or mark in _CLOSING_MARKS:
        return "``" if mark in _OPENING_MARKS else "''"
    return "''" if may_open and text.count(mark, 0, start) % 2 else "``"
