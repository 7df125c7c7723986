"""Output directory of a batch job.

```
OUT_DIR/
  part-00000-000000.jsonl      rows with summaries; part-INPUT-SHARD, both numbered from 0
  news.jsonl, shards/          if shards are joined: one file per input, and a folder of shards
  bad/part-00000-000000.jsonl  file, row, reason and content of invalid rows
  manifest.json                settings, inputs, counts and checksums of a finished job
  unfinished/                  until the job ends: its identity, metadata of finished shards
```
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from readagain.batch.locations import UNFINISHED
from readagain.errors import ArgumentError, DataError
from readagain.formats.parquet import join_parquet
from readagain.storage.checksums import add_checksum, parse_object, verify_checksum
from readagain.storage.differences import join_first
from readagain.storage.manifest import check_format_version
from readagain.storage.output_dir import Directory, OutputDir

FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
BAD_ROWS = "bad"
"""Subdirectory of invalid rows."""
SHARDS = "shards"
"""Subdirectory of shards, if they are joined to one file per input."""
METADATA_DIR = f"{UNFINISHED}/notes"
"""Subdirectory with the metadata of finished shards, until the manifest is written."""
ATTEMPTS_DIR = f"{UNFINISHED}/tries"
"""Subdirectory with a file for each attempt to run a shard on a cluster."""
_PART = re.compile(r"part-\d{5}-\d{6}\.\w+")  # the name of a shard's file


@dataclass(frozen=True, kw_only=True)
class ShardMetadata:
    """Counts and checksums of a finished shard; every run of the job gives the same values."""

    source: int
    """Number of the input."""
    number: int
    """Number of the shard in the input."""
    part: str
    """The file of rows with summaries."""
    rows: int
    bad_rows: int
    bytes: int
    sha256: str
    bad_sha256: str | None
    """Checksum of the file of invalid rows; None if all rows are valid."""
    input_bytes: int
    input_sha256: str

    @property
    def key(self) -> tuple[int, int]:
        """Number of the input and number of the shard."""
        return self.source, self.number

    @property
    def bad_part(self) -> str:
        """The file of invalid rows."""
        return f"{BAD_ROWS}/{self._stem}.jsonl"

    @property
    def files(self) -> tuple[str, ...]:
        """All files of the shard."""
        return (self.part, self.bad_part) if self.bad_rows else (self.part,)

    @property
    def _stem(self) -> str:
        return PurePosixPath(self.part).stem

    def save(self, directory: Directory) -> None:
        """Write the metadata file, which marks the shard as finished."""
        content = json.dumps(add_checksum(asdict(self))) + "\n"
        directory.write(f"{METADATA_DIR}/{self._stem}.json", content.encode())

    def has_files(self, directory: Directory) -> bool:
        """Return whether the files of the shard exist unchanged."""
        checksums = {self.part: self.sha256, self.bad_part: self.bad_sha256}
        for name in self.files:
            content = directory.read(name)
            if content is None or checksum(content) != checksums[name]:
                return False
        return True


FinishedShards = Mapping[tuple[int, int], ShardMetadata]
"""Finished shards by their key."""


def checksum(content: bytes) -> str:
    """Return the SHA-256 checksum of bytes."""
    return sha256(content).hexdigest()


@dataclass(frozen=True, kw_only=True)
class JobManifest:
    """Content of `manifest.json`."""

    format_version: int = FORMAT_VERSION
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    rows: int
    bad_rows: int
    fingerprint: str
    """Checksum of the checksums of all shards; equal outputs have equal fingerprints."""
    shards: list[ShardMetadata]


class JobDir(OutputDir):
    """Output directory of a batch job; if `update`, the inputs of the job may have changed."""

    content = "batch job"
    action = "writing into"
    identity_file = f"{UNFINISHED}/plan.json"

    def __init__(self, directory: Directory, *, update: bool = False) -> None:
        super().__init__(directory)
        self._update = update

    def withdraw_manifest(self, inputs: list[dict[str, Any]]) -> None:
        """Replace the manifest by metadata files of its shards if changed inputs are accepted.

        The manifest would not match the shards while an update writes them.
        """
        manifest = self._read_manifest() if self._update else None
        if manifest is not None and manifest.inputs != inputs:
            for shard in manifest.shards:
                shard.save(self.directory)
            self.directory.remove(MANIFEST_FILE)

    def finished_shards(self) -> dict[tuple[int, int], ShardMetadata]:
        """Return the finished shards whose files are unchanged."""
        manifest = self._read_manifest()
        shards = [*(manifest.shards if manifest else ()), *self._read_metadata()]
        return {shard.key: shard for shard in shards if shard.has_files(self.directory)}

    def finish(
        self,
        shards: Iterable[ShardMetadata],
        settings: dict[str, Any],
        inputs: list[dict[str, Any]],
        joined_files: Mapping[int, str],
    ) -> JobManifest:
        """Join shards, write the manifest and remove the files of the unfinished job.

        `joined_files` has the joined file of each input, by its number; empty if shards are not
        joined.

        Raises:
            DataError: if a node wrote a shard to a folder that this process cannot read, or a
                shard has changed.
        """
        shards = sorted(shards, key=lambda shard: shard.key)
        missing = {shard.part for shard in shards} - self._shard_files()
        if missing:
            raise DataError(
                f"{self.directory.location}: {min(missing)} was written but is not in this "
                "folder; all nodes of the cluster must write into the same shared folder"
            )
        manifest = JobManifest(
            settings=settings,
            inputs=inputs,
            rows=sum(shard.rows for shard in shards),
            bad_rows=sum(shard.bad_rows for shard in shards),
            fingerprint=checksum("".join(shard.sha256 for shard in shards).encode()),
            shards=shards,
        )
        job_files = {name for shard in shards for name in shard.files}
        for source, source_shards in groupby(shards, key=lambda shard: shard.source):
            if source in joined_files:
                self._join(source_shards, joined_files[source])
                job_files.add(joined_files[source])
        # Remove the output of earlier versions of the inputs.
        bad_parts = {f"{BAD_ROWS}/{name}" for name in self.directory.names(BAD_ROWS)}
        for name in (self._shard_files() | bad_parts | self._joined_files()) - job_files:
            self.directory.remove(name)
        self.write_json(MANIFEST_FILE, add_checksum(asdict(manifest)))
        self.directory.remove(UNFINISHED)
        return manifest

    def is_own_name(self, name: str) -> bool:
        """Return whether batch jobs write a file or subdirectory of this name."""
        own_names = (MANIFEST_FILE, UNFINISHED, BAD_ROWS, SHARDS)
        return name in own_names or bool(_PART.fullmatch(name))

    def has_output(self) -> bool:
        """Return whether the directory contains a batch job.

        A manifest is not enough: prepared corpora have one as well.
        """
        manifest = parse_object(self.directory.read(MANIFEST_FILE) or b"") or {}
        return super().has_output() or "shards" in manifest

    def clear(self) -> None:
        """Delete the files of the job, and no others."""
        # Joined files first: only the manifest and the identity list them.
        names = (*self._joined_files(), MANIFEST_FILE, *self._shard_files(), BAD_ROWS, UNFINISHED)
        for name in names:
            self.directory.remove(name)
        if not self.directory.names(SHARDS):
            self.directory.remove(SHARDS)

    def read_identity(self) -> dict[str, Any] | None:
        """Return the settings and inputs of the job in the directory, if there is one."""
        identity = super().read_identity()
        if identity is None:  # the job is finished, or there is none
            manifest = self._read_manifest()
            return None if manifest is None else asdict(manifest)
        if identity.keys() != {"settings", "inputs"}:
            raise self.damaged_error(self.identity_file)
        return identity

    def check_identity(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Compare the settings and inputs with those of the first run.

        Raises:
            ArgumentError: when a setting or, without `update`, an input has changed.
        """
        super().check_identity(before["settings"], now["settings"])
        changed = _changed_files(before["inputs"], now["inputs"])
        if changed and not self._update:
            raise ArgumentError(
                "{0}: inputs have changed since the first run: {1}; start over with {overwrite}, "
                "or keep unchanged shards with {update}",
                self.directory.location,
                join_first(changed),
            )

    def remove_outdated(self, identity: Mapping[str, Any]) -> None:
        """Delete the joined files of inputs that the job no longer has.

        After an interrupted update, only the stored identity lists these files. So they are deleted
        before `OutputDir.open` overwrites it.
        """
        for name in self._joined_files() - {file.get("output") for file in identity["inputs"]}:
            self.directory.remove(name)

    def _shard_files(self) -> set[str]:
        """Return the files of rows with summaries in the directory."""
        names = set(filter(_PART.fullmatch, self.directory.names()))
        shard_names = filter(_PART.fullmatch, self.directory.names(SHARDS))
        return names | {f"{SHARDS}/{name}" for name in shard_names}

    def _join(self, shards: Iterable[ShardMetadata], name: str) -> None:
        """Write the rows of all shards of an input to one file, one shard in memory at a time."""
        contents = map(self._read_shard, shards)
        with self.directory.create(name) as file:
            if name.endswith(".parquet"):
                join_parquet(contents, file)
            else:
                file.writelines(contents)

    def _read_shard(self, shard: ShardMetadata) -> bytes:
        content = self.directory.read(shard.part)
        if content is None or checksum(content) != shard.sha256:
            raise DataError(
                f"{self.directory.location}/{shard.part}: changed while the job was running; run "
                "the same command again to resume"
            )
        return content

    def _joined_files(self) -> set[str]:
        """Return the files in the directory that the plan or the manifest lists as joined."""
        names: set[str] = set()
        for name in (self.identity_file, MANIFEST_FILE):
            content = verify_checksum(self.directory.read(name) or b"") or {}
            with suppress(KeyError, TypeError):  # no joined files, or not written by a batch job
                names.update(file["output"] for file in content["inputs"])
        return names & set(self.directory.names())

    def _read_metadata(self) -> list[ShardMetadata]:
        """Read the metadata of finished shards; skip damaged files."""
        shards = []
        for name in self.directory.names(METADATA_DIR):
            content = verify_checksum(self.directory.read(f"{METADATA_DIR}/{name}") or b"")
            try:
                shards.append(ShardMetadata(**(content or {})))
            except TypeError:
                continue
        return shards

    def _read_manifest(self) -> JobManifest | None:
        content = self.read_json(MANIFEST_FILE)
        if content is None:
            return None
        where = f"{self.directory.location}/{MANIFEST_FILE}"
        # Before the checksum: another version may compute it differently.
        check_format_version(content, FORMAT_VERSION, path=where)
        fields = verify_checksum(json.dumps(content).encode()) or {}
        try:
            shards = [ShardMetadata(**shard) for shard in fields["shards"]]
            return JobManifest(**{**fields, "shards": shards})
        except (KeyError, TypeError) as error:
            raise self.damaged_error(MANIFEST_FILE) from error


def _changed_files(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Describe the files that are new, missing or have another size.

    A file of which only the modification time differs is not listed. When it is read, its rows are
    compared with the finished shards.
    """
    old = {file["location"]: file for file in before}
    new = {file["location"]: file for file in now}
    changed = [f"{name} is missing" for name in old if name not in new]
    changed += [f"{name} is new" for name in new if name not in old]
    for name in new:
        if name in old and new[name]["bytes"] != old[name]["bytes"]:
            changed.append(
                f"{name} had {old[name]['bytes']:,} bytes and has {new[name]['bytes']:,}"
            )
    if not changed and list(old) != list(new):
        changed.append("the same files in another order")
    return changed
