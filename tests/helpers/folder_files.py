"""Comparison of output folders."""

from pathlib import Path


def read_files(folder: Path, *, ignored_prefixes: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Return the content of every file below a folder, by name; ignore lock files."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return {
        name: content for name, content in contents.items() if not name.startswith(ignored_prefixes)
    }
