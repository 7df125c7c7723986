"""Reading of input files: decompression, size limits, and errors that name the file."""

import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from readagain.errors import DataError, first_line, os_errors, require

COMPRESSION_SUFFIXES = (".gz", ".xz", ".zst")
BUFFER_BYTES = 1 << 20
MAX_DOCUMENT_BYTES = 128 << 20
"""Maximum size of a document that is parsed as a whole."""
MAX_FOLDERS = 5000
"""Maximum number of folders that are searched for files; a corpus has fewer."""
MAX_EXPANSION = 100
"""Maximum ratio of decompressed to compressed bytes; the ratio of usual texts is below 20."""
EXPANSION_MARGIN_BYTES = 1 << 20
"""Number of decompressed bytes that a file may have beyond `MAX_EXPANSION` times its size."""
MAX_XZ_BYTES = 256 << 20
"""Memory limit of xz decompression: files of `xz -9` need 65 MiB, but a file may request 4 GiB."""


def plain_name(path: Path) -> str:
    """Return the file's name in lower case without a compression suffix."""
    name = path.name.lower()
    suffixes = (suffix for suffix in COMPRESSION_SUFFIXES if name.endswith(suffix))
    return name.removesuffix(next(suffixes, ""))


def check_regular_file(path: Path) -> None:
    """Raise `DataError` for a pipe or a device, which cannot be read twice."""
    with named_errors(path):
        if not path.is_file():
            raise DataError(
                f"{path}: a pipe or a device, which can be read only once; save it as a file first"
            )


def walk_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder.

    Raises:
        DataError: if a folder cannot be read, or if there are more than `MAX_FOLDERS`.
    """

    def fail(error: OSError) -> None:
        with named_errors(Path(error.filename)):
            raise error

    for number, (name, _, files) in enumerate(os.walk(folder, onerror=fail)):
        if number == MAX_FOLDERS:
            raise DataError(
                f"{folder}: contains more than {MAX_FOLDERS:,} folders; choose a folder nearer to "
                "the files"
            )
        yield from (Path(name) / file for file in files)


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Replace an `OSError` raised in the block by a `DataError` that names the input file."""
    with os_errors(path, "read"):
        try:
            yield
        except FileNotFoundError as error:
            raise DataError(f"{path}: no such file") from error
        except IsADirectoryError as error:
            raise DataError(f"{path}: a folder; expected a file") from error


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """Location, size and times of an input file, for detecting changes."""

    location: str
    bytes: int
    mtime_ns: int
    ctime_ns: int = 0
    """Time of the last change of the file or its metadata, which programs cannot set back; 0 for a
    remote file."""

    @classmethod
    def of(cls, path: Path) -> "InputFile":
        """Return a local file with its current size and time."""
        with named_errors(path):
            state = path.stat()
        return cls(
            location=str(path),
            bytes=state.st_size,
            mtime_ns=state.st_mtime_ns,
            ctime_ns=state.st_ctime_ns,
        )


def changed_error(location: str) -> DataError:
    """Return the error for an input that was changed while it was read."""
    return DataError(
        f"{location}: changed while it was read; run the command again once it is complete"
    )


def expansion_error(path: Path) -> DataError:
    """Return the error for a file that expands to more than `MAX_EXPANSION` times its size."""
    advice = "decompress the file first"
    if path.suffix.lower() not in COMPRESSION_SUFFIXES:
        advice = "convert it to JSONL"
    return DataError(
        f"{path}: expands to more than {MAX_EXPANSION} times its size, as attacks do; {advice} if "
        "you trust it"
    )


