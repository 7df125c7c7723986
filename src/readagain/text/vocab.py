"""Vocabularies, and extended ids for out-of-vocabulary source words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from readagain.errors import ArtifactError, ConfigError, quoted
from readagain.storage.files import atomic_write, read_entries
from readagain.text.normalization import LONE_SURROGATE

PAD, UNK, BOS, EOS = range(4)
SPECIAL_TOKENS = ("<pad>", "<unk>", "<s>", "</s>")
_STYLE_TOKEN = re.compile("<[a-z]+>")
"""Source token that selects a style of headline, such as `<loose>`; see `DecodeSpec.style`."""
MAX_VOCAB_BYTES = 64 << 20
"""Maximum size of a vocabulary file, enough for a few million words."""


class Vocab:
    """Words and their ids.

    Args:
        words: all words in id order, the special tokens first.

    Raises:
        ConfigError: for missing special tokens, duplicates and invalid words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._ids = {word: id for id, word in enumerate(self.words)}
        if problem := _first_problem(self.words, self._ids):
            raise ConfigError(f"vocabulary: {problem}")
        self.styles = {
            word[1:-1]: id
            for word, id in self._ids.items()
            if word not in SPECIAL_TOKENS and _STYLE_TOKEN.fullmatch(word)
        }
        """Ids of the style tokens by the name of the style."""

    @classmethod
    def from_counts(cls, counts: Mapping[str, int], size: int) -> "Vocab":
        """Build a vocabulary of at most `size` words, special tokens included.

        The most frequent words come first, equal counts in alphabetical order.
        """
        if size <= len(SPECIAL_TOKENS):
            raise ConfigError(
                f"vocabulary size is {size}, and {len(SPECIAL_TOKENS)} words are special tokens; "
                f"use {len(SPECIAL_TOKENS) + 1} or more"
            )
        by_frequency = sorted(
            (word for word in counts if word not in SPECIAL_TOKENS),
            key=lambda word: (-counts[word], word),
        )
        return cls((*SPECIAL_TOKENS, *by_frequency[: size - len(SPECIAL_TOKENS)]))

    @classmethod
    def load(cls, path: Path) -> "Vocab":
        """Read a file with one word per line, in id order.

        Raises:
            ArtifactError: with the file and the invalid line.
        """
        words = read_entries(path, max_bytes=MAX_VOCAB_BYTES)
        try:
            return cls(words)
        except ConfigError as error:
            raise ArtifactError(f"{path}: {error}; was it edited by hand?") from error

    def save(self, path: Path) -> None:
        """Write one word per line, atomically."""
        with atomic_write(path) as temporary:
            temporary.write_bytes("".join(f"{word}\n" for word in self.words).encode("utf-8"))

    def ids(self, words: Iterable[str]) -> list[int]:
        """Return the id of each word, UNK for out-of-vocabulary words."""
        find = self._ids.get
        return [find(word, UNK) for word in words]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocab) and self.words == other.words


def _first_problem(words: tuple[str, ...], ids: Mapping[str, int]) -> str | None:
    """Return a description of the first invalid word, or None if all are valid."""
    for id, token in enumerate(SPECIAL_TOKENS):
        if words[id : id + 1] != (token,):
            content = quoted(words[id]) if id < len(words) else "missing"
            return f"line {id + 1} is {content}; expected the special token {token!r}"
    for id, word in enumerate(words):
        if word.split() != [word]:
            return f"line {id + 1} is {quoted(word)}, which is not one word"
        if LONE_SURROGATE.search(word):
            return f"line {id + 1} is {quoted(word)}, which cannot be written as UTF-8"
        if ids[word] != id:
            return f"{quoted(word)} is on line {id + 1} and again on line {ids[word] + 1}"
    return None


def extended_source_ids(source: Sequence[str], vocab: Vocab) -> list[int]:
    """Return the extended id of each source word.

    With a vocabulary of V words, an out-of-vocabulary word gets V + the position of its first
    occurrence in `source`. `source` has all sentences, each padded with `<pad>`.

    >>> extended_source_ids(["a", "zyx", "zyx"], Vocab(["<pad>", "<unk>", "<s>", "</s>", "a"]))
    [4, 6, 6]
    """
    return extended_summary_ids(source, source, vocab)


def extended_summary_ids(summary: Sequence[str], source: Sequence[str], vocab: Vocab) -> list[int]:
    """Return the extended id of each summary word; UNK for a word in neither vocab nor source."""
    ids = vocab.ids(summary)
    if UNK not in ids:
        return ids
    first_position = {word: position for position, word in reversed(list(enumerate(source)))}
    V = len(vocab)
    return [  # "<unk>" is in the vocabulary and stays UNK
        V + first_position[word]
        if id == UNK and word not in vocab and word in first_position
        else id
        for id, word in zip(ids, summary, strict=True)
    ]
