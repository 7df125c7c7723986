"""Normalization of texts and tokens: HTML entities, typography, and the norms that models see.

A norm does not have all information of its token, such as case and digits. The spelling of a word
is read from its span in the text (`document.py`), never from its norm.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from html import unescape
from html.entities import html5
from sys import getsizeof
from typing import Generic, TypeVar

from readagain.text.language import ENGLISH, Language

T = TypeVar("T")

MAX_CACHE_BYTES = 32 << 20  # per `StringCache`
MAX_CACHED_CHARS = 64  # longer words are rare in real text
_ENTRY_BYTES = 100  # size of a dictionary entry without key and value

BRACKETS = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
}
LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")  # cannot be written as UTF-8

# Norms of tokens that are punctuation marks.
_MARK_NORMS = BRACKETS | {'"': "''"} | dict.fromkeys("―—–", "--") | dict.fromkeys("⋯…", "...")
_DIGIT = re.compile(r"\d")
# Replaces en dashes by hyphens and removes invisible characters such as soft hyphens.
_TO_VISIBLE = str.maketrans({"–": "-", **dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")})

# NFC takes quadratic time in the number of combining marks after one letter. Unicode's stream-safe
# text format (UAX 15, section 13) therefore allows at most 30 marks in a row and inserts a
# combining grapheme joiner after every 30.
_MAX_MARKS = 30
_GRAPHEME_JOINER = "\u034f"

# The ampersand may be encoded again any number of times: "&amp;amp;quot;".
_ENTITY = re.compile(r"&(?:amp;)*(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_TREEBANK_CHARS = {
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("‘’‚‛‹›′＇ʼ", "'"),
    **dict.fromkeys("‐‑−", "-"),  # hyphen, non-breaking hyphen, minus
    **dict.fromkeys("—⸺⸻", "―"),  # the tokenizer always makes ― and ⋯ separate tokens
    **dict.fromkeys("…", "⋯"),
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_TREEBANK_CHARS)}]")
# In languages other than English, double quotes stay, since their shape shows whether they open.
_PLAIN_CHARS = {
    char: plain for char, plain in _TREEBANK_CHARS.items() if plain != '"' and char not in "‘‚‹›"
} | {"‚": "`", "‹": "`", "›": "'"}
_TYPOGRAPHIC_EXCEPT_DOUBLE_QUOTES = re.compile(f"[{''.join(_PLAIN_CHARS)}]")
# A left single quote before a word and not after one opens; others (group 1) are apostrophes.
_LEFT_SINGLE_QUOTE = re.compile(r"‘(?=\w)(?<![\w.,!?]‘)|(‘)")

# An opening single quote: at the start of a word, and not an apostrophe as in 'em or '90s.
_OPENING_QUOTE = re.compile(
    r"""'(?<![^\s(\[{<"―–/-]')
        (?=\w)
        (?!(?:s|m|d|t|n|ll|re|ve|em|til|tis|twas|cause|ye|bout|round|neath)\b)
        (?!\d\ds?\b)""",
    re.VERBOSE | re.IGNORECASE,
)


class StringCache(dict[str, T], Generic[T]):
    """Dictionary from the arguments of a function to its values, which computes missing values.

    Words repeat in a text, and a lookup is several times faster than the function. The cache is
    cleared when it reaches `max_bytes`. Long strings are not cached.
    """

    def __init__(self, compute: Callable[[str], T], max_bytes: int = MAX_CACHE_BYTES) -> None:
        super().__init__()
        self._compute = compute
        self._max_bytes = max_bytes
        self._num_bytes = 0

    def __missing__(self, key: str) -> T:
        value = self._compute(key)
        if len(key) > MAX_CACHED_CHARS:
            return value
        self._num_bytes += getsizeof(key) + getsizeof(value) + _ENTRY_BYTES
        if self._num_bytes > self._max_bytes:
            self.clear()
            self._num_bytes = 0
        self[key] = value
        return value


def normalize(token: str) -> str:
    """Return the norm of a token: in lower case, with # for digits.

    Brackets and double quotes become Penn Treebank tokens (-lrb-, ''), as in Rush, Chopra and
    Weston 2015. Accents are composed (Unicode NFC), so that both encodings of é give one norm.
    Invisible characters such as soft hyphens are removed, unless the token has no other characters.

    >>> [normalize(token) for token in ("Café", "$", "3.5m", "(", "Mid-2010s")]
    ['café', '$', '#.#m', '-lrb-', 'mid-####s']
    """
    if token in _MARK_NORMS:
        return _MARK_NORMS[token]
    norm = _DIGIT.sub("#", token.lower())
    if norm.isascii():
        return norm
    visible = unicodedata.normalize("NFC", _stream_safe(norm)).translate(_TO_VISIBLE) or norm
    return LONE_SURROGATE.sub("\ufffd", visible)


_NORMS = StringCache(normalize)


def normalize_tokens(tokens: Iterable[str]) -> list[str]:
    """Return the norm of each token, faster than `normalize` by a cache."""
    return [_NORMS[token] for token in tokens]


def restore_digits(tokens: Iterable[str], norms: Iterable[str]) -> list[str]:
    """Return norms with the digits of their tokens instead of #."""
    return [
        token.lower() if "#" in norm else norm for token, norm in zip(tokens, norms, strict=True)
    ]