@contextmanager
def open_bytes(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open a file; yield a stream of its decompressed content, and a stream to measure progress.

    `tell()` of the second stream returns how many bytes of the file on disk were read. The position
    in the decompressed content cannot be compared with the size of the file.

    Raises:
        DataError: when the file cannot be read, its compressed data is damaged or cut short, or
            the data expands to more than `MAX_EXPANSION` times the size of the file.
    """
    try:
        with named_errors(path), path.open("rb") as raw, _decompress(path, raw) as stream:
            try:
                # Not `raw` for an uncompressed file: it is up to BUFFER_BYTES ahead of `stream`.
                is_compressed = path.suffix.lower() in COMPRESSION_SUFFIXES
                yield stream, raw if is_compressed else stream
            except OSError as error:
                if error.errno is not None:  # from the operating system, not the decompression
                    raise
                raise zlib.error(str(error)) from error  # reported as damaged data below
    except EOFError as error:
        raise DataError(f"{path}: the compressed data is cut short; copy the file again") from error
    except (lzma.LZMAError, zlib.error) as error:
        if str(error) == "Memory usage limit exceeded":
            raise DataError(
                f"{path}: needs too much memory for decompression; compress it again "
                "with a preset of xz, such as xz -9"
            ) from error
        raise DataError(
            f"{path}: damaged {path.suffix} data ({first_line(error)}); copy the file again"
        ) from error


def read_whole(stream: BinaryIO, path: Path) -> bytes:
    """Read a document whose format can only be parsed as a whole; a compressed one may be large."""
    content = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(content) > MAX_DOCUMENT_BYTES:
        raise DataError(
            f"{path}: more than {MAX_DOCUMENT_BYTES >> 20} MiB for one document; convert it to "
            "JSONL, one record per line, which has no size limit"
        )
    return content


def _decompress(path: Path, raw: BinaryIO) -> BinaryIO:
    """Return a stream of the decompressed content of `raw`, the open file at `path`."""
    match path.suffix.lower():
        case ".gz":
            file = gzip.GzipFile(fileobj=raw)
            pieces = iter(lambda: file.read(BUFFER_BYTES), b"")
        case ".xz":
            pieces = filter(None, _decompress_xz(raw))
        case ".zst":
            pieces = _decompress_zst(path, raw)
        case _:
            return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES))
    stream = _BoundedStream(path, raw, pieces)
    return cast(BinaryIO, io.BufferedReader(stream, BUFFER_BYTES))


def _decompress_xz(raw: BinaryIO) -> Iterator[bytes]:
    """Yield the content of an .xz file like `lzma.LZMAFile`, but with a memory limit.

    The file may have several compressed streams, with zero bytes between them.
    """
    compressed = raw.read(BUFFER_BYTES)
    while compressed:
        stream = lzma.LZMADecompressor(memlimit=MAX_XZ_BYTES)
        while True:
            yield stream.decompress(compressed, BUFFER_BYTES)
            if stream.eof:
                break
            compressed = raw.read(BUFFER_BYTES) if stream.needs_input else b""
            if stream.needs_input and not compressed:
                raise EOFError("the end of the stream is missing")
        compressed = stream.unused_data.lstrip(b"\0")
        while not compressed and (next_bytes := raw.read(BUFFER_BYTES)):
            compressed = next_bytes.lstrip(b"\0")


def _decompress_zst(path: Path, raw: BinaryIO) -> Iterator[bytes]:
    pyarrow = require("pyarrow", extra="data", purpose=f"{path}: reading .zst")
    stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, mode="r"), "zstd")
    buffer = bytearray(BUFFER_BYTES)
    # The generator yields b"" at the end and never returns: if it did, pyarrow would close `raw`.
    while True:
        num_bytes = stream.readinto(buffer)  # read() leaks memory when the data is damaged
        yield bytes(buffer[:num_bytes])


class _BoundedStream(io.RawIOBase):
    """Stream of decompressed bytes with a limit: `MAX_EXPANSION` times the compressed bytes.

    Without this limit a file of some kilobytes could expand to hundreds of millions of lines.
    """

    def __init__(self, path: Path, raw: BinaryIO, pieces: Iterator[bytes]) -> None:
        self._path = path
        self._raw = raw
        self._pieces = pieces
        self._piece = b""
        self._num_bytes = 0

    def readable(self) -> bool:
        """Return True, as `io.BufferedReader` requires."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with the next decompressed bytes and return their number."""
        self._piece = self._piece or next(self._pieces, b"")
        size = min(len(buffer), len(self._piece))
        buffer[:size], self._piece = self._piece[:size], self._piece[size:]
        self._num_bytes += size
        if self._num_bytes > MAX_EXPANSION * self._raw.tell() + EXPANSION_MARGIN_BYTES:
            raise expansion_error(self._path)
        return size
