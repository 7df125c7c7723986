"""The words that a summary is asked to begin with, as people write them and as models know them."""

from dataclasses import dataclass

from readagain.config.schema import DecodeSpec
from readagain.errors import ArgumentError
from readagain.text.document import Token, read_tokenized
from readagain.text.normalization import normalize, normalize_typography
from readagain.text.tokenizer import token_at, token_spans


@dataclass(frozen=True)
class TargetPrefix:
    """What every summary of a call begins with.

    Args:
        text: to the letter, with each stretch of white space as one space.
        words: its words, with their places in it.
    """

    text: str
    words: tuple[Token, ...]

    @classmethod
    def read(cls, text: str, *, tokenized: bool) -> "TargetPrefix":
        """Find the words of a beginning; in Gigaword form they are what stands between spaces.

        >>> [word.norm for word in TargetPrefix.read("Acme Corp. pays", tokenized=False).words]
        ['acme', 'corp.', 'pays']
        """
        text = " ".join(text.split())
        if tokenized:
            return cls(text, read_tokenized(text).words)
        # A word follows, so a point at the end is no full stop: "Acme Corp." are two words.
        plain = normalize_typography(text) + " x"
        spans = token_spans(plain)[:-1]
        return cls(text, tuple(Token(normalize(token_at(plain, *span)), *span) for span in spans))

    def __len__(self) -> int:
        """Count the words."""
        return len(self.words)

    @property
    def word_bytes(self) -> list[int]:
        """The bytes of each word as it was written."""
        return [_num_bytes(self.surface(word)) for word in self.words]

    def surface(self, word: Token) -> str:
        """Return a word as it was written."""
        return self.text[word.start : word.end]


FREE = TargetPrefix("", ())
"""Lets a summary begin as it likes."""


def read_beginning(text: str | None, decode: DecodeSpec, *, tokenized: bool) -> TargetPrefix:
    """Read what summaries are to begin with, and check that they may be so long.

    Raises:
        ArgumentError: if it is longer than a summary may be.
    """
    if text is None:
        return FREE
    beginning = TargetPrefix.read(text, tokenized=tokenized)
    if len(beginning) > decode.max_words:
        raise ArgumentError(
            "{begin} has {0} words; expected at most {max_words}, which is {1}",
            len(beginning),
            decode.max_words,
        )
    num_bytes = _num_bytes(beginning.text)
    if 0 < decode.max_bytes < num_bytes:
        raise ArgumentError(
            "{begin} has {0} bytes; expected at most {max_bytes}, which is {1}",
            num_bytes,
            decode.max_bytes,
        )
    return beginning


def _num_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
