"""What a job's folder remembers between runs.

```
OUT_DIR/
  part-00000-000000.jsonl   rows with their summaries: number of the source, number of the shard
  bad/part-00000-000000.jsonl   file, row and reason of rows that could not be used
  manifest.json             settings, inputs, counts and checksums; there once all is done
  unfinished/               the plan, and a note on each finished shard; gone once all is done
```
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from readagain.batch.files import is_remote
from readagain.batch.folder import UNFINISHED, Folder, open_folder
from readagain.batch.job import BatchJob
from readagain.batch.notes import BAD_ROWS, TRIES, ShardMetadata, checksum, read_notes
from readagain.errors import ArtifactError, ConfigError, DataError
from readagain.storage.checksums import add_checksum, verify_checksum
from readagain.storage.differences import differences, first_few
from readagain.storage.locks import LOCK_FILE, locked_dir

FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
_PLAN_FILE = f"{UNFINISHED}/plan.json"
_PART = re.compile(r"part-\d{5}-\d{6}\.\w+")


@dataclass(frozen=True, kw_only=True)
class JobManifest:
    """What `manifest.json` says of a finished job."""

    format_version: int = FORMAT_VERSION
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    rows: int
    bad_rows: int
    fingerprint: str
    """One checksum over the rows of all shards: equal outputs have equal fingerprints."""
    shards: list[ShardMetadata]


class JobDir:
    """The folder of one job, which nobody else writes into meanwhile."""

    def __init__(self, folder: Folder, job: BatchJob) -> None:
        self._folder = folder
        self._job = job

    def finished_shards(self) -> dict[tuple[int, int], ShardMetadata]:
        """Return the notes on shards whose files are whole."""
        manifest = _read_manifest(self._folder)
        notes = [*(manifest.shards if manifest else ()), *read_notes(self._folder)]
        return {note.key: note for note in notes if note.is_kept(self._folder)}

    def finish(self, notes: Iterable[ShardMetadata]) -> JobManifest:
        """Write the manifest, and remove what only an unfinished job needs.

        Raises:
            DataError: when shards were written where this process does not find them.
        """
        shards = sorted(notes, key=lambda note: note.key)
        lost = {note.part for note in shards} - _parts(self._folder)
        if lost:
            raise DataError(
                f"{self._folder.location}: {min(lost)} is finished and not there; does every node "
                "of the cluster write into the same folder?"
            )
        manifest = JobManifest(
            settings=self._job.settings(),
            inputs=self._job.files(),
            rows=sum(note.rows for note in shards),
            bad_rows=sum(note.bad_rows for note in shards),
            fingerprint=checksum("".join(note.sha256 for note in shards).encode()),
            shards=shards,
        )
        # What was made of an input that has changed since.
        bad_parts = {f"{BAD_ROWS}/{name}" for name in self._folder.names(BAD_ROWS)}
        kept = {name for note in shards for name in note.files}
        for name in (_parts(self._folder) | bad_parts) - kept:
            self._folder.remove(name)
        content = json.dumps(add_checksum(asdict(manifest)), indent=1) + "\n"
        self._folder.write(MANIFEST_FILE, content.encode())
        self._folder.remove(UNFINISHED)
        return manifest


@contextmanager
def claimed(job: BatchJob) -> Iterator[JobDir]:
    """Take the folder of a job, new or to be gone on with, and hold its lock meanwhile.

    Object stores have no locks; two jobs in one folder of theirs do the same work twice.

    Raises:
        ConfigError: when another process holds the folder, or it holds another job or something
            else; the difference is named.
    """
    folder = open_folder(job.work.out)
    if is_remote(job.work.out):
        _settle(folder, job)
        yield JobDir(folder, job)
        return
    with locked_dir(Path(job.work.out), action="writing into"):
        _settle(folder, job)
        yield JobDir(folder, job)


def _settle(folder: Folder, job: BatchJob) -> None:
    """Check that the folder is this job's, or free, and make it this job's."""
    foreign = [name for name in folder.names() if not _is_written_by_jobs(name)]
    if foreign and not _holds_job(folder):
        raise ConfigError(
            f"{folder.location}: the folder holds '{foreign[0]}' and no job of ours; "
            "choose another OUT_DIR"
        )
    if job.overwrite:
        _clear(folder)
    else:
        before = _plan(folder)
        if before is not None:
            _compare(before, job, folder.location)
    folder.remove(TRIES)
    plan = {"settings": job.settings(), "inputs": job.files()}
    folder.write(_PLAN_FILE, (json.dumps(add_checksum(plan), indent=1) + "\n").encode())


def _is_written_by_jobs(name: str) -> bool:
    ours = (MANIFEST_FILE, UNFINISHED, BAD_ROWS, LOCK_FILE)
    return name in ours or _PART.fullmatch(name) is not None


def _holds_job(folder: Folder) -> bool:
    """Say whether there is a job in a folder, though it may lie beside other things.

    A manifest alone does not say so: prepared corpora have one as well.
    """
    if folder.read(_PLAN_FILE) is not None:
        return True
    try:
        return "shards" in json.loads(folder.read(MANIFEST_FILE) or b"{}")
    except (ValueError, RecursionError, TypeError):
        return False


def _plan(folder: Folder) -> Mapping[str, Any] | None:
    """Return the settings and inputs of the job that is in the folder, if one is."""
    content = folder.read(_PLAN_FILE)
    if content is not None:
        where = f"{folder.location}/{_PLAN_FILE}"
        plan = _read_object(content, where)
        if plan.keys() != {"settings", "inputs"}:
            raise _damaged(where)
        return plan
    manifest = _read_manifest(folder)
    return None if manifest is None else asdict(manifest)


def _compare(before: Mapping[str, Any], job: BatchJob, where: str) -> None:
    """Name what has changed since the first run.

    Raises:
        ConfigError: for settings.
        DataError: for inputs, unless the job is an update.
    """
    settings = json.loads(json.dumps(job.settings()))
    found = [
        f"{name} was {old!r} and is now {new!r}"
        for name, old, new in differences(before["settings"], settings)
    ]
    if found:
        raise ConfigError(
            f"{where}: holds another job: {first_few(found)}; choose another OUT_DIR, or start "
            "over with --overwrite"
        )
    changed = _changed_files(before["inputs"], job.files())
    if changed and not job.update:
        raise DataError(
            f"{where}: inputs have changed since the first run: {first_few(changed)}; start over "
            "with --overwrite, or keep what has not changed with --update"
        )


def _changed_files(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    """Say which files are new, gone or of another size.

    A file whose time alone has changed is compared with the finished shards as it is read.
    """
    old = {file["location"]: file for file in before}
    new = {file["location"]: file for file in now}
    changed = [f"{name} is gone" for name in old if name not in new]
    changed += [f"{name} is new" for name in new if name not in old]
    for name in new:
        if name in old and new[name]["bytes"] != old[name]["bytes"]:
            changed.append(
                f"{name} had {old[name]['bytes']:,} bytes and has {new[name]['bytes']:,}"
            )
    if not changed and list(old) != list(new):
        changed.append("the same files in another order")
    return changed


def _clear(folder: Folder) -> None:
    """Remove a job, and nothing else that may lie beside it."""
    folder.remove(MANIFEST_FILE)
    for name in (*_parts(folder), BAD_ROWS, UNFINISHED):
        folder.remove(name)


def _parts(folder: Folder) -> set[str]:
    return {name for name in folder.names() if _PART.fullmatch(name)}


def _read_manifest(folder: Folder) -> JobManifest | None:
    content = folder.read(MANIFEST_FILE)
    if content is None:
        return None
    where = f"{folder.location}/{MANIFEST_FILE}"
    version = _format_of(content)
    if version is not None and version != FORMAT_VERSION:
        raise ArtifactError(
            f"{where}: of format {version}, this version of readagain writes {FORMAT_VERSION}; "
            "choose another OUT_DIR"
        )
    found = _read_object(content, where)
    try:
        return JobManifest(
            **{**found, "shards": [ShardMetadata(**note) for note in found["shards"]]}
        )
    except (KeyError, TypeError) as error:
        raise _damaged(where) from error


def _format_of(content: bytes) -> int | None:
    """Tell the format before anything else, since another may be sealed in another way."""
    try:
        version = json.loads(content)["format_version"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return version if type(version) is int else None


def _read_object(content: bytes, where: str) -> dict[str, Any]:
    found = verify_checksum(content)
    if found is None:
        raise _damaged(where)
    return found


def _damaged(where: str) -> ArtifactError:
    return ArtifactError(f"{where}: damaged; start over with --overwrite, or in another OUT_DIR")
