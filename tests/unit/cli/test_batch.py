"""The command `readagain batch`, with its work in this process."""

import json
from pathlib import Path

import pytest

from readagain.batch.job_dir import ShardMetadata
from readagain.batch.shard_worker import ShardWorker
from readagain.errors import DataError

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
TEXTS = (
    "Police in Ghent said on Monday that 12 people crossed the old bridge.",
    "A storm hit the harbour, and the ferry was late by 30 percent.",
    "The council of Ghent closed the old market.",
)


@pytest.fixture
def batch(readagain, tmp_path, monkeypatch):
    """Run the command on three rows in shards of one; it may fail after some shards."""
    rows = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    (tmp_path / "news.jsonl").write_text(rows)

    def run(*options, fails_after=None):
        def engine(job, finished):
            worker = ShardWorker(job.config)
            (source,) = job.inputs
            for number, item in enumerate(job.split_input(source, finished)):
                if number == fails_after:
                    raise DataError("the machine failed")
                yield item if isinstance(item, ShardMetadata) else worker.run(item)

        monkeypatch.setattr("readagain.batch.run.local_engine", lambda num_workers: engine)
        arguments = ("batch", "news.jsonl", "out", "--model", TOY, "--shard-rows", 1)
        return readagain(*arguments, *options, cwd=tmp_path)

    return run


@pytest.mark.parametrize("content", ["", "text\n"])
def test_input_without_texts_is_reported(readagain, tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    done = readagain("batch", "a.csv", "out", "--model", TOY, "--workers", 1, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "out: 0 rows in 0 shards\n")
    assert done.stderr.endswith("readagain: no texts in the input\n")


def test_batch_prints_counts(batch):
    done = batch()
    assert (done.returncode, done.stdout) == (0, "out: 3 rows in 3 shards\n"), done.stderr


def test_batch_joins_shards_on_request(batch, tmp_path):
    assert batch("--one-file-per-input").stdout == "out: 3 rows in 1 file\n"
    assert len((tmp_path / "out" / "news.jsonl").read_text().splitlines()) == 3


def test_resumed_batch_prints_what_it_kept(batch):
    assert batch(fails_after=2).returncode == 2
    assert batch().stdout == "out: 3 rows in 3 shards, 2 rows kept from an earlier run\n"
    assert batch().stdout == "out: 3 rows in 3 shards, 3 rows kept from an earlier run\n"


def test_refused_folder_is_left_unchanged(batch, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("dear")
    done = batch()
    assert done.returncode == 2
    assert "out: the folder contains 'thesis.tex' and no batch job" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_forgotten_output_folder_is_noticed(readagain, tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "b.jsonl").write_text("")
    done = readagain("batch", "a.jsonl", "b.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "readagain: b.jsonl: is a file, but the last argument must be the output folder; add a "
        "folder as the last argument\n"
    )


def test_output_named_like_a_file_is_refused(readagain, tmp_path):
    (tmp_path / "a.csv").write_text("text\n")
    done = readagain("batch", "a.csv", "headlines.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "readagain: headlines.csv: is the name of a file, but the output is a folder; name a "
        "folder, such as headlines\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_summary_field_with_a_used_name_is_refused(batch):
    done = batch("--field", "score", "--score")
    assert done.returncode == 2
    message = "--field: the output has a field 'score' already; choose another name"
    assert done.stderr == f"readagain: {message}\n"
