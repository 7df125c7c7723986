"""The floor of every table: systems that need no network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from readagain.classic.prefix import first_words, lead_sentence
from readagain.counts import counted
from readagain.evaluation.dataset import on_one_line
from readagain.evaluation.words import Written, summary_words
from readagain.text.document import read_document


@dataclass(frozen=True)
class Prefix:
    """The first bytes of a text.

    Args:
        max_bytes: how many.
        cuts_words: take exactly so many, as a protocol with a byte limit does; otherwise the
            whole words among them.
    """

    max_bytes: int
    cuts_words: bool
    name: str = "prefix"

    def describe(self) -> dict[str, Any]:
        """Say how much is taken."""
        which = "" if self.cuts_words else ", whole words of them"
        return {"takes": f"the first {counted(self.max_bytes, 'byte')}{which}"}

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Take the beginning of each text."""
        for text in texts:
            yield _all_copied(self._beginning(on_one_line(text)), is_tokenized)

    def _beginning(self, text: str) -> str:
        start = text.encode()[: self.max_bytes].decode(errors="ignore")
        if self.cuts_words or text[len(start) : len(start) + 1] in ("", " "):
            return start.rstrip()
        return start.rpartition(" ")[0]


@dataclass(frozen=True)
class Lead:
    """The first sentence of a text, whole, or the first words of the text.

    Args:
        max_words: take so many words instead; punctuation and 's are words.
    """

    max_words: int | None = None
    name: str = "lead"

    def describe(self) -> dict[str, Any]:
        """Say how much is taken."""
        if self.max_words is None:
            return {"takes": "the first sentence"}
        return {"takes": f"the first {counted(self.max_words, 'word')}"}

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Take the beginning of each text; in Gigaword form a line is a sentence."""
        for text in texts:
            first = self._first_tokens(text) if is_tokenized else self._first_words(text)
            yield _all_copied(first, is_tokenized)

    def _first_tokens(self, text: str) -> str:
        if self.max_words is None:
            return on_one_line(text.strip().partition("\n")[0])
        return " ".join(text.split()[: self.max_words])

    def _first_words(self, text: str) -> str:
        if self.max_words is None:
            return lead_sentence(read_document(text, max_sentences=1)).text
        return on_one_line(first_words(read_document(text), self.max_words).text)


def _all_copied(text: str, is_tokenized: bool) -> Written:
    words = summary_words(text, is_tokenized=is_tokenized)
    return Written(text, words, (True,) * len(words))
