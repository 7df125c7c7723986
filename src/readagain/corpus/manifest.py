"""The manifest of a prepared corpus: what it holds, what it was made of, and checksums."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from readagain.corpus.select import SPLITS
from readagain.errors import ArtifactError, quoted
from readagain.storage.files import read_bounded
from readagain.text.truecasing import CASES_FILE

FORMAT_VERSION = 1
COUNTED = ("pairs", "segments", "words", "shards")
FILE_NAME = "manifest.json"
# What a report says follows from the data, and how words are written is not what models learn
# from, so these do not change the corpus's identity.
NOT_DATA = ("report.md", "report.json", "skipped.jsonl", CASES_FILE)
MAX_BYTES = 256 << 20
"""Of a manifest; it lists every input."""


@dataclass(frozen=True, kw_only=True)
class CorpusManifest:
    """What `manifest.json` says."""

    format_version: int = FORMAT_VERSION
    package_version: str
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    """Of each input: its files, format, origin, split; records read, kept, dropped by reason."""
    origins: list[str]
    """The arguments that named the inputs; shards refer to them by their place here."""
    splits: dict[str, dict[str, int]]
    """For each split: pairs, segments, words and shards."""
    num_words: int
    """Distinct words, the length of the lexicon."""
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    fingerprint: str = ""

    def save(self, folder: Path) -> None:
        """Write the manifest into `folder`."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        (folder / FILE_NAME).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "CorpusManifest":
        """Read the manifest of a prepared corpus.

        Raises:
            ArtifactError: when there is none, or it is of another format than ours.
        """
        path = folder / FILE_NAME
        try:
            content = json.loads(read_bounded(path, max_bytes=MAX_BYTES))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ArtifactError(_why_missing(folder)) from error
        except OSError as error:
            raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ArtifactError(f"{path}: not JSON; copy or prepare the corpus again") from error
        version = content.get("format_version") if isinstance(content, dict) else None
        if version != FORMAT_VERSION:
            raise ArtifactError(_why_refused(path, version))
        known = {name: content[name] for name in cls.__dataclass_fields__ if name in content}
        try:
            manifest = cls(**known)
            problem = _first_problem(manifest)
        except (TypeError, KeyError, AttributeError) as error:
            raise ArtifactError(
                f"{path}: incomplete ({error}); was it edited by hand? prepare the corpus again"
            ) from error
        if problem:
            raise ArtifactError(f"{path}: {problem}; copy or prepare the corpus again")
        return manifest


def _first_problem(manifest: CorpusManifest) -> str | None:
    """Say what cannot be in a manifest that we wrote, or nothing."""
    for name, facts in manifest.files.items():
        if Path(name).name != name or not name.isprintable():
            return f"names {quoted(name)}, which is no file of this folder"
        if type(facts["bytes"]) is not int or type(facts["sha256"]) is not str:
            return f"{quoted(name)} has no size or no checksum"
    for split in SPLITS:
        counts = manifest.splits[split]
        wrong = [name for name in COUNTED if type(counts[name]) is not int or counts[name] < 0]
        if wrong:
            return f"the split {split} has {quoted(counts[wrong[0]])} {wrong[0]}"
    if type(manifest.num_words) is not int:
        return f"the number of words is {quoted(manifest.num_words)}"
    if manifest.fingerprint != fingerprint(manifest.files):
        return "its fingerprint is not that of the files it lists"
    return None


def unfinished_beside(folder: Path) -> Path:
    """Name the folder in which the corpus `folder` is being made."""
    return folder.with_name(f"{folder.name}.unfinished")


def _why_missing(folder: Path) -> str:
    if not folder.exists():
        if unfinished_beside(folder).exists():
            return (
                f"{folder}: not there yet; its preparation was interrupted or refused, "
                "run the same 'readagain prepare' again to finish it"
            )
        return f"{folder}: no such folder; make one with 'readagain prepare'"
    return f"{folder}: no {FILE_NAME} in it, so not a prepared corpus; use 'readagain prepare'"


def _why_refused(path: Path, version: object) -> str:
    if isinstance(version, int) and FORMAT_VERSION < version < 1_000_000:
        return (
            f"{path}: written in format {version} by a newer readagain; this one reads format "
            f"{FORMAT_VERSION}, so upgrade it or prepare the corpus again"
        )
    return (
        f"{path}: format {quoted(version)} is not one this version reads (it reads "
        f"{FORMAT_VERSION}); prepare the corpus again"
    )


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return size and checksum of every file in a folder but the manifest itself."""
    described = {}
    for path in sorted(folder.iterdir()):
        if path.name != FILE_NAME:
            with path.open("rb") as file:
                checksum = file_digest(file, "sha256").hexdigest()
            described[path.name] = {"bytes": path.stat().st_size, "sha256": checksum}
    return described


def fingerprint(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one checksum over all data files: equal corpora have equal fingerprints."""
    lines = [f"{name} {facts['sha256']}\n" for name, facts in sorted(files.items())]
    data = [line for line in lines if line.partition(" ")[0] not in NOT_DATA]
    return sha256("".join(data).encode("utf-8", "backslashreplace")).hexdigest()


def check_files(folder: Path, manifest: CorpusManifest, *, checksums: bool = False) -> None:
    """Compare the files of a folder with its manifest: sizes always, checksums on request.

    Raises:
        ArtifactError: naming the first file that is missing, cut short or changed.
    """
    for name, facts in manifest.files.items():
        path = folder / name
        if not path.exists():
            raise ArtifactError(f"{path}: missing; copy or prepare the corpus again")
        if path.stat().st_size != facts["bytes"]:
            raise ArtifactError(
                f"{path}: {path.stat().st_size:,} bytes, the manifest says {facts['bytes']:,}; "
                "half-written or changed, copy or prepare the corpus again"
            )
    if checksums:
        described = describe_files(folder)
        for name, facts in manifest.files.items():
            if described[name] != facts:
                raise ArtifactError(
                    f"{folder / name}: its content is not what the manifest says; "
                    "copy or prepare the corpus again"
                )
