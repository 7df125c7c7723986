"""Batch jobs that join the shards of each input to one file."""

import gzip
import json
from dataclasses import replace

import pytest
from batch_engine import StoppedError, run_in_process

from readagain.batch.run import run_batch
from readagain.errors import ConfigError, DataError
from readagain.formats.texts import TextReadOptions
from readagain.storage.output_dir import LocalDir


def joined_files(folder):
    """Return the content of the files in a folder by name, without the manifest and the lock."""
    files = (path for path in folder.iterdir() if path.is_file())
    return {
        path.name: path.read_bytes()
        for path in files
        if path.name not in ("manifest.json", ".lock")
    }


@pytest.fixture
def inputs(news, texts, tmp_path):
    """JSONL, compressed CSV, TSV, lines and two texts, with 2 to 5 rows each."""
    (tmp_path / "News.CSV.gz").write_bytes(
        gzip.compress("".join(["id;text\n", *(f"{n};{t}\n" for n, t in enumerate(texts))]).encode())
    )
    (tmp_path / "table.tsv").write_text("".join(f"{row}\n" for row in ("text", *texts)))
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text(texts[number])
    return [news, tmp_path / "News.CSV.gz", tmp_path / "table.tsv", f"{tmp_path}/*.txt"]


def test_joined_files_equal_one_shard_per_input(inputs, make_job, tmp_path):
    run_batch(make_job(*inputs, shard_rows=1, one_file_per_input=True), run_in_process)
    run_batch(make_job(*inputs, shard_rows=100, out=tmp_path / "shards"), run_in_process)
    shards = [content for _, content in sorted(joined_files(tmp_path / "shards").items())]
    names = ["news.jsonl", "News.csv", "table.tsv", "texts.jsonl"]
    assert joined_files(tmp_path / "out") == dict(zip(names, shards, strict=True))


@pytest.mark.parametrize("name", ["news.csv", "news.tsv"])
def test_joined_csv_has_one_byte_order_mark(texts, make_job, contents, tmp_path, run_until, name):
    rows = "".join(f"{row}\n" for row in ("text", *texts))
    (tmp_path / name).write_text(rows, encoding="utf-8-sig")
    job = make_job(tmp_path / name, shard_rows=2, one_file_per_input=True)
    run_until(job, f"shards/part-00000-000001.{name[-3:]}")
    run_batch(job, run_in_process)
    assert joined_files(tmp_path / "out")[name].startswith(b"\xef\xbb\xbftext")
    assert joined_files(tmp_path / "out")[name].count(b"\xef\xbb\xbf") == 1
    run_batch(replace(job, config=replace(job.config, out=str(tmp_path / "new"))), run_in_process)
    assert contents(tmp_path / "out") == contents(tmp_path / "new")


def test_lines_are_joined_to_jsonl(texts, make_job, headlines, tmp_path):
    (tmp_path / "news.txt").write_text("\n".join(texts))
    read = TextReadOptions(format="lines")
    run_batch(make_job(tmp_path / "news.txt", read=read, one_file_per_input=True), run_in_process)
    rows = (tmp_path / "out" / "news.jsonl").read_text().splitlines()
    assert [json.loads(row)["summary"] for row in rows] == headlines


@pytest.mark.needs_extras
def test_parquet_shards_are_joined(texts, make_job, headlines, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"id": arrow.array(range(5), arrow.int16()), "text": list(texts)})
    parquet.write_table(table, tmp_path / "news.parquet")
    run_batch(make_job(tmp_path / "news.parquet", one_file_per_input=True), run_in_process)
    result = parquet.read_table(tmp_path / "out" / "news.parquet")
    assert result.select(["id", "text"]) == table
    assert result["summary"].to_pylist() == headlines


@pytest.fixture
def run_until(monkeypatch):
    """Function that runs a job and stops it before it writes the file `name`."""

    def run(job, name):
        create = LocalDir.create

        def create_or_stop(directory, created):
            if created == name:
                raise StoppedError
            return create(directory, created)

        with monkeypatch.context() as patch:
            patch.setattr(LocalDir, "create", create_or_stop)
            with pytest.raises(StoppedError):
                run_batch(job, run_in_process)

    return run


