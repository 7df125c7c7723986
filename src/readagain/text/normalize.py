"""The form in which models see a word: lower case, digits as #, brackets and quotes by name.

Normalizing forgets, on purpose. What a person wrote is found again by the word's place in the
text (`document.py`), never from its form.
"""

import re
import unicodedata

BRACKETS = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
}
_WHOLE_WORDS = BRACKETS | {'"': "''"} | dict.fromkeys("―—–", "--") | dict.fromkeys("⋯…", "...")

_DIGIT = re.compile(r"\d")
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")  # half of a pair: cannot be written to a file
_TO_PLAIN = str.maketrans({"–": "-", **dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")})


def normalize(token: str) -> str:
    """Return the form of a token that a vocabulary holds (Rush, Chopra and Weston 2015).

    Accents are composed, so that both ways of writing an é are one word; characters that show
    nothing (soft hyphens, zero-width spaces) are left out unless the token holds nothing else.

    >>> [normalize(token) for token in ("Café", "$", "3.5m", "(", "Mid-2010s")]
    ['café', '$', '#.#m', '-lrb-', 'mid-####s']
    """
    if token in _WHOLE_WORDS:
        return _WHOLE_WORDS[token]
    form = _DIGIT.sub("#", token.lower())
    if form.isascii():
        return form
    shown = unicodedata.normalize("NFC", form).translate(_TO_PLAIN) or form
    return LONE_SURROGATE.sub("\ufffd", shown)


class NormalForms(dict[str, str]):
    """Normal forms by token, each worked out once.

    A text repeats its words, so looking a form up is several times faster than making it again.
    The table is emptied when it has grown to `max_size`, which bounds its memory on any corpus.
    """

    def __init__(self, max_size: int = 200_000) -> None:
        super().__init__()
        self._max_size = max_size

    def __missing__(self, token: str) -> str:
        if len(self) >= self._max_size:
            self.clear()
        form = self[token] = normalize(token)
        return form
