"""Output of a worker for a shard, in every format."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readagain.batch.shard_worker import ShardWorker, output_format
from readagain.batch.shards import split_into_shards
from readagain.errors import ArtifactError, ConfigError, DataError
from readagain.formats.delimited import to_csv
from readagain.formats.jsonl import write_jsonl
from readagain.formats.texts import TextReadOptions


@pytest.fixture
def run_shards(make_job):
    """Function that runs every shard of a job; returns their metadata and output files."""

    def run(*inputs, **options):
        job = make_job(*inputs, **options)
        worker = ShardWorker(job.config)
        shards = (shard for source in job.inputs for shard in split_into_shards(source, job.split))
        finished = [worker.run(shard) for shard in shards]
        return finished, [(Path(job.config.out) / each.part).read_bytes() for each in finished]

    return run


def rows_of(contents):
    return [json.loads(line) for content in contents for line in content.splitlines()]


def test_output_keeps_fields_and_adds_summary(news, run_shards, texts, headlines):
    shards, contents = run_shards(news)
    assert rows_of(contents) == [
        {"id": number, "text": text, "summary": headline}
        for number, (text, headline) in enumerate(zip(texts, headlines, strict=True))
    ]
    assert [shard.rows for shard in shards] == [2, 1, 2]


def test_invalid_rows_are_written_with_reason(news, run_shards, tmp_path):
    shards, _ = run_shards(news)
    assert [shard.bad_rows for shard in shards] == [0, 1, 0]
    (bad,) = (tmp_path / "out" / "bad").iterdir()
    assert bad.name == "part-00000-000001.jsonl"
    assert json.loads(bad.read_text()) == {
        "file": str(news),
        "row": 3,
        "reason": "not JSON: Expecting value at column 1; expected one object per line",
        "content": "not json",
    }


def test_job_can_stop_at_invalid_row(news, run_shards):
    with pytest.raises(DataError, match=r"news\.jsonl:3: not JSON.*; or skip .* on_error=skip"):
        run_shards(news, on_error="stop")


def test_score_and_alternatives_are_optional(news, run_shards):
    _, contents = run_shards(
        news, has_score=True, options={"n_best": 3, "beam": 4}, summary_field="title"
    )
    first = rows_of(contents)[0]
    assert list(first) == ["id", "text", "title", "score", "alternatives"]
    scores = [first["score"], *(each["score"] for each in first["alternatives"])]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_confidence_and_warnings_are_optional(tmp_path, run_shards):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,It rains.\n2,Police in Ghent closed the old bridge.\n")
    _, (content,) = run_shards(path, has_confidence=True)
    header, first, _ = content.decode().splitlines()
    assert header == "id,text,summary,confidence,warnings"
    assert first == '1,It rains.,It rains,,"[""too_short""]"'


def test_existing_confidence_field_is_an_error(tmp_path, run_shards):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "A ferry."}\n{"text": "A bridge.", "confidence": 1}\n')
    (shard,), _ = run_shards(path, has_confidence=True)
    reason = (tmp_path / "out" / shard.bad_part).read_text()
    assert "has a field 'confidence' already; rename it" in reason


def test_row_with_summary_field_is_invalid(tmp_path, run_shards):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "A ferry."}\n{"text": "A bridge.", "summary": "x"}\n')
    (shard,), _ = run_shards(path)
    assert (shard.rows, shard.bad_rows) == (1, 1)
    assert "has a field 'summary' already" in (tmp_path / "out" / shard.bad_part).read_text()


def test_csv_output_keeps_columns_and_invalid_bytes(tmp_path, run_shards):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id;text;note\n1;"A ferry; and\na bridge.";caf\xe9\n2;only two\n3;Storm.;\n')
    (shard,), (content,) = run_shards(path, shard_rows=9, options={"n_best": 2, "beam": 2})
    assert shard.part == "part-00000-000000.csv"
    assert b";caf\xe9;" in content
    rows = list(csv.DictReader(io.StringIO(content.decode("latin-1")), delimiter=";"))
    assert [row["id"] for row in rows] == ["1", "3"]
    assert rows[0]["text"] == "A ferry; and\na bridge."
    assert json.loads(rows[0]["alternatives"])[0].keys() == {"summary", "score"}
    assert shard.bad_rows == 1


def test_each_csv_shard_has_the_byte_order_mark_of_the_input(tmp_path, run_shards):
    path = tmp_path / "a.csv"
    path.write_text("text\nStürme.\nA ferry.\n", encoding="utf-8-sig")
    _, contents = run_shards(path, shard_rows=1)
    assert [content[:14] for content in contents] == [b"\xef\xbb\xbftext,summar"] * 2
    path.write_text("text\nStürme.\n", encoding="utf-8")
    _, (content,) = run_shards(path, out=tmp_path / "new")
    assert content.startswith(b"text,summary")


def test_tsv_output_keeps_tabs(tmp_path, run_shards):
    path = tmp_path / "a.tsv"
    path.write_text("text\tid\nA ferry.\t1\n")
    (shard,), (content,) = run_shards(path)
    assert shard.part.endswith(".tsv")
    assert content.startswith(b"text\tid\tsummary\nA ferry.\t1\t")


def test_plain_texts_become_jsonl(tmp_path, run_shards, texts, headlines):
    path = tmp_path / "a.txt"
    path.write_text(texts[0])
    _, contents = run_shards(path)
    assert rows_of(contents) == [{"file": str(path), "summary": headlines[0]}]
    path.write_text("\n".join(texts))
    _, contents = run_shards(path, read=TextReadOptions(format="lines"), out=tmp_path / "lines")
    assert rows_of(contents) == [
        {"text": text, "summary": headline} for text, headline in zip(texts, headlines, strict=True)
    ]


@pytest.mark.needs_extras
def test_parquet_output_keeps_types_of_valid_rows(tmp_path, run_shards, texts, headlines):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2, 3], pyarrow.int8()),
            "text": pyarrow.array([texts[0], None, texts[1]]).dictionary_encode(),
            "at": pyarrow.array([1, 2, 3], pyarrow.timestamp("ns", tz="UTC")),
        }
    )
    pyarrow.parquet.write_table(table, path)
    options = {"n_best": 2}
    (shard,), (content,) = run_shards(
        path, shard_rows=9, has_score=True, has_confidence=True, options=options
    )
    written = pyarrow.parquet.read_table(io.BytesIO(content))
    assert written.select(["id", "text", "at"]).equals(table)
    assert written.column("summary").to_pylist() == [headlines[0], "", headlines[1]]
    assert written.schema.field("score").type == pyarrow.float64()
    assert written.schema.field("confidence").type == pyarrow.float64()
    assert written.column("warnings").to_pylist()[1] == ["too_short"]
    assert written.column("alternatives").to_pylist()[1] is None
    assert shard.rows == 3


@pytest.mark.needs_extras
def test_large_parquet_shard_keeps_rows_in_order(tmp_path, run_shards, texts, monkeypatch):
    import pyarrow
    import pyarrow.parquet

    monkeypatch.setattr("readagain.batch.shards.BLOCK_ROWS", 1)
    monkeypatch.setattr("readagain.batch.shards.NUM_SMALL_SHARDS", 1)
    values = pyarrow.array([text.encode() for text in (texts[0], texts[1])] + [b"caf\xe9", b"A."])
    column = pyarrow.Array.from_buffers(pyarrow.string(), 4, values.buffers())
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2, 3, 4], "text": column}), path)
    shards, contents = run_shards(path, shard_rows=None)
    assert [(shard.rows, shard.bad_rows) for shard in shards] == [(1, 0), (2, 1)]
    ids = [
        pyarrow.parquet.read_table(io.BytesIO(each)).column("id").to_pylist() for each in contents
    ]
    assert ids == [[1], [2, 4]]
    bad = json.loads((tmp_path / "out" / shards[1].bad_part).read_text())
    assert (bad["row"], bad["content"]["id"]) == (3, 3)


@pytest.mark.needs_extras
def test_invalid_parquet_row_keeps_all_columns(tmp_path, run_shards, texts):
    import pyarrow
    import pyarrow.parquet

    values = pyarrow.array([texts[0].encode(), b"caf\xe9"])
    column = pyarrow.Array.from_buffers(pyarrow.string(), 2, values.buffers())
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2], "text": column}), path)
    (shard,), _ = run_shards(path)
    bad = json.loads((tmp_path / "out" / shard.bad_part).read_text())
    assert (bad["row"], bad["content"]) == (2, {"id": 2, "text": "caf\udce9"})


@pytest.mark.needs_extras
@pytest.mark.parametrize("field", ["score", "alternatives"])
def test_summary_field_may_equal_unused_column(tmp_path, run_shards, texts, headlines, field):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"text": [texts[0]]}), tmp_path / "a.parquet")
    _, (content,) = run_shards(tmp_path / "a.parquet", summary_field=field)
    written = pyarrow.parquet.read_table(io.BytesIO(content))
    assert written.column(field).to_pylist() == [headlines[0]]


@pytest.mark.needs_extras
def test_tables_convert_to_each_format(tmp_path, run_shards):
    import pyarrow.parquet

    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text\n1,A ferry.\ncaf\xe9,A bridge.\n")
    (shard,), (content,) = run_shards(path, output_format="parquet")
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    assert table.column("id").to_pylist() == ["1"]
    assert shard.bad_rows == 1
    assert "'id' is not valid text" in (tmp_path / "out" / shard.bad_part).read_text()
    (tmp_path / "b.parquet").write_bytes(content)
    _, (content,) = run_shards(tmp_path / "b.parquet", output_format="csv", summary_field="again")
    assert content.splitlines()[0] == b"id,text,summary,again"


def test_jsonl_to_table_is_rejected():
    assert output_format(None, "jsonl") == "jsonl"
    assert output_format(None, "lines") == "jsonl"
    assert output_format("csv", "parquet") == "csv"
    with pytest.raises(ConfigError, match="output_format: 'csv' is not supported for JSONL"):
        output_format("csv", "jsonl")


def test_lone_surrogate_is_escaped():
    assert write_jsonl([{"id": "\ud800", "é": 1}, {"é": 2}]) == (
        b'{"id": "\\ud800", "\\u00e9": 1}\n' + '{"é": 2}\n'.encode()
    )


def test_csv_cells_have_json_lists_and_empty_nulls():
    assert to_csv([{"a": None, "b": ["é"]}], ["a", "b"], "") == 'a,b\n,"[""é""]"\n'.encode()


@given(st.lists(st.text('a", \r\n\t', max_size=6), min_size=2, max_size=2))
def test_csv_output_reads_back_with_any_line_end(cells):
    content = to_csv([dict(zip("ab", cells, strict=True))], "ab", ",").decode()
    assert content.startswith("a,b\n")
    for newline in ("", None):  # as the csv module requires, and as other programs read it
        read = list(csv.reader(io.StringIO(content, newline=newline)))
        assert len(read) == 2
    assert list(csv.reader(io.StringIO(content, newline=""))) == [["a", "b"], cells]


def test_unsupported_options_are_rejected_early(make_job, news):
    with pytest.raises(ConfigError, match="n_best"):
        make_job(news, options={"n_best": 9, "beam": 2}).check()
    job = make_job(news)
    with pytest.raises(ArtifactError, match="no model 'none'"):
        replace(job, config=replace(job.config, model="none")).check()
