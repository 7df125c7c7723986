"""Typographic characters written as the Treebank writes them, one character for one.

The tokenizer knows the quotes of a typewriter, as the Treebank does. Newspapers print “these”,
‘these’ and «these», and dashes—such as these—that touch their words. Each is replaced by a single
character that the tokenizer treats as the Treebank would have, so every offset into the plain text
is an offset into the text as it was written.
"""

import re

_PLAIN = {
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‘’‚‛‹›′＇ʼ", "'"),
    **dict.fromkeys("‐‑−", "-"),  # hyphen, hyphen that does not break, minus
    **dict.fromkeys("—⸺⸻", "―"),  # dashes and dots that stand apart even where they touch a word
    **dict.fromkeys("…", "⋯"),
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_PLAIN)}]")

# A single quote that opens: at the start of a word, and not the apostrophe of a shortened one.
_OPENING_QUOTE = re.compile(
    r"""'(?<![^\s(\[{<"―–/-]')
        (?=\w)
        (?!(?:s|m|d|t|n|ll|re|ve|em|til|tis|twas|cause|ye|bout|round|neath)\b)
        (?!\d\ds?\b)""",
    re.VERBOSE | re.IGNORECASE,
)


def plain_typography(text: str) -> str:
    """Write quotes, hyphens and dashes as the Treebank does; the length stays the same.

    A single quote that opens becomes a back quote, which is the Treebank's name for it.

    >>> print(plain_typography("“The ’90s were ‘mine’,” she said"))
    "The '90s were `mine'," she said
    """
    if not text.isascii():
        text = _TYPOGRAPHIC.sub(lambda match: _PLAIN[match[0]], text)
    if "'" in text:
        text = _OPENING_QUOTE.sub("`", text)
    return text
