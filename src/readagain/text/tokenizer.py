"""Tokenizer with character offsets: Penn Treebank for English, simpler rules for other languages.

The Treebank's script (Robert MacIntyre's `tokenizer.sed`) is a dozen substitutions. Here its rules
are one regular expression, which finds tokens with their spans. `docs/text.md` lists the
differences from the script, and `docs/languages.md` the rules of other languages.

Possessive quantifiers (`++`) follow only single characters and character classes, since Python
before 3.11.5 has a bug with possessive groups.
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

# Characters that are always separate tokens, for use inside a character class. ― and ⋯ come from
# `normalize_typography`.
_SEPARATE = r";@#$%&?!()\[\]{}<>\"`―⋯。！？、，；：｡「」『』؟۔।॥"

# What may follow the last full stop of a text: closing brackets, quotes and white space.
_TEXT_END = r"""[\])}>"']*+\s*+\Z"""

# A clitic ('s, n't) is split off only if one of these follows it.
_BOUNDARY = rf"(?:[\s{_SEPARATE}]|\Z|''|--|\.\.\.|[,:](?!\d)|\.(?={_TEXT_END}))"
_CLITIC_END = rf"(?={_BOUNDARY}|'{_BOUNDARY})"
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
    # Fast path for most words: letters, digits and single hyphens up to a space.
    | [^\W_]++(?:-[^\W_]++)*(?=[\s;?!)]|,\s|\Z)
    # Any other word: the longest sequence of these characters.
    | (?: [^\s{_SEPARATE}.,:'\-nN]++
        | n(?!'t{_CLITIC_END}) | N(?!'T{_CLITIC_END})
        | [,:](?=\d)  # as in 1,000 and 10:45
        | -(?!-)
        | (?<=[\w\\])`(?!`)  # inside a word
        # A full stop, except the last of the text; that of "U.S." belongs to the word.
        | \.(?!\.\.)(?:(?<=\.\.)|(?<=\.[A-Za-z]\.)|(?!{_TEXT_END}))
        | '(?!'|{_CLITIC}?{_CLITIC_END})  # an apostrophe, except before a clitic
      )+
    | n't | N'T | '' | '{_CLITIC}{_CLITIC_END}
    | -- | \.\.\. | ``
    | \S
    """,
    re.VERBOSE,
)

_ENGLISH_QUOTES = frozenset(['"', "''"])
# A double quote opens a quotation at the start of a text, after white space and after these.
_BEFORE_OPENING = frozenset("([{<`―–")

# Characters and quotes for languages other than English.
_SEPARATE_NON_ENGLISH = _SEPARATE + r"¿¡«»„“”‟‘‚‹›€£¥،؛٪…—〈〉《》【】（）［］〔〕·・～｛｝＂＇՞‐‑−"
_TEXT_END_NON_ENGLISH = r"""[\])}>"'»“”«‹›\s]*+\Z"""
_OPENING_QUOTES = frozenset("«„‟“")
_CLOSING_QUOTES = frozenset("»”")
_QUOTES_NON_ENGLISH = _OPENING_QUOTES | _CLOSING_QUOTES | _ENGLISH_QUOTES
_BEFORE_OPENING_NON_ENGLISH = frozenset("([{<`―–—-/'’¿¡=„«“")
_AFTER_CLOSING_NON_ENGLISH = frozenset(".,;:?!)]}>―–—-⋯…/'»”“")


@cache
def _token_pattern(code: str) -> re.Pattern[str]:
    """Return the pattern of the tokens of a language."""
    language = LANGUAGES[code]
    if language.has_english_rules:
        return _TOKEN
    alternatives = [] if language.is_spaced else [UNSPACED_CHAR_PATTERN]
    if language.elisions:
        elisions = "|".join(sorted(language.elisions, key=len, reverse=True))
        alternatives.append(rf"(?i:{elisions})'(?=[\w\"«“„])")
    if language.apocopes:
        alternatives.append(rf"(?i:{'|'.join(language.apocopes)})'(?!\w)")
    if code == "nl":  # 's avonds, 't, 's-Hertogenbosch
        alternatives.append(r"'(?i:s|t|n|k|m|r)\b(?!-\w)|'[sS]-\w+")
    unspaced = "" if language.is_spaced else UNSPACED_RANGES
    alternatives.append(
        rf"""(?: [^\s{_SEPARATE_NON_ENGLISH}{unspaced}.,:'\-]++
            | [,:](?=\d)
            | -(?!-)
            | \.(?!\.\.)(?:(?<=\.\.)|(?<=\.[^\W\d_]\.)|(?!{_TEXT_END_NON_ENGLISH}))
            | '(?=\w)(?<=\w')
            | "(?<=[א-ת]")(?=[א-ת])  # Hebrew abbreviations
          )+
        | '\d\d(?!\d) | '' | -- | \.\.\. | ``
        | \S
        """
    )
    return re.compile("|".join(alternatives), re.VERBOSE)


def token_spans(text: str, language: Language = ENGLISH) -> list[tuple[int, int]]:
    """Return the span of every token of a sentence.

    The spans cover every character that is not white space. Only the full stop at the end of the
    text is split off, so pass one sentence at a time.

    >>> token_spans("It's $3.5m.")
    [(0, 2), (2, 4), (5, 6), (6, 10), (10, 11)]
    """
    return [match.span() for match in _token_pattern(language.code).finditer(text)]


def tokenize(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the tokens of a sentence; double quotes become `` or ''.

    >>> tokenize('He said "I cannot," no?')
    ['He', 'said', '``', 'I', 'can', 'not', ',', "''", 'no', '?']
    """
    quotes = _ENGLISH_QUOTES if language.has_english_rules else _QUOTES_NON_ENGLISH
    if not any(quote in text for quote in quotes):
        return _token_pattern(language.code).findall(text)
    return [token_at(text, start, end, language) for start, end in token_spans(text, language)]


def token_at(text: str, start: int, end: int, language: Language = ENGLISH) -> str:
    """Return the token at a span of `token_spans`; a double quote becomes `` or ''."""
    token = text[start:end]
    if not language.has_english_rules:
        return _directed_quote(text, start, end) if token in _QUOTES_NON_ENGLISH else token
    if token not in _ENGLISH_QUOTES:
        return token
    before = text[start - 1 : start]
    return "``" if not before or before.isspace() or before in _BEFORE_OPENING else "''"


def _directed_quote(text: str, start: int, end: int) -> str:
    """Return `` for an opening and '' for a closing quotation mark.

    The characters before and after the mark decide first, since languages use the marks
    differently: » closes in French and may open in German. If they do not decide, as between two
    spaces, the shape of the mark does. A straight mark between spaces closes a quotation if an odd
    number of these marks precede it.
    """
    mark, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    may_open = not before or before.isspace() or before in _BEFORE_OPENING_NON_ENGLISH
    may_close = not after or after.isspace() or after in _AFTER_CLOSING_NON_ENGLISH
    if may_open != may_close:
        return "``" if may_open else "''"
    if mark in _OPENING_QUOTES:
        return "``"
    if mark in _CLOSING_QUOTES:
        return "''"
    return "''" if may_open and text.count(mark, 0, start) % 2 else "``"
