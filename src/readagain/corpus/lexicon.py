"""Lexicon of a prepared corpus: all its words with their counts.

Shards contain lexicon ids. Vocabularies of any size are built from the lexicon.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError, quoted
from readagain.storage.files import read_entries
from readagain.text.vocab import SPECIAL_TOKENS, UNK, Vocab

UNKNOWN_ID = -1
"""Id that shards contain for UNK, which replaces OOV words in Gigaword files."""
Side = Literal["source", "summary"]
"""A side of the pairs: "source" for texts, "summary" for headlines."""
MAX_BYTES = 1 << 30
"""Maximum size of a lexicon file; the lexicon of a million pairs has a few megabytes."""


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
        for number, line in enumerate(read_entries(path, max_bytes=MAX_BYTES), start=1):
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
        """Return the lexicon with all counts below `min_count` set to 0."""
        source_counts, summary_counts = (
            np.where(counts < min_count, 0, counts)
            for counts in (self.source_counts, self.summary_counts)
        )
        return Lexicon(self.words, source_counts, summary_counts)

    def known_words(self, side: Side) -> frozenset[str]:
        """Return the words with a count on `side`."""
        return frozenset(self.words[id] for id in np.flatnonzero(self._counts(side)))

    def decode(self, ids: NDArray[np.int32]) -> str:
        """Return the words of `ids`, separated by spaces."""
        return " ".join(SPECIAL_TOKENS[UNK] if id == UNKNOWN_ID else self.words[id] for id in ids)

    def vocab(self, side: Side, size: int) -> Vocab:
        """Return a vocabulary of the `size` most frequent words of a side, with special tokens.

        The vocabulary is smaller if the train split has fewer words on that side.
        """
        counts = self._counts(side)
        used = np.flatnonzero(counts)
        return Vocab.from_counts({self.words[id]: int(counts[id]) for id in used}, size)

    def _counts(self, side: Side) -> NDArray[np.int64]:
        return self.source_counts if side == "source" else self.summary_counts

    def vocab_ids(self, vocab: Vocab) -> NDArray[np.int32]:
        """Return for each word its id in `vocab`, or UNK if `vocab` does not contain it.

        Returns:
            (len(lexicon) + 1,) int32. The last element, at index `UNKNOWN_ID` = -1, is UNK.
        """
        return np.array([*vocab.ids(self.words), UNK], dtype=np.int32)


def alphabetical_ranks(words: Sequence[str]) -> NDArray[np.int64]:
    """Return the alphabetical rank of each word, from 0."""
    ranks = np.empty(len(words), dtype=np.int64)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return ranks
