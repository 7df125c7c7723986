"""Sizes of the pages of Parquet files."""

import pytest

from readagain.formats import parquet_pages
from readagain.formats.parquet_pages import ChunkSizes, read_chunk_sizes

# Types of Thrift's compact protocol. A field starts with a byte that contains the difference to the
# id of the field before it, times 16, and the type.
I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 5, 6, 7, 8, 9, 10, 11, 12
END = 0


def signed(number):
    """Return a signed number in three bytes: 0, -1, 1, -2 and so on are 0, 1, 2, 3."""
    return unsigned(2 * number if number >= 0 else -2 * number - 1)


def unsigned(number):
    """Return a number in three groups of seven bits, the lowest first; the last is below 128."""
    return [number & 127 | 128, number >> 7 & 127 | 128, number >> 14]


def page(num_values, uncompressed_bytes, *, content=b"", type=0, statistics=b"", **replaced):
    """Return a data page (type 0: field 5, type 3: field 8) or a dictionary page (type 2)."""
    sizes = {"compressed_bytes": len(content), "page_type": type} | replaced
    part = {0: 5, 2: 7, 3: 8}[type]
    return bytes(
        [
            *[0x10 | I32, *signed(sizes["page_type"])],
            *[0x10 | I32, *signed(uncompressed_bytes)],
            *[0x10 | I32, *signed(sizes["compressed_bytes"])],
            *[(part - 3) << 4 | STRUCT, 0x10 | I32, *signed(num_values)],
            *[0x10 | BINARY, *unsigned(len(statistics)), *statistics],
            *[END, END, *content],
        ]
    )


PAGE = page(7, 100, content=b"abc")
START = 4  # the pages follow PAR1


def chunk(num_values, num_bytes, offset=START, dictionary_offset=0, *, before=(), after=()):
    """Return a column chunk, with other fields before and after its metadata (field 3)."""
    metadata = [0x50 | I64, *signed(num_values), 0x20 | I64, *signed(num_bytes)]
    metadata += [0x20 | I64, *signed(offset), 0x20 | I64, *signed(dictionary_offset), END]
    header = (0x20 if before else 0x30) | STRUCT
    return bytes([*before, header, *metadata, *after, END])


def row_group(*chunks):
    """Return metadata with a row group (field 4) that has column chunks (field 1)."""
    header = [0x40 | LIST, 0x10 | STRUCT, 0x10 | LIST, len(chunks) << 4 | STRUCT]
    return bytes(header) + b"".join(chunks) + bytes([END, END])


def read_sizes(folder, metadata, pages=PAGE):
    path = folder / "a.parquet"
    length = len(metadata).to_bytes(4, "little")
    path.write_bytes(b"PAR1" + pages + metadata + length + b"PAR1")
    return read_chunk_sizes(path)


@pytest.mark.needs_extras
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_sizes_equal_those_of_pyarrow(tmp_path, version, compression):
    import pyarrow
    from pyarrow.parquet import ParquetFile, write_table

    columns = {
        "text": ["a storm came"] * 40 + ["x" * 9_000] * 10,
        "tags": [["a", "b"], None] * 25,
        "n": [0.5] * 50,
    }
    path = tmp_path / "a.parquet"
    write_table(
        pyarrow.table(columns),
        path,
        row_group_size=20,
        data_page_version=version,
        data_page_size=100,
        write_batch_size=5,
        compression=compression,
        write_statistics=True,
    )
    metadata = ParquetFile(path).metadata
    groups = read_chunk_sizes(path)
    assert len(groups) == metadata.num_row_groups == 3
    for index, group in enumerate(groups):
        for number, sizes in enumerate(group):
            expected = metadata.row_group(index).column(number)
            assert sizes.num_values == expected.num_values
            # pyarrow also counts the headers of the pages.
            num_header_bytes = expected.total_uncompressed_size - sizes.uncompressed_bytes
            assert 0 < num_header_bytes < 200 * 5


def test_pages_of_a_chunk_are_added_up(tmp_path):
    pages = page(90, 30, type=2) + page(7, 100, content=b"abc") + page(5, 20, type=3)
    metadata = row_group(chunk(12, len(pages)))
    assert read_sizes(tmp_path, metadata, pages) == [[ChunkSizes(12, 150)]]


def test_chunk_starts_with_its_dictionary(tmp_path):
    pages = page(90, 30, type=2) + PAGE
    for offset, dictionary_offset in [(len(pages) - len(PAGE) + START, START), (START, 99)]:
        metadata = row_group(chunk(7, len(pages), offset, dictionary_offset))
        assert read_sizes(tmp_path, metadata, pages) == [[ChunkSizes(7, 130)]]


def test_sizes_of_pages_count_rather_than_the_metadata(tmp_path):
    pages = PAGE + page(5_000, 6_000)
    metadata = row_group(chunk(1, len(pages)))
    assert read_sizes(tmp_path, metadata, pages) == [[ChunkSizes(5_007, 6_100)]]


def test_long_header_of_a_page_is_read(tmp_path):
    pages = page(7, 100, statistics=b"x" * 10_000)
    assert read_sizes(tmp_path, row_group(chunk(7, len(pages))), pages) == [[ChunkSizes(7, 100)]]


def test_empty_chunk_may_have_any_offset(tmp_path):
    metadata = row_group(chunk(0, len(PAGE), offset=0, dictionary_offset=START))
    assert read_sizes(tmp_path, metadata) == [[ChunkSizes(0, 0)]]


