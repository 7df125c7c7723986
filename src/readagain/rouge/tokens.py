"""Tokenization for ROUGE: ASCII words as in ROUGE-1.5.5, or Unicode words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from readagain.rouge.options import RougeOptions
from readagain.rouge.stemmer import stem
from readagain.text.language import UNSPACED_CHAR_PATTERN, UNSPACED_RANGES

_WORD = re.compile(rb"[a-z0-9]+")
_UNICODE_WORD = re.compile(rf"{UNSPACED_CHAR_PATTERN}|[^\s{UNSPACED_RANGES}]+")
_SPACE = re.compile(rb"\s+")
MAX_LOST_LETTERS = 0.005
"""Maximum share of non-ASCII letters without a warning; English texts have fewer."""


class _WordChars(dict[int, int]):
    """Table for `str.translate` that keeps letters, marks and digits, and replaces the rest."""

    def __missing__(self, code: int) -> int:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else ord(" ")
        return self[code]


_WORD_CHARS = _WordChars()


def unicode_words(text: str) -> list[str]:
    """Return the case-folded words of a text in any language.

    In scripts without spaces, such as Chinese and Thai, each character is a word.

    >>> unicode_words("Bürger in KÖLN: l'été, 市长 3,5")
    ['bürger', 'in', 'köln', 'l', 'été', '市', '长', '3', '5']
    """
    folded = unicodedata.normalize("NFC", text.casefold())
    return _UNICODE_WORD.findall(folded.translate(_WORD_CHARS))


def lost_letters_warning(references: Iterable[Sequence[str]]) -> str | None:
    """Return a warning if ROUGE-1.5.5 ignores many letters of the references.

    Args:
        references: the references of each item.
    """
    letters = [char for texts in references for text in texts for char in text if char.isalpha()]
    lost = sum(not char.isascii() for char in letters)
    if lost <= MAX_LOST_LETTERS * len(letters):
        return None
    return (
        f"ROUGE-1.5.5 compares ASCII letters only and ignores {lost / len(letters):.0%} of the "
        "letters of these references; use the protocol 'unicode'"
    )


@dataclass(frozen=True, slots=True)
class TextIds:
    """Word ids of one text."""

    flat: list[int]
    """All words; n-grams cross sentence ends."""
    sentences: list[list[int]]
    """Words of each sentence, for longest common subsequences."""


class RougeTokenizer:
    """Tokenizer that returns word ids; words with equal stems have equal ids."""

    def __init__(self, options: RougeOptions) -> None:
        self._options = options
        self._ids: dict[bytes | str, int] = {}
        self._stem_ids: dict[str, int] = {}

    def read(self, text: str) -> TextIds:
        """Return the word ids of a text with one sentence per line."""
        # JSON can contain lone surrogates; they are not letters, so any encoding of them is fine.
        lines = text.encode("utf-8", "surrogatepass").split(b"\n")
        if self._options.max_words is not None:
            lines = truncate_words(lines, self._options.max_words)
        max_bytes = self._options.max_bytes
        sentence_lines = lines if max_bytes is None else truncate_each_line(lines, max_bytes)
        sentences = [self._read_sentence(line) for line in sentence_lines]
        if len(sentences) == 1:
            return TextIds(sentences[0], sentences)
        flat_lines = lines if max_bytes is None else truncate_bytes(lines, max_bytes)
        flat = chain.from_iterable(self._read_sentence(line) for line in flat_lines)
        return TextIds(list(flat), sentences)

    def _read_sentence(self, line: bytes) -> list[int]:
        words: list[bytes | str]
        if self._options.unicode:
            words = [*unicode_words(line.decode("utf-8", "ignore"))]
        else:
            # bytes.lower() changes only A-Z, as the script does.
            words = _WORD.findall(line.lower())
        ids = self._ids
        try:
            return [ids[word] for word in words]
        except KeyError:
            return [ids[word] if word in ids else self._add(word) for word in words]

    def _add(self, word: bytes | str) -> int:
        """Return the id of a word that has none yet."""
        text = word.decode("ascii") if isinstance(word, bytes) else word
        key = stem(text) if self._options.stem else text
        self._ids[word] = self._stem_ids.setdefault(key, len(self._stem_ids))
        return self._ids[word]


def truncate_bytes(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Keep the first bytes of a text, without counting line ends; may split a character."""
    truncated: list[bytes] = []
    for line in lines:
        if max_bytes <= 0:
            break
        truncated.append(line[:max_bytes])
        max_bytes -= len(line)
    return truncated


def truncate_each_line(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Truncate every line, up to the first line that reaches the limit.

    The script does this for ROUGE-L: it does not count the bytes of earlier lines.
    """
    truncated: list[bytes] = []
    for line in lines:
        truncated.append(line[:max_bytes])
        if len(line) >= max_bytes:
            break
    return truncated


def truncate_words(lines: list[bytes], max_words: int) -> list[bytes]:
    """Keep the first words of a text, split at white space.

    White space at the start of a line counts as a word, as in the script.
    """
    truncated: list[bytes] = []
    for line in lines:
        if max_words <= 0:
            break
        fields = _SPACE.split(line.rstrip())
        words = fields if any(fields) else []
        truncated.append(b" ".join(words[:max_words]))
        max_words -= len(words)
    return truncated