@pytest.mark.parametrize("num_joined", [0, 1, 3])
def test_job_stopped_while_joining_resumes_to_the_same_bytes(
    inputs, make_job, contents, tmp_path, run_until, num_joined
):
    names = ["news.jsonl", "News.csv", "table.tsv", "texts.jsonl"]
    run_until(make_job(*inputs, one_file_per_input=True), names[num_joined])
    assert sorted(joined_files(tmp_path / "out")) == sorted(names[:num_joined])
    run_batch(make_job(*inputs, one_file_per_input=True), run_in_process)
    run_batch(make_job(*inputs, one_file_per_input=True, out=tmp_path / "whole"), run_in_process)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_damaged_joined_file_is_written_again(news, make_job, contents, tmp_path):
    job = make_job(news, one_file_per_input=True)
    run_batch(job, run_in_process)
    before = contents(tmp_path / "out")
    (tmp_path / "out" / "news.jsonl").write_text("{}")
    run_batch(job, run_in_process)
    assert contents(tmp_path / "out") == before


def test_shard_changed_before_joining_is_rejected(news, make_job, tmp_path):
    def damaging_engine(job, finished):
        yield from run_in_process(job, finished)
        (tmp_path / "out" / "shards" / "part-00000-000001.jsonl").write_text("{}\n")

    with pytest.raises(DataError, match=r"shards/part-00000-000001\.jsonl: changed while the job"):
        run_batch(make_job(news, one_file_per_input=True), damaging_engine)
    assert joined_files(tmp_path / "out") == {}


def test_update_removes_the_file_of_a_removed_input(inputs, make_job, contents, tmp_path):
    run_batch(make_job(*inputs, one_file_per_input=True), run_in_process)
    run_batch(make_job(*inputs[:2], one_file_per_input=True, update=True), run_in_process)
    run_batch(
        make_job(*inputs[:2], one_file_per_input=True, out=tmp_path / "fresh"), run_in_process
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


@pytest.mark.parametrize("is_first_finished", [False, True])
def test_update_after_interrupted_update_leaves_no_outdated_file(
    inputs, make_job, contents, tmp_path, run_until, is_first_finished
):
    news, table, tsv, texts = inputs
    if is_first_finished:
        run_batch(make_job(news, texts, one_file_per_input=True), run_in_process)
    # Stopped when the files of both inputs are joined.
    run_until(make_job(news, table, one_file_per_input=True, update=True), "manifest.json")
    run_batch(make_job(news, tsv, one_file_per_input=True, update=True), run_in_process)
    run_batch(make_job(news, tsv, one_file_per_input=True, out=tmp_path / "fresh"), run_in_process)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_overwrite_removes_joined_files_and_no_others(inputs, make_job, contents, tmp_path):
    out = tmp_path / "out"
    run_batch(make_job(*inputs, one_file_per_input=True), run_in_process)
    (out / "README").write_text("mine")
    job = make_job(inputs[0], overwrite=True)
    run_batch(job, run_in_process)
    run_batch(replace(job, config=replace(job.config, out=str(tmp_path / "fresh"))), run_in_process)
    assert contents(out) == {**contents(tmp_path / "fresh"), "README": b"mine"}


def test_input_named_as_a_shard_is_joined(news, make_job, tmp_path):
    path = news.rename(tmp_path / "part-00000-000001.jsonl")
    run_batch(make_job(path, one_file_per_input=True), run_in_process)
    assert len((tmp_path / "out" / path.name).read_text().splitlines()) == 5


def test_inputs_with_one_output_name_are_rejected(news, make_job, tmp_path):
    other = tmp_path / "other" / "news.jsonl.gz"
    other.parent.mkdir()
    other.write_bytes(gzip.compress(news.read_bytes()))
    message = rf"{news} and {other} would both be written to news\.jsonl; rename one"
    with pytest.raises(ConfigError, match=message):
        run_batch(make_job(news, other, one_file_per_input=True), run_in_process)
    assert not (tmp_path / "out").exists()
