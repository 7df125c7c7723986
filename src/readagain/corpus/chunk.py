"""One block of records as words: what a worker makes, and a preparation keeps between runs."""

import io
import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError
from readagain.formats.records import InvalidRecord
from readagain.storage.files import atomic_write

_CHECKSUM_BYTES = 32
CHUNK_FORMAT = 2
"""Chunks of an interrupted run in another one are made again."""
UNKNOWN_WORD = ""
"""Stands in a chunk for a word that the input itself does not know (UNK in Gigaword files)."""
NO_CASE = -1
"""Stands for how a word is written where that tells nothing, as at the start of a sentence."""
LOWER_CASE = 0
"""Stands for a word that is written as models see it."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """The pairs of a block that passed their filters, with numbers for words."""

    words: list[str]
    """The distinct words; a word's number is its place here."""
    ids: NDArray[np.int32]
    """All words of all pairs: sentences in order, then the headline."""
    writings: list[str]
    """The distinct ways of writing words with capitals; the number of one is its place, from 1."""
    written: NDArray[np.int32]
    """How each word of `ids` is written: a number of `writings`, or one of the two above."""
    segment_lengths: NDArray[np.int32]
    """Words in each sentence and each headline."""
    pair_segments: NDArray[np.int32]
    """Segments of each pair: its sentences and its headline."""
    records: NDArray[np.int32]
    """Which record of the block each pair was."""
    text_hashes: NDArray[np.uint64]
    pair_hashes: NDArray[np.uint64]
    num_records: int
    dropped: dict[str, int]
    bad: list[InvalidRecord]

    def summary_words(self) -> NDArray[np.bool_]:
        """Mark the words of headlines: those of the last segment of each pair."""
        is_summary = np.zeros(len(self.segment_lengths), dtype=bool)
        is_summary[np.cumsum(self.pair_segments) - 1] = True
        return np.repeat(is_summary, self.segment_lengths)

    def save(self, path: Path) -> None:
        """Write the chunk behind a checksum of it and its place; there whole or not at all."""
        facts = {
            "num_records": self.num_records,
            "dropped": self.dropped,
            "bad": [[bad.where, bad.reason] for bad in self.bad],
        }
        content = io.BytesIO()
        np.savez(
            content,
            words=_as_bytes("\n".join(self.words)),
            ids=self.ids,
            writings=_as_bytes("\n".join(self.writings)),
            written=self.written,
            segment_lengths=self.segment_lengths,
            pair_segments=self.pair_segments,
            records=self.records,
            text_hashes=self.text_hashes,
            pair_hashes=self.pair_hashes,
            facts=_as_bytes(json.dumps(facts)),
        )
        with atomic_write(path) as aside, aside.open("wb") as file:
            file.write(_checksum(path, content.getbuffer()))
            file.write(content.getbuffer())

    @classmethod
    def load(cls, path: Path) -> "Chunk":
        """Read a chunk back.

        Raises:
            ArtifactError: when it is not what was written there.
        """
        content = _checked(path)
        if content is None:
            raise ArtifactError(
                f"{path}: changed since it was written; remove it and run the same command again"
            )
        with np.load(content) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            return cls(
                words=arrays["words"].tobytes().decode().split("\n"),
                ids=arrays["ids"],
                writings=arrays["writings"].tobytes().decode().split("\n"),
                written=arrays["written"],
                segment_lengths=arrays["segment_lengths"],
                pair_segments=arrays["pair_segments"],
                records=arrays["records"],
                text_hashes=arrays["text_hashes"],
                pair_hashes=arrays["pair_hashes"],
                num_records=facts["num_records"],
                dropped=facts["dropped"],
                bad=[InvalidRecord(*entry) for entry in facts["bad"]],
            )


@dataclass(frozen=True, kw_only=True)
class SplitChunk:
    """A chunk on disk with the split of each of its pairs, and its origin."""

    path: Path
    places: NDArray[np.int8]
    origin: int


def _checked(path: Path) -> io.BytesIO | None:
    """Read what `Chunk.save` wrote at this place; None when it is anything else."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    checksum, arrays = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    return io.BytesIO(arrays) if checksum == _checksum(path, arrays) else None


def _checksum(path: Path, arrays: bytes | memoryview) -> bytes:
    """Return a checksum that holds for this place only: chunks of one size may change places."""
    place = f"{path.parent.name}/{path.name}"
    return sha256(place.encode() + b"\n" + arrays).digest()


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def records_in(path: Path) -> int | None:
    """Return how many records a finished chunk stands for; None when it must be made (again)."""
    content = _checked(path)
    if content is None:
        return None
    with np.load(content) as arrays:
        facts = json.loads(arrays["facts"].tobytes())
    num_records: int = facts["num_records"]
    return num_records
