"""Checks of manifests, for model folders, prepared corpora and batch jobs."""

import re
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from readagain.errors import ArtifactError, os_errors, quoted
from readagain.storage.checksums import FileEntry

# File names without separators and control characters, so that they name files in the folder itself
# and are safe to print.
_FILE_NAME = re.compile(r"\w[\w.-]{0,199}", re.ASCII)
_CHECKSUM = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MAX_FILE_SIZE = 2**63 - 1


def check_format_version(content: Mapping[str, Any], current: int, *, path: Path | str) -> None:
    """Raise `ArtifactError` if this version of the package does not read a manifest's format."""
    version = content.get("format_version")
    if type(version) is not int or version < 1:
        raise ArtifactError(f"{path}: no format_version; it was not written by readagain")
    if version > current:
        writer = str(content.get("package_version", "of a later version"))[:40]
        raise ArtifactError(
            f"{path}: written in format {str(version)[:40]} by readagain {writer}; this version "
            f"reads format {current}; upgrade readagain"
        )
    if version < current:
        raise ArtifactError(
            f"{path}: written in format {version}; this version reads format {current}: "
            "create it again"
        )


def parse_file_entries(content: Any, *, path: Path | str) -> dict[str, FileEntry]:
    """Parse the value of `files` in a manifest: the size and checksum of each file.

    Raises:
        ArtifactError: for incomplete entries, and for names outside the folder.
    """
    try:
        files = {name: FileEntry(**entry) for name, entry in content.items()}
    except (TypeError, AttributeError) as error:
        raise ArtifactError(f"{path}: incomplete; was it edited by hand?") from error
    for name, entry in files.items():
        if not _FILE_NAME.fullmatch(name):
            raise ArtifactError(f"{path}: lists {quoted(name)}, which is not a file name")
        is_checksum = type(entry.sha256) is str and _CHECKSUM.fullmatch(entry.sha256)
        is_size = type(entry.bytes) is int and 0 <= entry.bytes <= _MAX_FILE_SIZE
        if not is_size or not is_checksum:
            raise ArtifactError(f"{path}: incomplete; was it edited by hand?")
    return files


def check_files(
    folder: Path,
    files: Mapping[str, FileEntry],
    *,
    manifest: str,
    checksums: Container[str],
    advice: str,
) -> None:
    """Compare the files of a folder with its manifest.

    Args:
        folder: the folder.
        files: the files that its manifest lists; all sizes are compared.
        manifest: the file name of the manifest, for messages.
        checksums: names of the files whose checksums are also compared.
        advice: what to do about a missing or changed file.

    Raises:
        ArtifactError: for the first file that is missing, truncated or changed.
    """
    for name, entry in files.items():
        path = folder / name
        if not path.is_file():
            raise ArtifactError(f"{path}: missing; {advice}")
        num_bytes = path.stat().st_size
        if num_bytes != entry.bytes:
            raise ArtifactError(
                f"{path}: {num_bytes:,} bytes, {manifest} lists {entry.bytes:,}; "
                f"truncated or changed, {advice}"
            )
        with os_errors(path, "read", ArtifactError):
            is_changed = name in checksums and FileEntry.of(path) != entry
        if is_changed:
            raise ArtifactError(f"{path}: content does not match {manifest}; {advice}")