def test_header_of_a_page_is_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_pages, "_MAX_HEADER_BYTES", 8_192)
    pages = page(7, 100, statistics=b"x" * 10_000, content=b"x" * 10_000)
    with pytest.raises(ValueError, match="metadata that is cut short"):
        read_sizes(tmp_path, row_group(chunk(7, len(pages))), pages)


def test_encrypted_chunk_has_no_sizes(tmp_path):
    encrypted = chunk(7, 5_000, after=[0x50 | STRUCT, END])
    metadata = row_group(chunk(7, len(PAGE)), encrypted)
    with pytest.raises(ValueError, match="larger than the file"):
        read_sizes(tmp_path, metadata)
    encrypted = chunk(7, 5, after=[0x50 | STRUCT, END])
    metadata = row_group(chunk(7, len(PAGE)), encrypted)
    assert read_sizes(tmp_path, metadata) == [[ChunkSizes(7, 100), ChunkSizes(0, 0)]]


@pytest.mark.parametrize(
    "metadata",
    [bytes(1), bytes([0x40 | LIST, STRUCT, END]), bytes([0x40 | LIST, 0, END])],
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
    metadata = row_group(chunk(7, len(PAGE), before=[*header, *content]))
    assert read_sizes(tmp_path, metadata) == [[ChunkSizes(7, 100)]]


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (row_group(bytes([END])), "a size is missing or negative"),
        (row_group(chunk(-1, len(PAGE))), "a size is missing or negative"),
        (row_group(chunk(7, -1)), "a size is missing or negative"),
        (row_group(chunk(7, len(PAGE), -1)), "a size is missing or negative"),
        (row_group(chunk(7, len(PAGE), 9_000)), "metadata that is cut short"),
        (row_group(chunk(8, len(PAGE))), "a column chunk with too few values"),
        (row_group(chunk(1, 0)), "a column chunk with too few values"),
        (row_group(*[chunk(7, len(PAGE))] * 9), "column chunks that are larger than the file"),
        (bytes([0x40 | LIST, 0x10 | I32, 0, END]), "a list of other values than structures"),
        (bytes([0x10 | 15, 0, END]), "a value of unknown type 15"),
        (bytes([0x10 | I32, *b"\xff" * 10, END]), "a number of more than ten bytes"),
        (bytes([0x10 | STRUCT] * 100), "metadata with too many levels"),
        (bytes([0x10 | LIST] * 100), "metadata with too many levels"),
    ],
    ids=[
        *["no metadata", "values", "bytes", "offset", "large offset", "too few values"],
        *["no pages", "too large", "list", "type", "number", "structures", "lists"],
    ],
)
def test_damaged_metadata_is_rejected(tmp_path, metadata, reason):
    with pytest.raises(ValueError, match=reason):
        read_sizes(tmp_path, metadata)


def test_number_beyond_its_type_is_rejected(tmp_path):
    # pyarrow reads 2 ** 64 + 4 as 4, and 2 ** 32 + 3 as 3.
    offset = [0x20 | I64, *signed(START)]
    large_offset = [0x20 | I64, 0x88, *[0x80] * 8, 4]
    metadata = row_group(chunk(7, len(PAGE)))
    assert metadata.count(bytes(offset)) == 1
    metadata = metadata.replace(bytes(offset), bytes(large_offset))
    with pytest.raises(ValueError, match="a number out of range"):
        read_sizes(tmp_path, metadata)

    num_bytes = [0x10 | I32, *signed(3)]
    large_num_bytes = [0x10 | I32, 0x86, *[0x80] * 3, 0x20]
    assert PAGE.count(bytes(num_bytes)) == 1
    pages = PAGE.replace(bytes(num_bytes), bytes(large_num_bytes))
    with pytest.raises(ValueError, match="a number out of range"):
        read_sizes(tmp_path, row_group(chunk(7, len(pages))), pages)


@pytest.mark.parametrize("id", [2**16 + 4, 4 - 2**16, 2**15, 0])
def test_field_id_out_of_range_is_rejected(tmp_path, id):
    # pyarrow reads the first two ids as 4, the row groups.
    metadata = row_group(chunk(7, len(PAGE)))
    metadata = bytes([LIST, *signed(id)]) + metadata[1:]
    with pytest.raises(ValueError, match="a field id out of range"):
        read_sizes(tmp_path, metadata)


def test_field_ids_may_not_add_up_to_more_than_16_bits(tmp_path):
    skipped = bytes([LIST, *signed(2**15 - 1), 0])
    with pytest.raises(ValueError, match="a field id out of range"):
        read_sizes(tmp_path, skipped + row_group(chunk(7, len(PAGE))))


def test_repeated_field_is_rejected(tmp_path):
    # pyarrow keeps the dictionary offset of the first metadata, if the second has none.
    metadata = row_group(chunk(7, len(PAGE), after=[STRUCT, *signed(3), END]))
    with pytest.raises(ValueError, match="a repeated field"):
        read_sizes(tmp_path, metadata)


@pytest.mark.parametrize(
    "damaged",
    [page(-1, 100), page(7, -1), page(7, 100, compressed_bytes=-1), page(7, 1, page_type=3)],
    ids=["values", "bytes", "compressed bytes", "type"],
)
def test_damaged_page_is_rejected(tmp_path, damaged):
    with pytest.raises(ValueError, match="a size is missing or negative"):
        read_sizes(tmp_path, row_group(chunk(7, len(damaged))), damaged)


def test_truncated_metadata_is_rejected(tmp_path):
    metadata = row_group(chunk(7, len(PAGE)))
    for length in range(len(metadata)):
        with pytest.raises(ValueError, match="metadata that is cut short"):
            read_sizes(tmp_path, metadata[:length])
