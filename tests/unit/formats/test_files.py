"""Decompression and size limits of input files."""

import errno
import gzip
import lzma
import os
import zlib
from pathlib import Path

import pytest

from readagain.errors import DataError
from readagain.formats.files import open_bytes, plain_name, walk_files

CONTENT = b"one line\nanother line\n" * 1000


def test_plain_name_has_no_compression_suffix(tmp_path):
    names = ["Train.JSONL.xz", "a.csv.gz", "b.txt.zst", "c.json"]
    plain = [plain_name(tmp_path / name) for name in names]
    assert plain == ["train.jsonl", "a.csv", "b.txt", "c.json"]


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), ("", bytes)]
)
def test_compressed_files_are_read(tmp_path, suffix, compress):
    path = tmp_path / f"lines{suffix}"
    path.write_bytes(compress(CONTENT))
    with open_bytes(path) as (stream, raw):
        assert stream.read() == CONTENT
        assert raw.tell() == path.stat().st_size


@pytest.mark.needs_extras
def test_zst_file_is_read(tmp_path):
    import pyarrow

    path = tmp_path / "lines.zst"
    path.write_bytes(pyarrow.Codec("zstd").compress(CONTENT, asbytes=True))
    with open_bytes(path) as (stream, _):
        assert stream.readline() == b"one line\n"
        assert len(stream.read()) == len(CONTENT) - len(b"one line\n")


@pytest.mark.needs_extras
def test_damaged_zst_is_rejected(tmp_path):
    import pyarrow

    path = tmp_path / "lines.zst"
    path.write_bytes(b"damaged" + pyarrow.Codec("zstd").compress(CONTENT, asbytes=True))
    with (
        pytest.raises(DataError, match=r"lines\.zst: damaged \.zst data"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_truncated_compressed_file_is_rejected(tmp_path, suffix, compress):
    path = tmp_path / f"half{suffix}"
    path.write_bytes(compress(CONTENT)[:-20])
    with (
        pytest.raises(DataError, match=rf"half\{suffix}: the compressed data is cut short"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_wrong_compression_suffix_is_rejected(tmp_path, suffix):
    path = tmp_path / f"plain{suffix}"
    path.write_bytes(CONTENT)
    with (
        pytest.raises(DataError, match=rf"plain\{suffix}: damaged {suffix} data"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


def test_missing_file_and_folder_have_different_messages(tmp_path):
    with pytest.raises(DataError, match="absent: no such file"), open_bytes(tmp_path / "absent"):
        pass
    with pytest.raises(DataError, match="a folder; expected a file"), open_bytes(tmp_path):
        pass


@pytest.mark.parametrize("padding", [0, 4, 2 << 20])
def test_concatenated_streams_are_read(tmp_path, padding):
    path = tmp_path / "lines.xz"
    path.write_bytes((lzma.compress(CONTENT) + bytes(padding)) * 3)
    with open_bytes(path) as (stream, _):
        assert stream.read() == CONTENT * 3


def test_old_lzma_file_is_read(tmp_path):
    path = tmp_path / "lines.xz"
    path.write_bytes(lzma.compress(CONTENT, lzma.FORMAT_ALONE))
    with open_bytes(path) as (stream, _):
        assert stream.read() == CONTENT


def test_xz_memory_limit_is_enforced(tmp_path):
    content = bytearray(lzma.compress(CONTENT))
    header = content[12 : 12 + (content[12] + 1) * 4]  # after the stream header of twelve bytes
    assert header[2:4] == b"\x21\x01"  # LZMA2, with one byte for the size of the dictionary
    header[4] = 40  # means 4 GiB
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    content[12 : 12 + len(header)] = header
    path = tmp_path / "lines.xz"
    path.write_bytes(content)
    with (
        pytest.raises(DataError, match=r"lines\.xz: needs too much memory for decompression"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


def test_folder_that_cannot_be_read_is_not_skipped(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "afp_eng_199405.xml").write_text("")
    assert list(walk_files(tmp_path)) == [tmp_path / "b" / "afp_eng_199405.xml"]

    def scandir(path, scan=os.scandir):
        if Path(path).name == "a":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(DataError, match=r"/a: cannot be read: Permission denied"):
        list(walk_files(tmp_path))


def test_too_many_folders_are_not_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr("readagain.formats.files.MAX_FOLDERS", 2)
    (tmp_path / "a").mkdir()
    assert list(walk_files(tmp_path)) == []
    (tmp_path / "b").mkdir()
    with pytest.raises(DataError, match="contains more than 2 folders; choose a folder nearer"):
        list(walk_files(tmp_path))
