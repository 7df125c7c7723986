"""Penn Treebank words with their places in the text, in one compiled pass.

The rules are those of the Treebank's own script (Robert MacIntyre's `tokenizer.sed`), which runs
a dozen substitutions over the text. Here they are one pattern, so each word keeps its place.
`docs/text.md` lists where the results differ, and why.

Only single characters are repeated possessively: Python before 3.11.5 repeats groups wrongly.
"""

import re

# Characters that are words of their own wherever they stand; ― and ⋯ come from `typography.py`.
_ALONE = r";@#$%&?!()\[\]{}<>\"`―⋯。！？、，；：｡「」『』؟۔।॥"

# What may stand between a full stop and the end of the text if the stop ends it.
_NOTHING_MORE = r"""[\])}>"']*+\s*+\Z"""

# What must follow a clitic ('s, n't) for it to be one: a place where the text is cut anyway.
_CUT = rf"(?:[\s{_ALONE}]|\Z|''|--|\.\.\.|[,:](?!\d)|\.(?={_NOTHING_MORE}))"
_END = rf"(?={_CUT}|'{_CUT})"
_CLITIC = r"(?:[sSmMdD]|ll|LL|re|RE|ve|VE)"


# What the Treebank writes as two words: the first half, in any case, with the second to follow.
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
    # Most words: letters, digits and single hyphens up to a space. Here for speed alone.
    | [^\W_]++(?:-[^\W_]++)*(?=[\s;?!)]|,\s|\Z)
    # Any word: everything that need not be cut, as far as it goes.
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

# A double quote opens after white space, after these, and at the start.
_OPENS_AFTER = frozenset("([{<`―–")


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return the place of every Treebank word of a sentence, as (start, end).

    Together the places cover every character that is not white space. As in the Treebank's script,
    only the full stop at the end of the text is cut off, so give it one sentence at a time.

    >>> token_spans("It's $3.5m.")
    [(0, 2), (2, 4), (5, 6), (6, 10), (10, 11)]
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def tokenize(text: str) -> list[str]:
    """Return the Treebank words of a sentence, double quotes as `` and ''.

    >>> tokenize('He said "I cannot," no?')
    ['He', 'said', '``', 'I', 'can', 'not', ',', "''", 'no', '?']
    """
    if '"' not in text and "''" not in text:
        return _TOKEN.findall(text)
    return [token_at(text, start, end) for start, end in token_spans(text)]


def token_at(text: str, start: int, end: int) -> str:
    """Return the word at a place that `token_spans` gave, a double quote as `` or ''."""
    token = text[start:end]
    if token not in ('"', "''"):
        return token
    before = text[start - 1 : start]
    return "``" if not before or before.isspace() or before in _OPENS_AFTER else "''"
