"""Tokenization of ROUGE-1.5.5: truncate bytes, then keep ASCII letters and digits only."""

import re
from dataclasses import dataclass
from itertools import chain

from readagain.rouge.options import RougeOptions
from readagain.rouge.stemmer import stem

_WORD = re.compile(rb"[a-z0-9]+")
_SPACE = re.compile(rb"\s+")
_STOP_WORD = -1


@dataclass(frozen=True, slots=True)
class TextIds:
    """Word ids of one text."""

    flat: list[int]
    """All words; n-grams and skip-bigrams cross sentence ends."""
    sentences: list[list[int]]
    """Words of each sentence, for longest common subsequences."""


class RougeTokenizer:
    """Converts texts to word ids; equal stems have equal ids."""

    def __init__(self, options: RougeOptions) -> None:
        self._options = options
        self._stop_words = {word.lower().encode() for word in options.stop_words}
        self._ids: dict[bytes, int] = {}
        self._stem_ids: dict[str, int] = {}

    def read(self, text: str) -> TextIds:
        """Return the word ids of a text with one sentence per line."""
        # JSON can contain unpaired surrogates; they are not letters, so any bytes will do.
        lines = text.encode("utf-8", "surrogatepass").split(b"\n")
        if self._options.max_words is not None:
            lines = truncate_words(lines, self._options.max_words)
        if self._options.max_bytes is not None:
            if len(lines) > 1:
                return self._read_multi_line(lines, self._options.max_bytes)
            lines = truncate_bytes(lines, self._options.max_bytes)
        sentences = [self._read_sentence(line) for line in lines]
        flat = sentences[0] if len(sentences) == 1 else list(chain.from_iterable(sentences))
        return TextIds(flat, sentences)

    def _read_multi_line(self, lines: list[bytes], max_bytes: int) -> TextIds:
        flat = [
            id_ for line in truncate_bytes(lines, max_bytes) for id_ in self._read_sentence(line)
        ]
        sentences = [self._read_sentence(line) for line in truncate_each_line(lines, max_bytes)]
        return TextIds(flat, sentences)

    def _read_sentence(self, line: bytes) -> list[int]:
        # bytes.lower() changes only A-Z, as the script does.
        words = _WORD.findall(line.lower())
        known = self._ids
        try:
            ids = [known[word] for word in words]
        except KeyError:
            ids = [known[word] if word in known else self._add(word) for word in words]
        return [id_ for id_ in ids if id_ != _STOP_WORD] if self._stop_words else ids

    def _add(self, word: bytes) -> int:
        if word in self._stop_words:
            id_ = _STOP_WORD
        else:
            text = word.decode("ascii")
            key = stem(text) if self._options.stem else text
            id_ = self._stem_ids.setdefault(key, len(self._stem_ids))
        self._ids[word] = id_
        return id_


def truncate_bytes(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Keep the first bytes of a text, not counting line ends; characters may be split."""
    kept: list[bytes] = []
    for line in lines:
        if max_bytes <= 0:
            break
        kept.append(line[:max_bytes])
        max_bytes -= len(line)
    return kept


def truncate_each_line(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Truncate every line, up to the first line that reaches the limit.

    The script does this for ROUGE-L and ROUGE-W: it does not count the bytes of earlier lines.
    """
    kept: list[bytes] = []
    for line in lines:
        kept.append(line[:max_bytes])
        if len(line) >= max_bytes:
            break
    return kept


def truncate_words(lines: list[bytes], max_words: int) -> list[bytes]:
    """Keep the first words of a text, split at white space.

    White space at the start of a line counts as a word, as in the script.
    """
    kept: list[bytes] = []
    for line in lines:
        if max_words <= 0:
            break
        fields = _SPACE.split(line.rstrip())
        words = fields if any(fields) else []
        kept.append(b" ".join(words[:max_words]))
        max_words -= len(words)
    return kept
