"""Atomic writes, fsync and bounded reads of files."""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

from readagain.errors import ArtifactError, DataError, os_errors, type_in_words

# O_NOFOLLOW rejects symbolic links; Windows does not define it.
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_CHUNK_BYTES = 1 << 20


def read_bounded(path: Path, *, max_bytes: int) -> bytes:
    """Read a file that may come from an untrusted source.

    Raises:
        OSError: if the file cannot be read, is larger than `max_bytes`, or is a pipe or a device,
            which may be endless.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    content = bytearray()
    with path.open("rb") as file:
        # Not `read(max_bytes)`, which allocates that many bytes even if the file is smaller.
        while len(content) <= max_bytes and (chunk := file.read(_CHUNK_BYTES)):
            content += chunk
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"more than {max_bytes:,} bytes")
    return bytes(content)


def read_entries(path: Path, *, max_bytes: int) -> list[str]:
    r"""Read a UTF-8 file with one entry per line.

    Only `\n` ends a line: an entry may contain U+2028, at which `splitlines` would split it.

    Raises:
        ArtifactError: if the file cannot be read, is larger than `max_bytes` or is not UTF-8.
    """
    try:
        with os_errors(path, "read", ArtifactError):
            text = read_bounded(path, max_bytes=max_bytes).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError(
            f"{path}: not UTF-8 at byte {error.start}; was it edited by hand?"
        ) from error
    return text.removesuffix("\n").split("\n") if text else []


def read_json_object(path: Path, *, max_bytes: int) -> dict[str, Any]:
    """Read a file that contains one JSON object.

    Raises:
        ArtifactError: if the file cannot be read, is larger than `max_bytes`, or does not contain
            a JSON object.
    """
    try:
        with os_errors(path, "read", ArtifactError):
            content = json.loads(read_bounded(path, max_bytes=max_bytes))
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: not JSON; was it edited by hand?") from error
    if not isinstance(content, dict):
        raise ArtifactError(f"{path}: contains {type_in_words(content)}; expected a JSON object")
    return content


@contextmanager
def atomic_write(
    path: Path, *, durable: bool = False, temporary_dir: Path | None = None
) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` when the block ends.

    The temporary file has a random name and is created with O_EXCL, so a link or file that another
    process placed there is not written to. If the block raises, `path` stays unchanged and the
    temporary file is removed.

    Args:
        path: the file to replace.
        durable: flush the content and the new name to the disk (fsync) before returning.
        temporary_dir: directory of the temporary file, on the same file system (default: that of
            `path`); if the process is killed, the temporary file remains there.
    """
    temporary = (temporary_dir or path.parent) / f".{uuid4().hex}.part"
    os.close(os.open(temporary, _CREATE_FLAGS, 0o666))
    try:
        yield temporary
        if durable:
            sync_file(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_dir(path.parent)


@contextmanager
def atomic_dir(path: Path, *, temporary: Path) -> Iterator[Path]:
    """Yield the empty directory `temporary`, which replaces `path` when the block ends.

    If the block or the renaming fails, `path` stays unchanged and the temporary directory is
    removed. The names of the files and of the directory are flushed to the disk (fsync); the block
    flushes the content of files that must survive a power failure.

    Args:
        path: the new directory; a directory of that name is removed once it is replaced.
        temporary: a path on the same file system. What an interrupted process left there is
            removed.
    """
    replaced = temporary.with_name(f"{temporary.name}.old")
    for left_over in (temporary, replaced):
        remove(left_over)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        sync_dir(temporary)
        if path.exists():
            path.rename(replaced)
        temporary.rename(path)
    except BaseException:
        if replaced.exists() and not path.exists():  # only the first of the two renames was done
            replaced.rename(path)
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_dir(path.parent)
    remove(replaced)


def check_writable(path: Path | None) -> None:
    """Check that an output file can be written, to avoid a failure after a long computation.

    None, which means no output file, is accepted.

    Raises:
        DataError: if `path` is a folder or a link that leads back to itself, or its folder does not
            exist.
    """
    if path is None:
        return
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file to write")
    # `realpath` returns a link only if the links form a loop.
    if Path(os.path.realpath(path)).is_symlink():
        raise DataError(f"{path}: is a link to itself; name a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path}: the folder '{path.parent}' does not exist; create it first")


@contextmanager
def write_output(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces the output file `path` when the block ends.

    If `path` is a symbolic link, its target is replaced. If `path` is a pipe or a device, `path`
    itself is yielded.

    Raises:
        DataError: if the file cannot be written; an existing file is then unchanged.
    """
    check_writable(path)
    is_pipe_or_device = path.exists() and not path.is_file()
    write = nullcontext(path) if is_pipe_or_device else atomic_write(Path(os.path.realpath(path)))
    with os_errors(path, "written"), write as written_path:
        yield written_path


def write_text(path: Path, content: str) -> None:
    """Write a text file atomically; see `write_output`."""
    with write_output(path) as temporary:
        temporary.write_text(content, encoding="utf-8", newline="\n")


def write_synced(path: Path, content: bytes) -> None:
    """Write a new file and flush it to the disk (fsync)."""
    with os.fdopen(os.open(path, _CREATE_FLAGS, 0o666), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_file(path: Path) -> None:
    """Flush the content of a file to the disk (fsync)."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_dir(path: Path) -> None:
    """Flush the entries of a directory to the disk (fsync)."""
    if os.name == "posix":  # Windows cannot open directories, and does not need this
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_links(path: Path, *, below: Path) -> None:
    """Raise `OSError` if `path`, or a directory between `below` and `path`, is a symbolic link.

    Such a link could lead out of the folder `below`, which contains `path`. The folder `below`
    itself may be a link, since the user named it.
    """
    for current in (path, *path.parents):
        if current == below:
            return
        if current.is_symlink():
            raise OSError(errno.ELOOP, f"{current} is a symbolic link, which is not followed")


def remove(path: Path) -> None:
    """Remove a file, a link or a directory tree, if it exists; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
