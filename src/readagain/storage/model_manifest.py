"""Manifest of a model folder: the files of the model with sizes and checksums."""

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from readagain.errors import ArtifactError, os_errors
from readagain.storage.checksums import FileEntry
from readagain.storage.files import read_json_object, sync_dir, sync_file, write_synced
from readagain.storage.manifest import check_files, check_format_version, parse_file_entries
from readagain.version import __version__

FORMAT_VERSION = 1
MANIFEST_FILE = "model.json"

MAX_OBJECT_BYTES = 4 << 20
"""Maximum size of a JSON file of a model; usual files have some kilobytes."""
MAX_REQUIRED_BYTES = 64 << 20
"""Maximum size of a file that is read whenever a model is opened: settings, vocabularies."""

_STAGING_DIR = ".writing"


@dataclass(frozen=True, kw_only=True)
class ModelManifest:
    """Content of `model.json`."""

    format_version: int = FORMAT_VERSION
    package_version: str = __version__
    files: dict[str, FileEntry] = field(default_factory=dict)


def write_model_files(
    folder: Path, writers: Mapping[str, Callable[[Path], object]], *, replace_all: bool = False
) -> None:
    """Write or replace files of a model folder and update its manifest.

    All files are first written to a staging directory. When all are on the disk, the old manifest
    is removed, the files are moved into the folder, and the new manifest is moved last. An
    interrupted write thus leaves a folder without a manifest, which cannot be loaded.

    Args:
        folder: the model folder; created if needed.
        writers: for each file name a function that writes the file at a given path.
        replace_all: remove all other files that the old manifest lists, such as graphs exported
            from older weights.

    Raises:
        ArtifactError: if the disk is full or the folder cannot be written to. If this happens
            before the files are moved, the folder is unchanged.
    """
    staging = folder / _STAGING_DIR
    try:
        with os_errors(folder, "written", ArtifactError, advice="nothing in it was changed"):
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir(parents=True)
            for name, write in writers.items():
                write(staging / name)
                sync_file(staging / name)
            new_files = {name: FileEntry.of(staging / name) for name in writers}
            old_files = read_manifest(folder).files if (folder / MANIFEST_FILE).exists() else {}
            outdated_names = old_files.keys() - writers.keys() if replace_all else set()
            kept_files = {name: old_files[name] for name in old_files.keys() - outdated_names}
            manifest = ModelManifest(files=dict(sorted({**kept_files, **new_files}.items())))
            text = json.dumps(asdict(manifest), indent=2) + "\n"
            write_synced(staging / MANIFEST_FILE, text.encode())
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    with os_errors(folder, "written", ArtifactError):
        for name in (MANIFEST_FILE, *outdated_names):
            (folder / name).unlink(missing_ok=True)
        for name in (*writers, MANIFEST_FILE):
            (staging / name).replace(folder / name)
        staging.rmdir()
        sync_dir(folder)


def read_manifest(folder: Path) -> ModelManifest:
    """Read the manifest of a model folder.

    Raises:
        ArtifactError: if the manifest is missing, damaged or in another format.
    """
    path = folder / MANIFEST_FILE
    if not folder.is_dir():
        raise ArtifactError(f"{folder}: no such folder; expected a folder written by 'train'")
    if not path.exists():
        raise ArtifactError(
            f"{folder}: no {MANIFEST_FILE}; this is not a model folder, or its training has not "
            "finished a validation yet"
        )
    content = read_json_object(path, max_bytes=MAX_OBJECT_BYTES)
    check_format_version(content, FORMAT_VERSION, path=path)
    return ModelManifest(
        package_version=str(content.get("package_version")),
        files=parse_file_entries(content.get("files"), path=path),
    )


def check_model_files(
    folder: Path, manifest: ModelManifest, *, required: Collection[str], checksums: bool
) -> None:
    """Compare the files of a model folder with its manifest: all sizes, and some checksums.

    Args:
        folder: the folder.
        manifest: its manifest.
        required: files that every model has; their checksums are always compared.
        checksums: whether to compare the checksums of all files, which reads them completely.

    Raises:
        ArtifactError: for the first file that is missing, too large, truncated or changed.
    """
    for name in required:
        if name not in manifest.files:
            raise ArtifactError(f"{folder / MANIFEST_FILE}: does not list {name}")
        if manifest.files[name].bytes > MAX_REQUIRED_BYTES:
            raise ArtifactError(
                f"{folder / name}: {manifest.files[name].bytes:,} bytes; expected at most "
                f"{MAX_REQUIRED_BYTES:,}"
            )
    check_files(
        folder,
        manifest.files,
        manifest=MANIFEST_FILE,
        checksums=manifest.files if checksums else required,
        advice="copy the model folder again",
    )
