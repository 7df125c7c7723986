"""Tokenization for ROUGE: ASCII words as in ROUGE-1.5.5, or Unicode words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from readagain.rouge.options import RougeOptions
from readagain.rouge.stemmer import stem
from readagain.text.language import UNSPACED_CHAR_PATTERN, UNSPACED_RANGES

_ASCII_WORD = re.compile(rb"[a-z0-9]+")
# One character of a script without spaces, or a run of other characters.
_UNICODE_WORD = re.compile(rf"{UNSPACED_CHAR_PATTERN}|[^\s{UNSPACED_RANGES}]+")
_WHITE_SPACE = re.compile(rb"\s+")
_MAX_LOST_LETTER_RATE = 0.005
"""Largest share of non-ASCII letters without a warning; English texts have fewer."""


class _WordChars(dict[int, int]):
    """Table for `str.translate` that replaces all but letters, marks and digits by spaces."""

    def __missing__(self, code: int) -> int:
        is_word_char = unicodedata.category(chr(code))[0] in "LMN"  # letter, mark or number
        self[code] = code if is_word_char else ord(" ")
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
    """Return a warning if ROUGE-1.5.5 ignores many letters of the references of all items."""
    letters = [char for texts in references for text in texts for char in text if char.isalpha()]
    num_lost = sum(not char.isascii() for char in letters)
    if num_lost <= _MAX_LOST_LETTER_RATE * len(letters):
        return None
    return (
        f"ROUGE-1.5.5 compares ASCII letters only and ignores {num_lost / len(letters):.0%} of the "
        "letters of these references; use the protocol 'unicode'"
    )


@dataclass(frozen=True, slots=True)
class TextIds:
    """Word ids of one text."""

    flat: list[int]
    """All words of the text, for ROUGE-N, whose n-grams may cross sentence ends."""
    sentences: list[list[int]]
    """Words of each sentence, for ROUGE-L."""


class RougeTokenizer:
    """Tokenizer that returns word ids; with stemming, words with equal stems have equal ids."""

    def __init__(self, options: RougeOptions) -> None:
        self._options = options
        self._id_of_word: dict[bytes | str, int] = {}
        self._id_of_stem: dict[str, int] = {}

    def read(self, text: str) -> TextIds:
        """Truncate a text, which has one sentence per line, and return its word ids."""
        # JSON can contain lone surrogates. They are not letters, so any encoding of them is fine.
        lines = text.encode("utf-8", "surrogatepass").split(b"\n")
        if self._options.max_words is not None:
            lines = truncate_words(lines, self._options.max_words)
        max_bytes = self._options.max_bytes
        sentence_lines = lines if max_bytes is None else truncate_each_line(lines, max_bytes)
        sentences = [self._read_sentence(line) for line in sentence_lines]
        if len(sentences) == 1:  # the usual case: both ways to truncate give the same words
            return TextIds(sentences[0], sentences)
        flat_lines = lines if max_bytes is None else truncate_bytes(lines, max_bytes)
        flat = chain.from_iterable(self._read_sentence(line) for line in flat_lines)
        return TextIds(list(flat), sentences)

    def _read_sentence(self, line: bytes) -> list[int]:
        words: list[bytes | str]
        if self._options.unicode:
            words = [*unicode_words(line.decode("utf-8", "ignore"))]
        else:
            # bytes.lower() changes only A-Z, as the Perl script of ROUGE-1.5.5 does.
            words = _ASCII_WORD.findall(line.lower())
        ids = self._id_of_word
        try:
            return [ids[word] for word in words]  # fast path: all words are known
        except KeyError:
            return [ids[word] if word in ids else self._add(word) for word in words]

    def _add(self, word: bytes | str) -> int:
        """Add a new word and return its id."""
        text = word.decode("ascii") if isinstance(word, bytes) else word
        key = stem(text) if self._options.stem else text
        self._id_of_word[word] = self._id_of_stem.setdefault(key, len(self._id_of_stem))
        return self._id_of_word[word]


def truncate_bytes(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Keep the first bytes of a text, without counting line ends; may cut inside a character."""
    truncated: list[bytes] = []
    for line in lines:
        if max_bytes <= 0:
            break
        truncated.append(line[:max_bytes])
        max_bytes -= len(line)
    return truncated


def truncate_each_line(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Truncate each line on its own, and drop all lines after the first that reaches the limit.

    The Perl script does this for ROUGE-L: it does not count the bytes of earlier lines.
    """
    truncated: list[bytes] = []
    for line in lines:
        truncated.append(line[:max_bytes])
        if len(line) >= max_bytes:
            break
    return truncated


def truncate_words(lines: list[bytes], max_words: int) -> list[bytes]:
    """Keep the first words of a text, where words are separated by white space.

    As in the Perl script, white space at the start of a line counts as a word.
    """
    truncated: list[bytes] = []
    for line in lines:
        if max_words <= 0:
            break
        stripped = line.rstrip()
        words = _WHITE_SPACE.split(stripped) if stripped else []
        truncated.append(b" ".join(words[:max_words]))
        max_words -= len(words)
    return truncated
