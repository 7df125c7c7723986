import gzip
import lzma
import zlib

import pytest

from readagain.errors import DataError
from readagain.formats.files import open_bytes, plain_name

CONTENT = b"one line\nanother line\n" * 1000


def test_the_compression_suffix_is_not_part_of_the_plain_name(tmp_path):
    names = ["Train.JSONL.xz", "a.csv.gz", "b.txt.zst", "c.json"]
    plain = [plain_name(tmp_path / name) for name in names]
    assert plain == ["train.jsonl", "a.csv", "b.txt", "c.json"]


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), ("", bytes)]
)
def test_what_was_compressed_is_read_back(tmp_path, suffix, compress):
    path = tmp_path / f"lines{suffix}"
    path.write_bytes(compress(CONTENT))
    with open_bytes(path) as (stream, raw):
        assert stream.read() == CONTENT
        assert raw.tell() == path.stat().st_size


@pytest.mark.needs_extras
def test_zst_is_read_through_pyarrow(tmp_path):
    import pyarrow

    path = tmp_path / "lines.zst"
    path.write_bytes(pyarrow.Codec("zstd").compress(CONTENT, asbytes=True))
    with open_bytes(path) as (stream, _):
        assert stream.readline() == b"one line\n"
        assert len(stream.read()) == len(CONTENT) - len(b"one line\n")


@pytest.mark.needs_extras
def test_a_damaged_zst_is_named(tmp_path):
    import pyarrow

    path = tmp_path / "lines.zst"
    path.write_bytes(b"damaged" + pyarrow.Codec("zstd").compress(CONTENT, asbytes=True))
    with (
        pytest.raises(DataError, match=r"lines\.zst: damaged or incomplete \.zst data"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_compressed_file_that_stops_in_the_middle_is_named(tmp_path, suffix, compress):
    path = tmp_path / f"half{suffix}"
    path.write_bytes(compress(CONTENT)[:-20])
    with (
        pytest.raises(DataError, match=rf"half\{suffix}: the compressed data is cut short"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_file_that_is_not_compressed_as_its_name_says_is_named(tmp_path, suffix):
    path = tmp_path / f"plain{suffix}"
    path.write_bytes(CONTENT)
    with (
        pytest.raises(DataError, match=rf"plain\{suffix}: damaged {suffix} data"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(DataError, match="absent: no such file"), open_bytes(tmp_path / "absent"):
        pass
    with pytest.raises(DataError, match="a folder; expected a file"), open_bytes(tmp_path):
        pass


@pytest.mark.parametrize("padding", [0, 4, 2 << 20])
def test_streams_that_follow_one_another_are_read_as_one(tmp_path, padding):
    path = tmp_path / "lines.xz"
    path.write_bytes((lzma.compress(CONTENT) + bytes(padding)) * 3)
    with open_bytes(path) as (stream, _):
        assert stream.read() == CONTENT * 3


def test_an_old_lzma_file_is_read(tmp_path):
    path = tmp_path / "lines.xz"
    path.write_bytes(lzma.compress(CONTENT, lzma.FORMAT_ALONE))
    with open_bytes(path) as (stream, _):
        assert stream.read() == CONTENT


def test_a_file_that_asks_for_gigabytes_is_refused_before_they_are_taken(tmp_path):
    content = bytearray(lzma.compress(CONTENT))
    header = content[12 : 12 + (content[12] + 1) * 4]  # behind the twelve bytes of the stream's own
    assert header[2:4] == b"\x21\x01"  # LZMA2, with one byte that stands for the dictionary
    header[4] = 40  # 4 GiB
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    content[12 : 12 + len(header)] = header
    path = tmp_path / "lines.xz"
    path.write_bytes(content)
    with (
        pytest.raises(DataError, match=r"lines\.xz: needs too much memory for decompression"),
        open_bytes(path) as (stream, _),
    ):
        stream.read()
