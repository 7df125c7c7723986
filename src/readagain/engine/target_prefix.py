"""Target prefix: words with which a summary must start."""

from dataclasses import dataclass

from readagain.config.schema import DecodeSpec
from readagain.errors import ArgumentError
from readagain.text.document import Token, headline_words, read_tokenized
from readagain.text.language import ENGLISH, Language


@dataclass(frozen=True)
class TargetPrefix:
    """Words with which every summary of a call must start.

    Args:
        text: text of the prefix, in which each run of white space is one space.
        words: tokens of the text.
    """

    text: str
    words: tuple[Token, ...]

    @classmethod
    def read(cls, text: str, *, tokenized: bool, language: Language = ENGLISH) -> "TargetPrefix":
        """Tokenize a prefix; with `tokenized`, tokens are separated by spaces as in Gigaword.

        >>> [word.norm for word in TargetPrefix.read("Acme Corp. pays", tokenized=False).words]
        ['acme', 'corp.', 'pays']
        """
        text = " ".join(text.split())
        if tokenized:
            return cls(text, read_tokenized(text).words)
        # The tokenizer splits off the full stop at the end of a text. A dummy word at the end
        # prevents that for abbreviations such as "Acme Corp."; its token is removed.
        return cls(text, headline_words(f"{text} x", language)[:-1])

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.words)

    @property
    def word_bytes(self) -> list[int]:
        """Size of each token in bytes of UTF-8."""
        return [num_bytes(self.surface(word)) for word in self.words]

    def surface(self, word: Token) -> str:
        """Return the spelling of a token in the text of the prefix."""
        return self.text[word.start : word.end]


NO_PREFIX = TargetPrefix("", ())


def read_prefix(
    text: str | None, decode: DecodeSpec, *, tokenized: bool, language: Language = ENGLISH
) -> TargetPrefix:
    """Tokenize the target prefix, which is the option `begin`, and check its length.

    Raises:
        ArgumentError: if the prefix is longer than the maximum length of a summary.
    """
    prefix = TargetPrefix.read(text or "", tokenized=tokenized, language=language)
    for size, unit, maximum in (
        (len(prefix), "words", decode.max_words),
        (num_bytes(prefix.text), "bytes", decode.max_bytes),
    ):
        if 0 < maximum < size:
            raise ArgumentError(
                f"{{begin}} has {{0}} {unit}; expected at most {{max_{unit}}}, which is {{1}}",
                size,
                maximum,
            )
    return prefix


def num_bytes(text: str) -> int:
    """Return the number of bytes of a text in UTF-8; the text may contain lone surrogates."""
    return len(text.encode("utf-8", "surrogatepass"))
