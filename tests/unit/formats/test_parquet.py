"""Records of Parquet files."""

import subprocess
import sys

import pytest
from corpus_records import read_records

from readagain.corpus.inputs import Example
from readagain.errors import DataError
from readagain.formats import parquet
from readagain.formats.parquet_pages import ChunkSizes
from readagain.formats.records import InvalidRecord, Record

pytestmark = pytest.mark.needs_extras


@pytest.fixture
def table(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    columns = {
        "id": list(range(5)),
        "document": [f"Storm number {n} came." for n in range(4)] + [None],
        "summary": [f"Storm {n}" for n in range(5)],
    }
    write_table(pyarrow.table(columns), path, row_group_size=3)
    return path


def test_all_row_groups_are_read_in_order(table, monkeypatch):
    monkeypatch.setattr(parquet, "BLOCK_RECORDS", 2)
    examples = read_records(table)
    assert examples[:2] == [
        Example("Storm number 0 came.", "Storm 0"),
        Example("Storm number 1 came.", "Storm 1"),
    ]
    assert examples[4] == Example("", "Storm 4")
    assert len(examples) == 5


@pytest.mark.parametrize("num_rows", [0, 1, 5])
def test_table_of_any_size_is_read(tmp_path, num_rows):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    schema = pyarrow.schema({"text": pyarrow.string(), "n": pyarrow.int64()})
    rows = [{"text": f"Storm number {n} came.", "n": n} for n in range(num_rows)]
    # With `row_group_size`, an empty table has a row group.
    write_table(pyarrow.Table.from_pylist(rows, schema), path, row_group_size=2)
    blocks = parquet.read_blocks(path, "utf-8")
    assert [row for block in blocks for row in block.payload.to_pylist()] == rows


@pytest.mark.parametrize(
    ("value", "is_map"),
    [(["a", "b"], False), ({"name": "a"}, False), ([("name", "a")], True)],
    ids=["list", "structure", "map"],
)
def test_nested_strings_of_several_row_groups_are_read(tmp_path, value, is_map):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    rows = [{"text": f"Storm number {n} came.", "other": value} for n in range(5)]
    string = pyarrow.string()
    type = pyarrow.map_(string, string) if is_map else pyarrow.infer_type([value])
    schema = pyarrow.schema({"text": string, "other": type})
    write_table(pyarrow.Table.from_pylist(rows, schema), path, row_group_size=2)
    blocks = list(parquet.read_blocks(path, "utf-8"))
    assert [row for block in blocks for row in block.payload.to_pylist()] == rows
    assert [block.first for block in blocks] == [1, 3, 5]


def test_column_without_strings_is_rejected(table):
    bad = read_records(table, headline_column="id")[0]
    assert (bad.where, bad.content["id"]) == (f"{table}:1", 0)
    assert bad.reason == "a whole number under 'id'; expected a string"


def test_truncated_parquet_is_rejected(table):
    table.write_bytes(table.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"a\.parquet: damaged or incomplete Parquet file"):
        read_records(table)


def test_html_named_parquet_is_rejected(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_text("<html>please log in</html>")
    with pytest.raises(DataError, match=r"a\.parquet: not a Parquet file, which starts with PAR1"):
        read_records(path)


def test_invalid_string_makes_one_row_invalid(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    texts = pyarrow.array([b"fine", b"caf\xe9", b"fine too"])
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 3, texts.buffers())
    path = tmp_path / "a.parquet"
    write_table(pyarrow.table({"text": texts, "headline": ["a", "b", "c"]}), path)
    first, bad, last = read_records(path)
    assert (first, last) == (Example("fine", "a"), Example("fine too", "c"))
    assert bad.where == f"{path}:2"
    assert "invalid value: 'utf-8' codec can't decode byte 0xe9" in bad.reason
    assert "\udce9" in "".join(bad.content.values())


@pytest.mark.parametrize("is_nested", [False, True])
def test_dictionary_bomb_is_split_or_invalid(tmp_path, is_nested):
    import pyarrow
    from pyarrow.parquet import write_table

    def repeated(value, times):
        indices = pyarrow.array([0] * times, pyarrow.int32())
        return pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([value]))

    path = tmp_path / "bomb.parquet"
    texts = repeated("x" * (6 << 20), 5)
    column = pyarrow.ListArray.from_arrays([0, 1, 5], texts) if is_nested else texts
    write_table(pyarrow.table({"text": column}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 4000
    blocks = list(parquet.read_blocks(path, "utf-8"))
    if is_nested:
        small, large = blocks  # the second row decodes to 24 MiB
        assert (small.payload.num_rows, large.payload.num_rows) == (1, 0)
        (record,) = parquet.parse_block(large, path, "utf-8")
        assert record == InvalidRecord(f"{path}:2", parquet.TOO_LARGE)
    else:
        assert [block.payload.num_rows for block in blocks] == [2, 1, 2]
        assert [block.first for block in blocks] == [1, 3, 4]
        assert all(block.payload.nbytes <= parquet.BLOCK_BYTES for block in blocks)


@pytest.mark.parametrize("kind", ["list", "dictionary", "plain", "fixed", "fixed dictionary"])
def test_large_file_is_refused_by_its_metadata(tmp_path, monkeypatch, kind):
    import pyarrow
    from pyarrow.parquet import ParquetFile, write_table

    size = 20 << 20
    text = pyarrow.array(["A storm came."])
    match kind:
        case "list":
            zeros = pyarrow.array([0]).take(pyarrow.array([0] * (size // 8)))
            column = pyarrow.ListArray.from_arrays([0, len(zeros)], zeros)
        case "dictionary" | "plain":
            column = pyarrow.array(["x" * size])
        case _:
            text = text.take(pyarrow.array([0] * 20))
            column = pyarrow.array([b"x" * (size // 20)] * 20, pyarrow.binary(size // 20))
    write_table(
        pyarrow.table({"text": text, "other": column}),
        tmp_path / "a.parquet",
        compression="zstd",
        use_dictionary=kind in ("list", "dictionary", "fixed dictionary"),
        dictionary_pagesize_limit=2 * size,
        write_statistics=False,
        store_schema=False,
    )
    monkeypatch.setattr(ParquetFile, "iter_batches", None)  # refused before anything is read
    with pytest.raises(DataError, match=r"a\.parquet: expands to more than 100 times its size"):
        parquet.column_names(tmp_path / "a.parquet", "utf-8")


def test_blocks_of_many_columns_have_fewer_rows(tmp_path, monkeypatch):
    import pyarrow
    from pyarrow.parquet import write_table

    monkeypatch.setattr(parquet, "MAX_BLOCK_VALUES", 12)
    path = tmp_path / "a.parquet"
    columns = {name: pyarrow.nulls(10, pyarrow.string()) for name in "abc"}
    write_table(pyarrow.table(columns), path)
    blocks = list(parquet.read_blocks(path, "utf-8"))
    assert [block.payload.num_rows for block in blocks] == [4, 4, 2]


def test_number_of_columns_is_limited(tmp_path, monkeypatch):
    import pyarrow
    from pyarrow.parquet import write_table

    monkeypatch.setattr(parquet, "MAX_COLUMNS", 3)
    path = tmp_path / "a.parquet"
    write_table(pyarrow.table({name: ["A storm came."] for name in "abc"}), path)
    assert parquet.column_names(path, "utf-8") == ["a", "b", "c"]
    write_table(pyarrow.table({"a": [{name: "A storm came." for name in "abcd"}]}), path)
    with pytest.raises(DataError, match=r"a\.parquet: more than 3 columns; keep only those that"):
        parquet.column_names(path, "utf-8")


# Definitions of the column `text` in the schema: a string (6, doubled) that may be missing (1).
TEXT_FIELD = b"\x15\x0c\x25\x02\x18\x04text"
READ_IN_PROCESS = """
import sys
from pathlib import Path
from readagain.errors import DataError
from readagain.formats.parquet import read_blocks
try:
    list(read_blocks(Path(sys.argv[1]), "utf-8"))
except DataError as error:
    print(error)
"""


def read_in_process(path):
    """Return the error message of a process that reads a Parquet file.

    For some metadata pyarrow throws C++ exceptions, which abort the process.
    """
    process = subprocess.run(
        [sys.executable, "-c", READ_IN_PROCESS, path], capture_output=True, text=True
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


@pytest.mark.distributed
@pytest.mark.parametrize(
    ("damaged_field", "reason"),
    [
        # A column whose values may not be missing has no histogram of missing values.
        (TEXT_FIELD.replace(b"\x25\x02", b"\x25\x00"), "Definition level histogram size mismatch"),
        # A column of booleans has no size of its strings.
        (TEXT_FIELD.replace(b"\x15\x0c", b"\x15\x00"), "does not support BOOLEAN"),
    ],
    ids=["histogram", "booleans"],
)
def test_damaged_metadata_does_not_abort(tmp_path, damaged_field, reason):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    write_table(pyarrow.table({"text": ["A storm came.", None]}), path, store_schema=False)
    content = path.read_bytes()
    assert content.count(TEXT_FIELD) == 1
    path.write_bytes(content.replace(TEXT_FIELD, damaged_field))
    message = read_in_process(path)
    assert message.startswith(f"{path}: damaged or incomplete Parquet file (")
    assert reason in message


def test_unsupported_encoding_is_not_called_damaged(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    encoding = {"text": "DELTA_BYTE_ARRAY"}
    table = pyarrow.table({"text": ["A storm came."]})
    write_table(table, path, use_dictionary=False, column_encoding=encoding)
    with pytest.raises(
        DataError, match=r"a\.parquet: not supported .*Delta.*; convert it to JSONL"
    ):
        list(parquet.read_blocks(path, "utf-8"))


@pytest.mark.parametrize(
    "kind", ["string", "binary", "list", "large list", "fixed-size list", "structure", "map"]
)
def test_string_views_are_read(tmp_path, kind):
    import pyarrow
    from pyarrow.parquet import write_table

    view = pyarrow.string_view()
    value, type = {
        "string": ("A storm came.", view),
        "binary": (b"A storm came.", pyarrow.binary_view()),
        "list": (["storm", None], pyarrow.list_(view)),
        "large list": (["storm", None], pyarrow.large_list(view)),
        "fixed-size list": (["storm", "calm"], pyarrow.list_(view, 2)),
        "structure": ({"name": "storm", "n": 3}, pyarrow.struct({"name": view, "n": "int8"})),
        "map": ([("name", "storm")], pyarrow.map_(view, view)),
    }[kind]
    path = tmp_path / "a.parquet"
    write_table(pyarrow.table({"text": pyarrow.array([value, None], type)}), path)
    (block,) = parquet.read_blocks(path, "utf-8")
    assert block.payload.to_pylist() == [{"text": value}, {"text": None}]


def test_list_views_are_not_called_damaged(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    texts = pyarrow.array([["A storm came."]], pyarrow.list_view(pyarrow.string()))
    write_table(pyarrow.table({"text": texts}), path)
    with pytest.raises(DataError, match=r"a\.parquet: not supported by the Parquet reader"):
        list(parquet.read_blocks(path, "utf-8"))


def test_unknown_time_zone_makes_its_rows_invalid(tmp_path):
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "a.parquet"
    dates = pyarrow.array([0, None], pyarrow.timestamp("ms", "Europe/Tarn"))
    write_table(pyarrow.table({"text": ["A storm came.", "It left."], "date": dates}), path)
    (block,) = parquet.read_blocks(path, "utf-8")
    bad, record = parquet.parse_block(block, path, "utf-8")
    assert (bad.where, bad.content) == (f"{path}:1", {"text": "A storm came.", "date": None})
    assert bad.reason == "invalid value: unknown time zone 'Europe/Tarn'"
    assert record == Record(2, {"text": "It left.", "date": None})


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([[ChunkSizes(5, 100)]] * 2, "a row group without all columns"),
        ([], "another number of row groups than pyarrow reads"),
    ],
)
def test_other_row_groups_than_those_of_pyarrow_are_rejected(table, monkeypatch, groups, problem):
    monkeypatch.setattr(parquet, "read_chunk_sizes", lambda path: groups)
    with pytest.raises(DataError, match=rf"damaged .* \({problem}\); copy it"):
        parquet.column_names(table, "utf-8")


@pytest.mark.distributed
@pytest.mark.parametrize("has_plain_footer", [False, True])
def test_encrypted_column_does_not_abort(tmp_path, has_plain_footer):
    import pyarrow
    from pyarrow.parquet import ParquetWriter
    from pyarrow.parquet import encryption as pe

    class KeyStore(pe.KmsClient):
        def wrap_key(self, key, name):
            return key.hex()

    path = tmp_path / "a.parquet"
    table = pyarrow.table({"text": ["A storm came."], "headline": ["Storm"]})
    keys = pe.EncryptionConfiguration(
        footer_key="a",
        column_keys={"b": ["text"]},
        plaintext_footer=has_plain_footer,
        double_wrapping=False,
    )
    factory = pe.CryptoFactory(lambda _: KeyStore())
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), keys)
    with ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    message = read_in_process(path)
    assert message == f"{path}: an encrypted Parquet file; decrypt it first\n"
    if has_plain_footer:  # the other columns can be read
        (block,) = parquet.read_blocks(path, "utf-8", columns=["headline"])
        assert block.payload.to_pylist() == [{"headline": "Storm"}]


def test_sizes_in_the_metadata_are_not_trusted(tmp_path, monkeypatch):
    import pyarrow
    from pyarrow.parquet import ParquetFile, write_table

    path = tmp_path / "a.parquet"
    column = pyarrow.array([[0] * 2_500_000], pyarrow.list_(pyarrow.int8()))
    table = pyarrow.table({"text": ["A storm came."], "other": column})
    write_table(table, path, write_statistics=False, store_schema=False)
    # The number of values, doubled, in groups of seven bits. It becomes 1, in as many bytes.
    content, number = path.read_bytes(), bytes([0x16, 0xC0, 0x96, 0xB1, 0x02])
    assert content.count(number) == 1
    path.write_bytes(content.replace(number, bytes([0x16, 0x82, 0x80, 0x80, 0x00])))
    monkeypatch.setattr(ParquetFile, "iter_batches", None)  # refused before anything is read
    with pytest.raises(DataError, match=r"a\.parquet: expands to more than 100 times its size"):
        parquet.column_names(path, "utf-8")


def test_file_that_requests_too_much_memory_is_rejected(table, monkeypatch):
    from pyarrow.lib import ArrowMemoryError
    from pyarrow.parquet import ParquetFile

    def allocate(*arguments, **options):
        raise ArrowMemoryError("malloc of size 7482392704 failed")

    monkeypatch.setattr(ParquetFile, "iter_batches", allocate)
    with pytest.raises(DataError, match=r"damaged or incomplete Parquet file \(malloc of size"):
        list(parquet.read_blocks(table, "utf-8"))


def test_index_outside_its_dictionary_is_rejected(table, monkeypatch):
    import pyarrow
    from pyarrow.parquet import ParquetFile

    indices = pyarrow.array([5], pyarrow.int32())
    damaged = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array(["a"]), safe=False)
    batch = pyarrow.RecordBatch.from_arrays([damaged], names=["summary"])
    monkeypatch.setattr(ParquetFile, "iter_batches", lambda *_, **__: iter([batch]))
    with pytest.raises(DataError, match="damaged or incomplete Parquet file .*out of bounds"):
        list(parquet.read_blocks(table, "utf-8", columns=["summary"]))
