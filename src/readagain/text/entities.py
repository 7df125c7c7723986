"""Characters that a text spells as HTML does: what they are, and where they stand.

Feeds and scraped tables hold "AT&amp;T" and "it&#39;s", and some of them "it&amp;#39;s", encoded
twice. Whoever reads such a text means the characters.
"""

import re
from html import unescape
from html.entities import html5

# An ampersand may itself be spelled so, any number of times.
_ENTITY = re.compile(r"&(?:amp;)*(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def decode_entities(text: str) -> str:
    """Write the characters that entities stand for; what stands for none, or for two, stays.

    >>> print(decode_entities("AT&amp;T&#39;s R&D; &amp;quot;5 &lt; 6&amp;quot;"))
    AT&T's R&D; "5 < 6"
    """
    if "&" not in text:  # as in nearly all
        return text
    return _ENTITY.sub(_character, text)


def places_before_decoding(text: str, length: int) -> list[int]:
    """Return where the first characters of the decoded text begin in the text as it was.

    Args:
        text: as it was.
        length: how many characters are wanted; the place behind the last is returned, too.

    >>> places_before_decoding("T&amp;T in", 3)
    [0, 1, 6, 7]
    """
    places: list[int] = []
    end = 0
    for match in _ENTITY.finditer(text):
        if len(places) > length:
            break
        if _character(match) != match[0]:
            places += range(end, match.start() + 1)
            end = match.end()
    places += range(end, min(end + length, len(text)) + 1)
    return places[: length + 1]


def _character(match: re.Match[str]) -> str:
    name = f"{match[1]};"
    found = unescape(f"&{name}") if name.startswith("#") else html5.get(name, "")
    return found if len(found) == 1 else match[0]
