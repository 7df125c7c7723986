"""The manifest of a model folder: what belongs to the model, with checksums; written last."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

from readagain import __version__
from readagain.errors import ArtifactError, quoted, type_in_words
from readagain.whole_file import read_bounded, write_synced

FORMAT_VERSION = 1
MANIFEST_FILE = "model.json"

MAX_OBJECT_BYTES = 4 << 20
"""Manifest, settings, scores and origin of a model: kilobytes; a larger file is not read."""
MAX_NEEDED_BYTES = 64 << 20
"""Of a file that is read whenever a model is opened: settings and vocabularies."""

_STAGING = ".writing"
# No separators, so nothing outside the folder, and nothing that a message could not show.
_FILE_NAME = re.compile(r"\w[\w.-]{0,199}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """Size and checksum of one file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ModelManifest:
    """What `model.json` says."""

    format_version: int = FORMAT_VERSION
    package_version: str = __version__
    files: dict[str, FileEntry] = field(default_factory=dict)


def write_files(
    path: Path, writers: Mapping[str, Callable[[Path], object]], *, whole: bool = False
) -> None:
    """Write or replace files of a model folder and bring its manifest up to date.

    Every file is first written beside its place. Only when all are safely on the disk do they
    take their places, with the manifest taken away meanwhile: a folder whose writing was cut off
    has no manifest and is refused, never half believed.

    Args:
        path: the folder; made if it is not there.
        writers: for each file name, what writes the file at the path it is given.
        whole: these files are the whole model: others that the manifest named, such as graphs
            exported from older weights, are removed. Without it they stay.

    Raises:
        ArtifactError: when the disk is full or the folder cannot be written to; what stood in the
            folder is then unchanged.
    """
    staging = path / _STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        for name, write in writers.items():
            write(staging / name)
            _sync(staging / name)
        facts = {name: _describe(staging / name) for name in writers}
        before = read_manifest(path).files if (path / MANIFEST_FILE).exists() else {}
        outdated = before.keys() - writers.keys() if whole else set()
        kept = {name: before[name] for name in before.keys() - outdated}
        manifest = ModelManifest(files=dict(sorted({**kept, **facts}.items())))
        text = json.dumps(asdict(manifest), indent=2) + "\n"
        write_synced(staging / MANIFEST_FILE, text.encode())
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise ArtifactError(
            f"{path}: cannot be written: {error.strerror or error}; nothing in it was changed"
        ) from error
    for name in (MANIFEST_FILE, *outdated):
        (path / name).unlink(missing_ok=True)
    for name in (*writers, MANIFEST_FILE):
        (staging / name).replace(path / name)
    staging.rmdir()


def read_manifest(folder: Path) -> ModelManifest:
    """Read the manifest of a model folder.

    Raises:
        ArtifactError: when there is none, or it is damaged, foreign or too new.
    """
    path = folder / MANIFEST_FILE
    if not folder.is_dir():
        raise ArtifactError(f"{folder}: no such folder; a model folder is what 'train' wrote")
    if not path.exists():
        raise ArtifactError(
            f"{folder}: no {MANIFEST_FILE} in it, so no model folder, or one whose training has "
            "not yet finished a validation"
        )
    content = read_object(path)
    version = content.get("format_version")
    if type(version) is not int or version < 1:
        raise ArtifactError(f"{path}: no format_version in it, so not written by readagain")
    if version > FORMAT_VERSION:
        writer = str(content.get("package_version", "of a later version"))[:40]
        raise ArtifactError(
            f"{path}: written in format {str(version)[:40]} by readagain {writer}; this one reads "
            f"format {FORMAT_VERSION}, so upgrade it: pip install --upgrade readagain"
        )
    try:
        files = {name: _facts(**facts) for name, facts in content["files"].items()}
        package_version = str(content["package_version"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(f"{path}: incomplete; was it edited by hand?") from error
    for name in files:
        if not _FILE_NAME.fullmatch(name):
            raise ArtifactError(f"{path}: names {quoted(name)}, which is no file of this folder")
    return ModelManifest(format_version=version, package_version=package_version, files=files)


def _facts(*, bytes: int, sha256: str) -> FileEntry:
    if type(bytes) is not int or type(sha256) is not str:
        raise TypeError("a size is a number, a checksum a text")
    return FileEntry(bytes=bytes, sha256=sha256)


def check_files(
    folder: Path, manifest: ModelManifest, *, needed: Iterable[str], checksums: bool
) -> None:
    """Compare a folder with its manifest: sizes, and the contents of the files that are `needed`.

    Args:
        folder: the folder.
        manifest: what its manifest says.
        needed: files that must be there, and are small.
        checksums: compare the contents of all files.

    Raises:
        ArtifactError: naming the first file that is missing, cut short or changed.
    """
    needed = tuple(needed)
    for name in needed:
        if name not in manifest.files:
            raise ArtifactError(f"{folder / MANIFEST_FILE}: does not name {name}; no whole model")
    for name, facts in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise ArtifactError(f"{path}: missing; copy the model folder again")
        found = path.stat().st_size
        if found != facts.bytes:
            raise ArtifactError(
                f"{path}: {found:,} bytes, {MANIFEST_FILE} says {facts.bytes:,}; "
                "half copied or changed, copy the model folder again"
            )
        if name in needed and found > MAX_NEEDED_BYTES:
            raise ArtifactError(
                f"{path}: {found:,} bytes; expected at most {MAX_NEEDED_BYTES:,}, so no such file "
                "of readagain"
            )
        if (checksums or name in needed) and _describe(path) != facts:
            raise ArtifactError(
                f"{path}: its content is not what {MANIFEST_FILE} says; copy the model folder again"
            )


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ArtifactError: naming the file that holds none.
    """
    try:
        content = json.loads(read_bounded(path, max_bytes=MAX_OBJECT_BYTES))
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: not JSON; was it edited by hand?") from error
    if not isinstance(content, dict):
        raise ArtifactError(f"{path}: holds {type_in_words(content)}; expected a JSON object")
    return content


def _describe(path: Path) -> FileEntry:
    with path.open("rb") as file:
        checksum = file_digest(file, "sha256").hexdigest()
    return FileEntry(bytes=path.stat().st_size, sha256=checksum)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
