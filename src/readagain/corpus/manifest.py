"""Manifest of a prepared corpus: its settings, inputs, counts and checksums."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from readagain.corpus.inputs import SPLITS
from readagain.errors import ArtifactError, quoted
from readagain.formats.jsonl import to_json
from readagain.storage.checksums import FileEntry
from readagain.storage.files import read_json_object
from readagain.storage.manifest import check_format_version, parse_file_entries
from readagain.text.language import LANGUAGES
from readagain.text.truecasing import CASES_FILE

FORMAT_VERSION = 1
SPLIT_COUNTS = ("pairs", "segments", "words", "shards")
"""Counts of each split."""
FILE_NAME = "manifest.json"
# Files that do not change the fingerprint of the corpus: reports, which are computed from the data,
# and the case table, which is not used in training.
NOT_DATA = ("report.md", "report.json", "skipped.jsonl", CASES_FILE)
MAX_BYTES = 256 << 20
"""Maximum size of a manifest; it lists every input."""
ADVICE = "copy or prepare the corpus again"
"""What to do with a damaged corpus; the end of error messages."""


@dataclass(frozen=True, kw_only=True)
class CorpusManifest:
    """Content of `manifest.json`."""

    format_version: int = FORMAT_VERSION
    package_version: str
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    """For each input its files, format, origin and split, and its numbers of records."""
    origins: list[str]
    """The distinct origins of the inputs (see `CorpusInput`); shards store origins by index."""
    splits: dict[str, dict[str, int]]
    """For each split its numbers of pairs, segments (sentences and headlines), words and shards."""
    num_words: int
    """Number of words in the lexicon."""
    language: str = "en"
    """Code of the language; a manifest of an older version has none, and its corpus is English."""
    files: dict[str, FileEntry] = field(default_factory=dict)
    fingerprint: str = ""

    def save(self, folder: Path) -> "CorpusManifest":
        """Add the files of a folder and their fingerprint, and write the manifest into the folder.

        Returns:
            The manifest as written.
        """
        files = list_files(folder)
        manifest = replace(self, files=files, fingerprint=fingerprint(files))
        text = to_json(asdict(manifest), indent=2)
        (folder / FILE_NAME).write_text(text + "\n", encoding="utf-8")
        return manifest

    @classmethod
    def load(cls, folder: Path) -> "CorpusManifest":
        """Read the manifest of a prepared corpus.

        Raises:
            ArtifactError: when the manifest is missing, damaged or of another format.
        """
        path = folder / FILE_NAME
        if not path.exists():
            raise ArtifactError(_describe_missing(folder))
        content = read_json_object(path, max_bytes=MAX_BYTES)
        check_format_version(content, FORMAT_VERSION, path=path)
        values = {name: content[name] for name in cls.__dataclass_fields__ if name in content}
        files = parse_file_entries(values.get("files"), path=path)
        try:
            manifest = cls(**{**values, "files": files})
            problem = _find_problem(manifest)
        except (TypeError, KeyError, AttributeError) as error:
            raise ArtifactError(
                f"{path}: incomplete ({error}); was it edited by hand? prepare the corpus again"
            ) from error
        if problem:
            raise ArtifactError(f"{path}: {problem}; {ADVICE}")
        return manifest


def _find_problem(manifest: CorpusManifest) -> str | None:
    """Return a description of an invalid value in a manifest, or None."""
    for split in SPLITS:
        counts = manifest.splits[split]
        for name in SPLIT_COUNTS:
            if type(counts[name]) is not int or counts[name] < 0:
                return f"the split {split} has {quoted(counts[name])} {name}"
    if type(manifest.num_words) is not int:
        return f"the number of words is {quoted(manifest.num_words)}"
    if manifest.language not in LANGUAGES:
        return f"the language is {quoted(manifest.language)}"
    if manifest.fingerprint != fingerprint(manifest.files):
        return "the fingerprint does not match the listed files"
    return None


def unfinished_dir(folder: Path) -> Path:
    """Return the working directory for the preparation of the corpus `folder`."""
    return folder.with_name(f"{folder.name}.unfinished")


def _describe_missing(folder: Path) -> str:
    """Return an error message for a folder without a manifest."""
    if not folder.exists():
        if unfinished_dir(folder).exists():
            return (
                f"{folder}: not complete, because its preparation was interrupted or failed; "
                "run the same 'readagain prepare' again to finish it"
            )
        return f"{folder}: no such folder; create it with 'readagain prepare'"
    return f"{folder}: not a prepared corpus (no {FILE_NAME}); use 'readagain prepare'"


def list_files(folder: Path) -> dict[str, FileEntry]:
    """Return the size and checksum of every file in a folder except the manifest, by name."""
    paths = (path for path in sorted(folder.iterdir()) if path.name != FILE_NAME)
    return {path.name: FileEntry.of(path) for path in paths}


def fingerprint(files: Mapping[str, FileEntry]) -> str:
    """Return a checksum over all data files; equal corpora have equal fingerprints."""
    lines = [f"{name} {files[name].sha256}\n" for name in sorted(files) if name not in NOT_DATA]
    return sha256("".join(lines).encode()).hexdigest()
