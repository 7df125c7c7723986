"""Lexicon of a prepared corpus: all words with counts; vocabularies are built from it."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError, quoted
from readagain.storage.files import read_lines
from readagain.text.vocab import SPECIAL_TOKENS, UNK, Vocab

UNKNOWN_ID = -1
"""Id in shards of an unknown word of the input (UNK in Gigaword files)."""
Side = Literal["source", "summary"]
"""The texts, or the headlines."""
MAX_BYTES = 1 << 30
"""Maximum size of a lexicon file; that of a million pairs has some megabytes."""


@dataclass(frozen=True)
class Lexicon:
    """Words by lexicon id, most frequent first, with their counts in the train split."""

    words: list[str]
    source_counts: NDArray[np.int64]
    summary_counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def load(cls, path: Path) -> "Lexicon":
        """Read `word TAB source count TAB summary count`, one line for each id.

        Raises:
            ArtifactError: naming the invalid line, or if the file cannot be read.
        """
        words: list[str] = []
        counts = array("q")
        for number, line in enumerate(read_lines(path, max_bytes=MAX_BYTES), start=1):
            try:
                word, source, summary = line.split("\t")
                counts.extend((int(source), int(summary)))
            except (ValueError, OverflowError) as error:
                raise ArtifactError(
                    f"{path}:{number}: found {quoted(line)}; expected a word and two counts, "
                    "separated by tabs; was it edited by hand?"
                ) from error
            words.append(word)
        table = np.frombuffer(counts, dtype=np.int64).reshape(-1, 2)
        return cls(words, table[:, 0].copy(), table[:, 1].copy())

    def save(self, path: Path) -> None:
        """Write the file that `load` reads."""
        with path.open("w", encoding="utf-8", newline="\n") as file:
            rows = zip(self.words, self.source_counts, self.summary_counts, strict=True)
            file.writelines(f"{word}\t{source}\t{summary}\n" for word, source, summary in rows)

    def without_rare(self, min_count: int) -> "Lexicon":
        """Return the lexicon with counts below `min_count` set to 0, for each side."""
        source, summary = (
            np.where(counts < min_count, 0, counts)
            for counts in (self.source_counts, self.summary_counts)
        )
        return Lexicon(self.words, source, summary)

    def known_words(self, side: Side) -> frozenset[str]:
        """Return the words that occur on a side of the train split."""
        counts = self.source_counts if side == "source" else self.summary_counts
        return frozenset(self.words[id] for id in np.flatnonzero(counts))

    def decode(self, ids: NDArray[np.int32]) -> str:
        """Return the words of `ids`, separated by spaces."""
        return " ".join(SPECIAL_TOKENS[UNK] if id == UNKNOWN_ID else self.words[id] for id in ids)

    def vocab(self, side: Side, size: int) -> Vocab:
        """Return a vocabulary of the `size` most frequent words of a side, with special tokens.

        It is smaller if the train split has fewer words on that side.
        """
        counts = self.source_counts if side == "source" else self.summary_counts
        num_words = max(size - len(SPECIAL_TOKENS), 0)
        # Omit words that are too rare for the vocabulary, since sorting all words takes seconds.
        min_count = 1
        if 0 < num_words < len(counts):
            min_count = max(int(np.partition(counts, -num_words)[-num_words]), 1)
        frequent = np.flatnonzero(counts >= min_count)
        return Vocab.from_counts({self.words[id]: int(counts[id]) for id in frequent}, size)

    def vocab_ids(self, vocab: Vocab) -> NDArray[np.int32]:
        """Return the id in `vocab` of each word, UNK for words that it does not contain.

        Returns:
            (len(lexicon) + 1,) int32. The last entry is UNK, so that index `UNKNOWN_ID`, which is
            -1, returns UNK.
        """
        return np.array([*vocab.ids(self.words), UNK], dtype=np.int32)


def alphabetical_ranks(words: Sequence[str]) -> NDArray[np.int64]:
    """Return the index of each word in alphabetical order."""
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return ranks
