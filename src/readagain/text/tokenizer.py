"""Penn Treebank tokenizer with character offsets.

The rules of the Treebank's script (Robert MacIntyre's `tokenizer.sed`), a dozen substitutions, are
one pattern here, so each token keeps its span. `docs/text.md` lists the differences.

Only single characters have possessive quantifiers: Python before 3.11.5 has a bug with groups.
"""

import re

# Characters that are always tokens; ― and ⋯ come from `normalize_typography`.
_ALONE = r";@#$%&?!()\[\]{}<>\"`―⋯。！？、，；：｡「」『』؟۔।॥"

# What may follow the full stop that ends the text.
_NOTHING_MORE = r"""[\])}>"']*+\s*+\Z"""

# What must follow a clitic ('s, n't): a position where the text is split anyway.
_CUT = rf"(?:[\s{_ALONE}]|\Z|''|--|\.\.\.|[,:](?!\d)|\.(?={_NOTHING_MORE}))"
_END = rf"(?={_CUT}|'{_CUT})"
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
        | \.(?!\.\.)(?:(?<=\.\.)|(?<=\.[A-Za-z]\.)|(?!{_NOTHING_MORE}))
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


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return the span of every token of a sentence.

    The spans cover every character that is not white space. Only the full stop at the end of the
    text is split off, so pass one sentence at a time.

    >>> token_spans("It's $3.5m.")
    [(0, 2), (2, 4), (5, 6), (6, 10), (10, 11)]
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def tokenize(text: str) -> list[str]:
    """Return the tokens of a sentence, double quotes as `` and ''.

    >>> tokenize('He said "I cannot," no?')
    ['He', 'said', '``', 'I', 'can', 'not', ',', "''", 'no', '?']
    """
    if '"' not in text and "''" not in text:
        return _TOKEN.findall(text)
    return [token_at(text, start, end) for start, end in token_spans(text)]


def token_at(text: str, start: int, end: int) -> str:
    """Return the token at a span of `token_spans`, a double quote as `` or ''."""
    token = text[start:end]
    if token not in ('"', "''"):
        return token
    before = text[start - 1 : start]
    return "``" if not before or before.isspace() or before in _OPENS_AFTER else "''"
