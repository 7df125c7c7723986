"""Texts to word ids, as ROUGE-1.5.5 reads them: bytes, cut first, then letters and digits only."""

import re
from dataclasses import dataclass
from itertools import chain

from readagain.rouge.options import RougeOptions
from readagain.rouge.stemmer import stem

_WORD = re.compile(rb"[a-z0-9]+")
_SPACE = re.compile(rb"\s+")
_LEFT_OUT = -1


@dataclass(frozen=True, slots=True)
class Words:
    """One text as word ids."""

    flat: list[int]
    """All words in a row: n-grams and skip-bigrams run across sentence ends."""
    sentences: list[list[int]]
    """The words of each sentence, for longest common subsequences."""


class Reader:
    """Turn texts into word ids under one set of options; equal stems get equal ids.

    Each distinct word is stemmed once, however often it occurs.
    """

    def __init__(self, options: RougeOptions) -> None:
        self._options = options
        self._stop_words = {word.lower().encode() for word in options.stop_words}
        self._ids: dict[bytes, int] = {}
        self._ids_of_forms: dict[str, int] = {}

    def read(self, text: str) -> Words:
        """Read a text whose lines are its sentences."""
        # Unpaired surrogates can come out of JSON; they are no letters, so any bytes will do.
        lines = text.encode("utf-8", "surrogatepass").split(b"\n")
        if self._options.max_words is not None:
            lines = cut_words(lines, self._options.max_words)
        if self._options.max_bytes is not None:
            if len(lines) > 1:
                return self._read_cut_twice(lines, self._options.max_bytes)
            lines = cut_bytes(lines, self._options.max_bytes)
        sentences = [self._read_sentence(line) for line in lines]
        flat = sentences[0] if len(sentences) == 1 else list(chain.from_iterable(sentences))
        return Words(flat, sentences)

    def _read_cut_twice(self, lines: list[bytes], max_bytes: int) -> Words:
        flat = [id_ for line in cut_bytes(lines, max_bytes) for id_ in self._read_sentence(line)]
        sentences = [self._read_sentence(line) for line in cut_each_line(lines, max_bytes)]
        return Words(flat, sentences)

    def _read_sentence(self, line: bytes) -> list[int]:
        # bytes.lower() changes A-Z alone, which is what the script does too.
        words = _WORD.findall(line.lower())
        known = self._ids
        try:
            ids = [known[word] for word in words]
        except KeyError:
            ids = [known[word] if word in known else self._learn(word) for word in words]
        return [id_ for id_ in ids if id_ != _LEFT_OUT] if self._stop_words else ids

    def _learn(self, word: bytes) -> int:
        if word in self._stop_words:
            id_ = _LEFT_OUT
        else:
            form = stem(word.decode("ascii")) if self._options.stem else word.decode("ascii")
            id_ = self._ids_of_forms.setdefault(form, len(self._ids_of_forms))
        self._ids[word] = id_
        return id_


def cut_bytes(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Keep the first bytes of a text; line ends are not counted, characters may be halved."""
    kept: list[bytes] = []
    for line in lines:
        if max_bytes <= 0:
            break
        kept.append(line[:max_bytes])
        max_bytes -= len(line)
    return kept


def cut_each_line(lines: list[bytes], max_bytes: int) -> list[bytes]:
    """Keep the first bytes of every line, up to the first line that reaches the limit.

    So the script reads a text of several lines for ROUGE-L and ROUGE-W: it forgets what earlier
    lines have used up. With one line there is no difference.
    """
    kept: list[bytes] = []
    for line in lines:
        kept.append(line[:max_bytes])
        if len(line) >= max_bytes:
            break
    return kept


def cut_words(lines: list[bytes], max_words: int) -> list[bytes]:
    """Keep the first words of a text, a word being what stands between white space.

    White space at the start of a line counts as a word, as it does in the script.
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
