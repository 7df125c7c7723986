"""Splitting of inputs into shards."""

import gzip
import pickle

import pytest

from readagain.batch import shards
from readagain.batch.shards import split_into_shards
from readagain.errors import DataError
from readagain.formats import parquet
from readagain.formats.records import InputError, InvalidRecord
from readagain.formats.texts import TextReadOptions


def split(job):
    """Return all shards of a job."""
    return [shard for source in job.inputs for shard in split_into_shards(source, job.split)]


def texts(shard):
    """Return the texts of a shard, with None for invalid rows."""
    return [each.text if not isinstance(each, InvalidRecord) else None for each in shard.records()]


def test_shards_keep_order_and_invalid_rows(news, make_job):
    all_shards = split(make_job(news))
    assert [shard.name for shard in all_shards] == [f"part-00000-{n:06d}" for n in range(3)]
    assert texts(all_shards[1])[0] is None
    assert texts(all_shards[1])[1] == "The council of Ghent closed the old market."
    assert sum(shard.input_bytes for shard in all_shards) == news.stat().st_size
    assert all_shards[2].where == f"{news}, starting with row 5"


def test_shards_can_be_pickled(news, make_job):
    for shard in split(make_job(news)):
        assert texts(pickle.loads(pickle.dumps(shard))) == texts(shard)