def decode_entities(text: str) -> str:
    """Replace HTML entities by their characters, even if they are encoded several times.

    Unknown entities, and entities that stand for several characters, are not replaced.

    >>> print(decode_entities("AT&amp;T&#39;s R&D; &amp;quot;5 &lt; 6&amp;quot;"))
    AT&T's R&D; "5 < 6"
    """
    if "&" not in text:  # almost always
        return text
    return _ENTITY.sub(_decode_entity, text)


def original_offsets(text: str, length: int) -> list[int]:
    """Return the offsets in `text` of the first `length + 1` characters after decoding entities.

    >>> original_offsets("T&amp;T in", 3)
    [0, 1, 6, 7]
    """
    offsets: list[int] = []
    end = 0
    for match in _ENTITY.finditer(text):
        if len(offsets) > length:
            break
        if _decode_entity(match) != match[0]:
            offsets += range(end, match.start() + 1)
            end = match.end()
    offsets += range(end, min(end + length, len(text)) + 1)
    return offsets[: length + 1]


def normalize_typography(text: str, language: Language = ENGLISH) -> str:
    """Replace typographic quotes, hyphens and dashes by the characters of the Penn Treebank.

    Each character is replaced by one character, so offsets stay valid. An opening single quote
    becomes a back quote. In languages other than English, double quotes stay.

    >>> print(normalize_typography("“The ’90s were ‘mine’,” she said"))
    "The '90s were `mine'," she said
    """
    if not text.isascii():
        if language.has_english_rules:
            text = _TYPOGRAPHIC.sub(lambda match: _TREEBANK_CHARS[match[0]], text)
        else:
            text = _TYPOGRAPHIC_EXCEPT_DOUBLE_QUOTES.sub(lambda match: _PLAIN_CHARS[match[0]], text)
            text = _LEFT_SINGLE_QUOTE.sub(lambda match: "'" if match[1] else "`", text)
    if "'" in text:
        text = _OPENING_QUOTE.sub("`", text)
    return text


def _decode_entity(match: re.Match[str]) -> str:
    """Return the character of an entity; return the entity if it is not one character."""
    name = f"{match[1]};"
    char = unescape(f"&{name}") if name.startswith("#") else html5.get(name, "")
    return char if len(char) == 1 else match[0]


def _stream_safe(token: str) -> str:
    """Insert a grapheme joiner after every 30 combining marks in a row."""
    if len(token) <= _MAX_MARKS:
        return token
    chars: list[str] = []
    num_marks = 0
    for char in token:
        num_marks = num_marks + 1 if unicodedata.combining(char) else 0
        if num_marks > _MAX_MARKS:
            chars.append(_GRAPHEME_JOINER)
            num_marks = 1
        chars.append(char)
    return "".join(chars)
