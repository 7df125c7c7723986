"""Notes on finished shards: what a restart believes, and the manifest is made of."""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256

from readagain.batch.folder import UNFINISHED, Folder
from readagain.storage.checksums import add_checksum, verify_checksum

BAD_ROWS = "bad"
"""The subfolder of rows that could not be used."""
NOTES = f"{UNFINISHED}/notes"
"""The subfolder of notes, until the manifest gathers them."""


TRIES = f"{UNFINISHED}/tries"
"""The subfolder in which a cluster counts how often a shard was begun."""


@dataclass(frozen=True, kw_only=True)
class ShardMetadata:
    """What is known of a finished shard; the same whenever and wherever it is done."""

    source: int
    number: int
    part: str
    """The file with its rows."""
    rows: int
    bad_rows: int
    bytes: int
    sha256: str
    bad_sha256: str | None
    """Of the file with its bad rows, which is there if it has some."""
    input_bytes: int
    input_sha256: str

    @property
    def key(self) -> tuple[int, int]:
        """Where the shard stands: the number of its source, and its own."""
        return self.source, self.number

    @property
    def bad_part(self) -> str:
        """Name the file with its bad rows."""
        return f"{BAD_ROWS}/{self._stem}.jsonl"

    @property
    def files(self) -> tuple[str, ...]:
        """Name the files that it has."""
        return (self.part, self.bad_part) if self.bad_rows else (self.part,)

    @property
    def file(self) -> str:
        """Name the file of the note itself."""
        return f"{NOTES}/{self._stem}.json"

    @property
    def _stem(self) -> str:
        return self.part.partition(".")[0]

    def save(self, folder: Folder) -> None:
        """Write the note, after which the shard counts as finished."""
        folder.write(self.file, (json.dumps(add_checksum(asdict(self))) + "\n").encode())

    def is_kept(self, folder: Folder) -> bool:
        """Say whether the files of the shard are there, byte for byte as they were written."""
        if _checksum(folder.read(self.part)) != self.sha256:
            return False
        return not self.bad_rows or _checksum(folder.read(self.bad_part)) == self.bad_sha256


def read_notes(folder: Folder) -> list[ShardMetadata]:
    """Read the notes of an unfinished job; one that is damaged is as good as none."""
    notes = []
    for name in folder.names(NOTES):
        facts = verify_checksum(folder.read(f"{NOTES}/{name}") or b"")
        try:
            notes.append(ShardMetadata(**(facts or {})))
        except TypeError:
            continue
    return notes


def checksum(content: bytes) -> str:
    """Return the checksum by which files are known."""
    return sha256(content).hexdigest()


def _checksum(content: bytes | None) -> str | None:
    return None if content is None else checksum(content)