def test_shard_of_long_rows_ends_early(news, make_job, monkeypatch):
    monkeypatch.setattr("readagain.formats.lines.BLOCK_BYTES", 8)
    assert len(split(make_job(news, shard_rows=100))) == 6


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks of two rows, two small shards, then shards of three blocks."""
    monkeypatch.setattr(shards, "BLOCK_ROWS", 2)
    monkeypatch.setattr(shards, "NUM_SMALL_SHARDS", 2)
    monkeypatch.setattr(shards, "LARGE_SHARD_BLOCKS", 3)


def test_shards_are_small_first(tmp_path, make_job, small_blocks):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"Text {number}.\n" for number in range(17)))
    job = make_job(path, shard_rows=None, read=TextReadOptions(format="lines"))
    all_shards = split(job)
    assert [len(texts(shard)) for shard in all_shards] == [2, 2, 6, 6, 1]
    assert sum(map(texts, all_shards), []) == [f"Text {number}." for number in range(17)]
    assert sum(shard.input_bytes for shard in all_shards) == path.stat().st_size
    with path.open("a") as file:
        file.write("One more.\n")
    longer = split(make_job(path, shard_rows=None, read=TextReadOptions(format="lines")))
    assert [shard.sha256 for shard in longer[:4]] == [shard.sha256 for shard in all_shards[:4]]


def test_large_shard_of_long_rows_ends_early(tmp_path, make_job, small_blocks, monkeypatch):
    monkeypatch.setattr(shards, "BLOCK_BYTES", 40)  # two blocks of two lines
    path = tmp_path / "a.txt"
    path.write_text("Ten bytes.\n" * 16)
    job = make_job(path, shard_rows=None, read=TextReadOptions(format="lines"))
    assert [len(texts(shard)) for shard in split(job)] == [2, 2, 4, 4, 4]


def test_shards_of_text_files_are_small_first(tmp_path, make_job, small_blocks):
    files = [tmp_path / f"{number:02d}.txt" for number in range(11)]
    for file in files:
        file.write_text("A text.")
    all_shards = split(make_job(*files, shard_rows=None))
    assert [len(shard.pieces) for shard in all_shards] == [2, 2, 6, 1]


def test_shard_of_long_texts_ends_early(tmp_path, make_job, monkeypatch):
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file in files:
        file.write_text("A text.")
    monkeypatch.setattr(shards, "BLOCK_BYTES", 10)
    assert [len(shard.pieces) for shard in split(make_job(*files, shard_rows=100))] == [2, 1]


def test_consecutive_texts_share_shards(tmp_path, news, make_job):
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file in files:
        file.write_text(f"Text {file.stem}.")
    job = make_job(files[0], news, *files[1:], shard_rows=10)
    assert [source.format for source in job.inputs] == ["text", "jsonl", "text"]
    first, _, last = split(job)
    assert texts(first) == ["Text 0."]
    assert texts(last) == ["Text 1.", "Text 2."]
    assert last.where == f"2 files, starting with {files[1]}"


def test_damaged_text_makes_one_row_invalid(tmp_path, make_job):
    whole, truncated = tmp_path / "a.txt.gz", tmp_path / "b.txt.gz"
    whole.write_bytes(gzip.compress(b"A text."))
    truncated.write_bytes(whole.read_bytes()[:-5])
    (shard,) = split(make_job(whole, truncated))
    good, bad = shard.records()
    assert good.text == "A text."
    assert bad == InvalidRecord(
        str(truncated), "the compressed data is cut short; copy the file again"
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_empty_file_has_no_shard(tmp_path, make_job, name):
    (tmp_path / name).write_bytes(b"")
    assert split(make_job(tmp_path / name)) == []


@pytest.mark.needs_extras
def test_empty_parquet_file_is_rejected(tmp_path, make_job):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"")
    with pytest.raises(
        DataError, match=r"a\.parquet: damaged or incomplete Parquet file .*; copy it again"
    ):
        split(make_job(path))


def test_shard_checksum_covers_all_bytes(news, make_job):
    before = [shard.sha256 for shard in split(make_job(news))]
    news.write_text(news.read_text().replace('"id": 4', '"id": 9'))
    after = [shard.sha256 for shard in split(make_job(news))]
    assert before[:2] == after[:2]
    assert before[2] != after[2]


def test_undecodable_csv_rows_have_checksum(tmp_path, make_job):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,note\nA text.,caf\xe9\n")
    (shard,) = split(make_job(path))
    assert len(shard.sha256) == 64
    (record,) = shard.records()
    assert record.fields == {"text": "A text.", "note": "caf\udce9"}


@pytest.mark.needs_extras
def test_parquet_shards_are_compressed_and_bounded(tmp_path, make_job, monkeypatch):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table({"id": range(9), "text": [f"Text {n}." + "x" * 999 for n in range(9)]})
    pyarrow.parquet.write_table(table, path)
    all_shards = split(make_job(path, shard_rows=4))
    assert [len(texts(shard)) for shard in all_shards] == [4, 4, 1]
    assert len(pickle.dumps(all_shards[2])) < 3000  # has one row, not all nine of the file
    monkeypatch.setattr(parquet, "BLOCK_BYTES", 2500)
    all_shards = split(make_job(path, shard_rows=4))
    assert [len(texts(shard)) for shard in all_shards] == [2, 2, 2, 2, 1]
    assert [shard.pieces[0].block.first for shard in all_shards] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("text,summary\na,b\n", {}, r"a\.csv: has a field 'summary' already; set another"),
        (
            "text,note,note\na,b,c\n",
            {},
            r"a\.csv: two columns are called 'note'; rename",
        ),
        ("text,,\na,b,c\n", {}, r"a\.csv: two columns have no name; name or remove"),
        ("id\n1\n", {}, r"a\.csv: no column for the text"),
        ("text\na\n", {"text_column": "body"}, r"a\.csv: no column 'body'; set text_column"),
    ],
)
def test_invalid_columns_are_rejected(tmp_path, make_job, content, options, message):
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        split(make_job(path, read=TextReadOptions(**options)))


@pytest.mark.needs_extras
def test_invalid_rows_of_remote_file_name_its_address(tmp_path, make_job):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,place\nThe council of Ghent closed the market.,x\nbro\rken,y\n")
    url = path.as_uri()
    first, second = split(make_job(url)), split(make_job(url))
    assert [shard.sha256 for shard in first] == [shard.sha256 for shard in second]
    (invalid,) = [
        record for shard in first for record in shard.records() if isinstance(record, InvalidRecord)
    ]
    assert invalid.where == f"{url}:3"


@pytest.mark.needs_extras
def test_missing_column_of_remote_file_names_address_and_option(tmp_path, make_job):
    path = tmp_path / "a.csv"
    path.write_text("name\nGhent\n")
    with pytest.raises(InputError) as caught:
        split(make_job(path.as_uri()))
    message = caught.value.format_message(lambda name: f"--{name}")
    assert message.startswith(f"{path.as_uri()}: no column for the text")
    assert message.endswith("; set --text_column")


@pytest.mark.needs_extras
def test_error_while_remote_rows_are_read_names_the_address(tmp_path, make_job):
    path = tmp_path / "a.jsonl.gz"
    rows = b"".join(b'{"text": "Text %d of Ghent."}\n' % number for number in range(100_000))
    path.write_bytes(gzip.compress(rows)[:-2000])
    with pytest.raises(DataError) as caught:
        split(make_job(path.as_uri()))
    assert str(caught.value).startswith(f"{path.as_uri()}: the compressed data is cut short")
