"""The floor of every table: systems that need no network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from readagain.classic.prefix import lead_sentence
from readagain.evaluation.dataset import on_one_line
from readagain.evaluation.words import Written, summary_words
from readagain.text.document import read_document

PREFIX_BYTES = 75  # Rush, Chopra and Weston 2015, section 7.2


@dataclass(frozen=True)
class Prefix:
    """The first 75 bytes of a text.

    Args:
        cuts_words: take exactly so many, as a protocol with a byte limit does; otherwise the
            whole words among them.
    """

    cuts_words: bool
    name: str = "prefix"

    def describe(self) -> dict[str, Any]:
        """Say how much is taken."""
        unit = "bytes" if self.cuts_words else "bytes, whole words of them"
        return {"takes": f"the first {PREFIX_BYTES} {unit}"}

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Take the beginning of each text."""
        for text in texts:
            yield _all_copied(self._beginning(on_one_line(text)), is_tokenized)

    def _beginning(self, text: str) -> str:
        start = text.encode()[:PREFIX_BYTES].decode(errors="ignore")
        if self.cuts_words or text[len(start) : len(start) + 1] in ("", " "):
            return start.rstrip()
        return start.rpartition(" ")[0]


@dataclass(frozen=True)
class Lead:
    """The first sentence of a text, whole."""

    name: str = "lead"

    def describe(self) -> dict[str, Any]:
        """Say how much is taken."""
        return {"takes": "the first sentence"}

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Take the first sentence of each text; in Gigaword form a line is a sentence."""
        for text in texts:
            if is_tokenized:
                first = on_one_line(text.strip().partition("\n")[0])
            else:
                first = lead_sentence(read_document(text, max_sentences=1)).text
            yield _all_copied(first, is_tokenized)


def _all_copied(text: str, is_tokenized: bool) -> Written:
    words = summary_words(text, is_tokenized=is_tokenized)
    return Written(text, words, (True,) * len(words))
