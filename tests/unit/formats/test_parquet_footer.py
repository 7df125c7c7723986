"""Sizes in the footers of Parquet files."""

import pytest

from readagain.formats.parquet_footer import ChunkSizes, read_chunk_sizes

# Types of Thrift's compact protocol. A field starts with a byte that contains the difference to the
# id of the field before it, times 16, and the type.
I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 5, 6, 7, 8, 9, 10, 11, 12
# Column chunk (field 3 of it) with seven values (field 5) and 100 bytes (field 6); as in all
# signed numbers, the value is doubled.
CHUNK = bytes([0x30 | STRUCT, 0x50 | I64, 14, 0x10 | I64, 0xC8, 1, 0, 0])


def one_chunk(chunk):
    """Return metadata with a row group (field 4) that has one column chunk (field 1)."""
    return bytes([0x40 | LIST, 0x10 | STRUCT, 0x10 | LIST, 0x10 | STRUCT, *chunk, 0, 0])


def read_sizes(folder, metadata):
    path = folder / "a.parquet"
    path.write_bytes(b"PAR1" + metadata + len(metadata).to_bytes(4, "little") + b"PAR1")
    return read_chunk_sizes(path)


@pytest.mark.needs_extras
def test_sizes_equal_those_of_pyarrow(tmp_path):
    import pyarrow
    from pyarrow.parquet import ParquetFile, write_table

    columns = {"text": ["a storm came"] * 50, "tags": [["a", "b"], None] * 25, "n": [0.5] * 50}
    path = tmp_path / "a.parquet"
    write_table(pyarrow.table(columns), path, row_group_size=2)
    metadata = ParquetFile(path).metadata
    groups = [metadata.row_group(index) for index in range(25)]
    assert read_chunk_sizes(path) == [
        [
            ChunkSizes(chunk.num_values, chunk.total_uncompressed_size)
            for chunk in map(group.column, range(3))
        ]
        for group in groups
    ]


def test_sizes_of_a_chunk_are_read(tmp_path):
    assert read_sizes(tmp_path, one_chunk(CHUNK)) == [[ChunkSizes(7, 100)]]


@pytest.mark.parametrize(
    "metadata",
    [bytes(1), bytes([0x40 | LIST, STRUCT, 0]), bytes([0x40 | LIST, 0, 0])],
    ids=["no list", "empty list", "empty list without type"],
)
def test_file_without_row_groups_has_no_sizes(tmp_path, metadata):
    assert read_sizes(tmp_path, metadata) == []


@pytest.mark.parametrize(
    "value",
    [
        [1],  # true, which has no further bytes
        [2],
        [3, 255],
        [I32, 0x80, 0x80, 1],
        [DOUBLE, *bytes(8)],
        [BINARY, 0x80, 1, *b"x" * 128],
        [LIST, 0xF0 | I32, 16, *b"x" * 16],
        [SET, 0x20 | 1, 1, 2],
        [LIST, 0x10 | STRUCT, 0x10 | STRUCT, 0, 0],
        [MAP, 0],
        [MAP, 2, BINARY << 4 | I32, 1, 65, 5, 0, 5],
    ],
)
@pytest.mark.parametrize("has_long_header", [False, True])
def test_other_values_are_skipped(tmp_path, value, has_long_header):
    # A field of the chunk, once with the difference of the ids in the first byte, once with the id
    # in the second.
    type, *content = value
    header = [type, 2] if has_long_header else [0x10 | type]
    field = bytes([*header, *content])
    chunk = field + bytes([CHUNK[0] - 0x10]) + CHUNK[1:]
    assert read_sizes(tmp_path, one_chunk(chunk)) == [[ChunkSizes(7, 100)]]


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (one_chunk(bytes(1)), "a column chunk without a valid size"),
        (one_chunk(CHUNK[:2] + bytes([13]) + CHUNK[3:]), "a column chunk without a valid size"),
        (one_chunk(CHUNK[:4] + bytes([1, 0, 0])), "a column chunk without a valid size"),
        (bytes([0x40 | LIST, 0x10 | I32, 0, 0]), "a list of other values than structures"),
        (bytes([0x10 | 15, 0, 0]), "a value of unknown type 15"),
        (bytes([0x10 | I32, *b"\xff" * 10, 0]), "a number of more than ten bytes"),
        (bytes([0x10 | STRUCT] * 100), "metadata with too many levels"),
        (bytes([0x10 | LIST] * 100), "metadata with too many levels"),
    ],
    ids=[
        "no size",
        "negative values",
        "negative bytes",
        "list",
        "type",
        "number",
        "structures",
        "lists",
    ],
)
def test_damaged_metadata_is_rejected(tmp_path, metadata, reason):
    with pytest.raises(ValueError, match=reason):
        read_sizes(tmp_path, metadata)


def test_truncated_metadata_is_rejected(tmp_path):
    metadata = one_chunk(CHUNK)
    for length in range(len(metadata)):
        with pytest.raises(IndexError):
            read_sizes(tmp_path, metadata[:length])
