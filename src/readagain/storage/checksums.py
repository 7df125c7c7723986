"""Checksums of files and of JSON objects."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

CHECKSUM_KEY = "seal"
"""The key of the checksum in a JSON object; the name is part of the file formats."""


def add_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with its checksum added."""
    return {**content, CHECKSUM_KEY: _json_checksum(content)}


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Parse a JSON object; return None for anything else."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def verify_checksum(text: bytes) -> dict[str, Any] | None:
    """Parse a JSON object written by `add_checksum`, and remove its checksum.

    Returns:
        The object, or None if `text` is not a JSON object with the right checksum.
    """
    content = parse_object(text)
    if content is None:
        return None
    checksum = content.pop(CHECKSUM_KEY, None)
    return content if checksum == _json_checksum(content) else None


def _json_checksum(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def file_checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """Size and checksum of a file, as listed in a manifest."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> "FileEntry":
        """Return the entry of a file on disk."""
        return cls(bytes=path.stat().st_size, sha256=file_checksum(path))
