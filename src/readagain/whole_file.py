"""Files that are there whole or not at all, and read whole only where that is safe."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from readagain.errors import ArtifactError, DataError


def read_bounded(path: Path, *, max_bytes: int) -> bytes:
    """Read a file that may be a stranger's, without believing that it is small.

    Raises:
        OSError: when it cannot be read, holds more, or is no file but a pipe or a device, which
            may never end; it is then not read to its end.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no ordinary file")
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"more than {max_bytes:,} bytes")
    return content


def read_lines(path: Path, *, max_bytes: int) -> list[str]:
    """Read a file of a model or a corpus that has one entry a line.

    Not by splitlines(): some words are signs that it takes for line ends.

    Raises:
        ArtifactError: when it cannot be read, holds more, or is no UTF-8.
    """
    try:
        text = read_bounded(path, max_bytes=max_bytes).decode("utf-8")
    except OSError as error:
        raise ArtifactError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArtifactError(
            f"{path}: not UTF-8 at byte {error.start}; was it edited by hand?"
        ) from error
    return text.removesuffix("\n").split("\n") if text else []


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Offer a name beside `path` to write under; what is there in the end takes its place.

    When something goes wrong meanwhile, what stood at `path` stays and the attempt is removed.
    """
    aside = path.with_name(f"{path.name}.part")
    try:
        yield aside
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_writable(path: Path | None) -> None:
    """Notice before any work that a file could not be written after it.

    Raises:
        DataError: when it is a folder, or its folder is missing.
    """
    if path is None:
        return
    if path.is_dir():
        raise DataError(f"{path}: a folder; name a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path}: no folder '{path.parent}' to write it into; make it first")


@contextmanager
def written_or_told(path: Path) -> Iterator[Path]:
    """Do as `atomic_write` for a file that a person asked for: what fails is said in a line.

    A link stays, and what it names is written. What is no file, such as a pipe or /dev/null, stays
    too, and is written to as it is.

    Raises:
        DataError: when it cannot be written; a file that stood there is then unchanged.
    """
    check_writable(path)
    is_replaced = path.is_file() or not path.exists()
    writing = atomic_write(Path(os.path.realpath(path))) if is_replaced else nullcontext(path)
    try:
        with writing as to:
            yield to
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error


def write_synced(path: Path, content: bytes) -> None:
    """Write a file, and return once it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Wait until what was made, renamed or removed in a folder is so on the disk."""
    if os.name == "posix":  # Windows cannot open folders, and needs no such call
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
