"""Open a file as bytes, whatever it was compressed with."""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from readagain.errors import DataError, require

SUFFIXES = (".gz", ".xz", ".zst")
BUFFER_BYTES = 1 << 20
MAX_DOCUMENT_BYTES = 128 << 20
"""The longest document that is parsed as a whole."""
MAX_XZ_BYTES = 256 << 20
"""Memory that decompressing may take: a file says so itself, up to 4 GiB; `xz -9` needs 65 MiB."""


def plain_name(path: Path) -> str:
    """Return the file's name without the compression suffix, in lower case."""
    name = path.name.lower()
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def check_lasting(path: Path) -> None:
    """Refuse a pipe or a device for what is looked into first and read afterwards.

    Raises:
        DataError: saying so.
    """
    if not path.is_file():
        raise DataError(
            f"{path}: a pipe or a device, which can be read only once; save it as a file first"
        )


@contextmanager
def open_bytes(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open `path` for reading; yield its decompressed bytes, and what says where in it we are.

    The second stream's `tell()` says how far into the file reading has come, which is what a
    progress bar needs and a decompressed position cannot give.

    Raises:
        DataError: when the file is missing, or its compressed stream is damaged or cut short.
    """
    try:
        with path.open("rb") as raw, _decompressed(path, raw) as stream:
            # A file that is not compressed is read ahead by a megabyte; its buffer knows better.
            yield stream, raw if path.suffix.lower() in SUFFIXES else stream
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except IsADirectoryError as error:
        raise DataError(f"{path}: a folder, where a file was expected") from error
    except EOFError as error:
        raise DataError(
            f"{path}: the compressed data stops in the middle; copy the file again"
        ) from error
    except MemoryError as error:
        raise DataError(
            f"{path}: needs too much memory to be decompressed; compress it anew with a smaller "
            "dictionary, as xz -9 does"
        ) from error
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise DataError(
            f"{path}: damaged {path.suffix} data ({error}); copy the file again"
        ) from error


def read_document(stream: BinaryIO, path: Path) -> bytes:
    """Read a stream whose format can only be parsed as a whole.

    Raises:
        DataError: when it goes on beyond `MAX_DOCUMENT_BYTES`, as a few kilobytes of compressed
            zeros can.
    """
    content = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(content) > MAX_DOCUMENT_BYTES:
        raise DataError(
            f"{path}: more than {MAX_DOCUMENT_BYTES >> 20} MiB for one document; convert it to "
            "JSONL, one record a line, which may be of any length"
        )
    return content


def _decompressed(path: Path, raw: BinaryIO) -> BinaryIO:
    match path.suffix.lower():
        case ".gz":
            # GzipFile answers readline() in Python; the buffer around it does in C.
            return cast(BinaryIO, io.BufferedReader(gzip.GzipFile(fileobj=raw), BUFFER_BYTES))
        case ".xz":
            return cast(BinaryIO, io.BufferedReader(_XzStream(raw), BUFFER_BYTES))
        case ".zst":
            return cast(BinaryIO, io.BufferedReader(_ZstdStream(path, raw), BUFFER_BYTES))
        case _:
            return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, raw), BUFFER_BYTES))


class _XzStream(io.RawIOBase):
    """The decompressed bytes of an .xz file, as `lzma.LZMAFile` gives them, but within bounds."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._begin()

    def _begin(self) -> None:
        self._decoder = lzma.LZMADecompressor(memlimit=MAX_XZ_BYTES)

    def readable(self) -> bool:
        """Say that this stream can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes."""
        while True:
            chunk = b""
            if self._decoder.eof:
                chunk = self._next_stream()
                if not chunk:
                    return 0
                self._begin()
            elif self._decoder.needs_input:
                chunk = self._raw.read(BUFFER_BYTES)
                if not chunk:
                    raise EOFError("the end of the stream is missing")
            try:
                found = self._decoder.decompress(chunk, len(buffer))
            except lzma.LZMAError as error:
                if str(error) == "Memory usage limit exceeded":
                    raise MemoryError(str(error)) from error
                raise
            if found:
                buffer[: len(found)] = found
                return len(found)

    def _next_stream(self) -> bytes:
        """Return the beginning of a stream that follows, past zeros; nothing at the end."""
        chunk = self._decoder.unused_data.lstrip(b"\0")
        while not chunk:
            more = self._raw.read(BUFFER_BYTES)
            if not more:
                break
            chunk = more.lstrip(b"\0")
        return chunk


class _ZstdStream(io.RawIOBase):
    """The decompressed bytes of a .zst file, as the standard library's streams offer them."""

    def __init__(self, path: Path, raw: BinaryIO) -> None:
        pyarrow = require("pyarrow", extra="data", purpose=f"{path}: reading .zst")
        self._path = path
        self._stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, mode="r"), "zstd")

    def readable(self) -> bool:
        """Say that this stream can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with the next bytes."""
        try:
            # Not read(), which loses its memory when the data is damaged.
            return int(self._stream.readinto(buffer))
        except OSError as error:
            raise DataError(
                f"{self._path}: damaged or incomplete .zst data; copy the file again"
            ) from error
