"""The words a model knows, in the order of their ids."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from readagain.errors import ArtifactError, ConfigError, quoted
from readagain.storage.files import atomic_write, read_lines
from readagain.text.normalize import LONE_SURROGATE

PAD, UNK, BOS, EOS = range(4)
SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>")
MAX_VOCAB_BYTES = 64 << 20
"""Some millions of words; a larger file is no vocabulary, and is not read."""


class Vocab:
    """Words and their ids; the first four are reserved.

    Args:
        words: every word in id order, beginning with the reserved ones.

    Raises:
        ConfigError: naming the first word that cannot stand where it stands.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: id for id, word in enumerate(self.words)}
        problem = _first_problem(self.words, self._ids)
        if problem:
            raise ConfigError(f"vocabulary: {problem}")

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], size: int) -> "Vocab":
        """Keep the most frequent words: `size` counts the reserved ones too.

        Words of equal count come in alphabetical order, so the same counts always give the same
        ids. Fewer words than asked for are not an error: the vocabulary is then smaller.
        """
        if size <= len(SPECIAL_TOKENS):
            raise ConfigError(
                f"a vocabulary of {size} words is too small: {len(SPECIAL_TOKENS)} are reserved; "
                f"use {len(SPECIAL_TOKENS) + 1} or more"
            )
        by_frequency = sorted(
            (word for word in counts if word not in SPECIAL_TOKENS),
            key=lambda word: (-counts[word], word),
        )
        return cls((*SPECIAL_TOKENS, *by_frequency[: size - len(SPECIAL_TOKENS)]))

    @classmethod
    def load(cls, path: Path) -> "Vocab":
        """Read a file with one word a line; the line number, from 0, is the id.

        Raises:
            ArtifactError: naming the file and the line that cannot be right.
        """
        words = read_lines(path, max_bytes=MAX_VOCAB_BYTES)
        try:
            return cls(words)
        except ConfigError as error:
            raise ArtifactError(f"{path}: {error}; was it edited by hand?") from error

    def save(self, path: Path) -> None:
        """Write one word a line; the file is whole or absent."""
        with atomic_write(path) as aside:
            aside.write_bytes("".join(f"{word}\n" for word in self.words).encode("utf-8"))

    def ids(self, words: Iterable[str]) -> list[int]:
        """Return the id of each word, UNK for those the vocabulary lacks."""
        find = self._ids.get
        return [find(word, UNK) for word in words]

    def word(self, id: int) -> str:
        """Return the word with this id."""
        if not 0 <= id < len(self.words):
            raise ConfigError(f"word id {id} is outside a vocabulary of {len(self.words)} words")
        return self.words[id]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocab) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)


def _first_problem(words: tuple[str, ...], ids: Mapping[str, int]) -> str | None:
    """Say what is wrong with the first word that is wrong, or nothing."""
    for id, reserved in enumerate(SPECIAL_TOKENS):
        if words[id : id + 1] != (reserved,):
            found = quoted(words[id]) if id < len(words) else "the end"
            return f"line {id + 1} should be the reserved word {reserved!r}, found {found}"
    for id, word in enumerate(words):
        if word.split() != [word]:
            return f"line {id + 1} is {quoted(word)}, which is not one word"
        if LONE_SURROGATE.search(word):
            return f"line {id + 1} is {quoted(word)}, which cannot be written as UTF-8"
        if ids[word] != id:
            return f"{quoted(word)} stands on line {id + 1} and again on line {ids[word] + 1}"
    return None
