"""Batch jobs: new, resumed, with changed inputs, and in locked or foreign folders."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from batch_engine import StoppedError, run_in_process

from readagain.batch.job import BatchJob
from readagain.batch.run import local_engine, run_batch
from readagain.batch.shards import split_into_shards
from readagain.errors import ArtifactError, ConfigError, DataError
from readagain.storage.checksums import add_checksum


def stop_after(num_shards):
    """Return an engine that yields `num_shards` shards, finishes one more and then fails."""

    def run(job, finished):
        for number, shard in enumerate(run_in_process(job, finished)):
            if number == num_shards:
                raise StoppedError
            yield shard

    return run


def record_new_shards(new_shards):
    """Return an engine that appends the file of each shard that it summarizes to a list."""

    def run(job, finished):
        for shard in run_in_process(job, finished):
            if finished.get(shard.key) != shard:
                new_shards.append(shard.part)
            yield shard

    return run


@pytest.fixture
def uninterrupted(news, make_job, tmp_path):
    """Manifest of a finished job in the folder 'uninterrupted', to compare other jobs with."""
    return run_batch(make_job(news, out=tmp_path / "uninterrupted"), run_in_process)


def test_manifest_has_counts_and_files(news, uninterrupted, tmp_path):
    folder = tmp_path / "uninterrupted"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["rows"], manifest["bad_rows"]) == (5, 1)
    assert [shard["part"] for shard in manifest["shards"]] == sorted(
        path.name for path in folder.glob("part-*")
    )
    assert manifest["inputs"][0]["bytes"] == news.stat().st_size
    assert sorted(path.name for path in folder.iterdir() if path.name != ".lock") == [
        "bad",
        "manifest.json",
        *(shard["part"] for shard in manifest["shards"]),
    ]


@pytest.mark.parametrize("num_shards", [0, 1, 2])
def test_resumed_job_writes_the_same_bytes(
    news, make_job, uninterrupted, contents, tmp_path, num_shards
):
    with pytest.raises(StoppedError):
        run_batch(make_job(news), stop_after(num_shards))
    new_shards = []
    assert run_batch(make_job(news), record_new_shards(new_shards)) == uninterrupted
    assert len(new_shards) == 3 - (num_shards + 1)
    assert contents(tmp_path / "out") == contents(tmp_path / "uninterrupted")


def test_finished_job_is_not_run_again(news, make_job, uninterrupted, tmp_path):
    new_shards = []
    job = make_job(news, out=tmp_path / "uninterrupted")
    assert run_batch(job, record_new_shards(new_shards)) == uninterrupted
    assert new_shards == []


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("part-00000-000001.jsonl", lambda path: path.unlink()),
        ("part-00000-000001.jsonl", lambda path: path.write_bytes(path.read_bytes()[:-1])),
        ("bad/part-00000-000001.jsonl", lambda path: path.write_bytes(b"{}")),
    ],
)
def test_damaged_output_is_written_again(
    news, make_job, uninterrupted, contents, tmp_path, name, damage
):
    folder = tmp_path / "uninterrupted"
    before = contents(folder)
    damage(folder / name)
    new_shards = []
    run_batch(make_job(news, out=folder), record_new_shards(new_shards))
    assert new_shards == ["part-00000-000001.jsonl"]
    assert contents(folder) == before


def test_damaged_metadata_is_ignored(news, make_job, uninterrupted, contents, tmp_path):
    with pytest.raises(StoppedError):
        run_batch(make_job(news), stop_after(2))
    first, second, _ = sorted((tmp_path / "out" / "unfinished" / "notes").iterdir())
    first.write_bytes(b"{")
    second.write_bytes(b'{"part": 3}')
    run_batch(make_job(news), run_in_process)
    assert contents(tmp_path / "out") == contents(tmp_path / "uninterrupted")


def test_changed_settings_are_rejected(news, make_job, uninterrupted, tmp_path):
    job = make_job(news, out=tmp_path / "uninterrupted", shard_rows=3, options={"beam": 2})
    message = r"contains another batch job: shard_rows was 2 and is now 3; beam was None and"
    with pytest.raises(ConfigError, match=message):
        run_batch(job, run_in_process)
    manifest = run_batch(replace(job, overwrite=True), run_in_process)
    assert len(manifest.shards) == 2
    assert len(list((tmp_path / "uninterrupted").glob("part-*"))) == 2


def test_changed_inputs_are_rejected(news, make_job, tmp_path):
    with pytest.raises(StoppedError):
        run_batch(make_job(news), stop_after(2))
    more = tmp_path / "more.jsonl"
    more.write_text('{"text": "A storm."}\n')
    with pytest.raises(ConfigError, match=r"inputs have changed since .*: .*more\.jsonl is new; "):
        run_batch(make_job(news, more), run_in_process)
    size = news.stat().st_size
    news.write_text(news.read_text() + '{"text": "The end."}\n')
    with pytest.raises(ConfigError, match=rf"news\.jsonl had {size:,} bytes and has .*update"):
        run_batch(make_job(news), run_in_process)


def test_reordered_inputs_are_rejected(news, make_job, tmp_path):
    more = tmp_path / "more.jsonl"
    more.write_text('{"text": "A storm."}\n')
    with pytest.raises(StoppedError):
        run_batch(make_job(news, more), stop_after(2))
    with pytest.raises(ConfigError, match="first run: the same files in another order; start over"):
        run_batch(make_job(more, news), run_in_process)


def test_changed_rows_of_same_size_are_found(news, make_job, tmp_path):
    with pytest.raises(StoppedError):
        run_batch(make_job(news), stop_after(2))
    news.write_text(news.read_text().replace("Ghent", "Bruge", 1))
    message = r"news\.jsonl, starting with row 1: the rows of part-00000-000000\.jsonl have changed"
    with pytest.raises(ConfigError, match=message):
        run_batch(make_job(news), run_in_process)


def test_rejected_job_keeps_the_manifest(news, make_job, uninterrupted, contents, tmp_path):
    folder = tmp_path / "uninterrupted"
    before = contents(folder)
    news.write_text(news.read_text().replace("Ghent", "Bruge", 1))
    with pytest.raises(ConfigError, match=r"the rows of part-00000-000000\.jsonl have changed"):
        run_batch(make_job(news, out=folder), run_in_process)
    after = contents(folder)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("is_time_kept", [False, True])
def test_input_changed_while_read_is_rejected(news, make_job, tmp_path, is_time_kept):
    def engine(job, finished):
        yield from run_in_process(job, finished)
        before = news.stat()
        news.write_text(news.read_text().swapcase())
        if is_time_kept:
            os.utime(news, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(DataError, match=r"news\.jsonl: changed while it was read; run the command"):
        run_batch(make_job(news), engine)
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
@pytest.mark.parametrize("suffix", [".jsonl", ".txt"])
def test_file_name_that_is_not_utf8_is_summarized(news, make_job, suffix):
    path = news.with_name(os.fsdecode(b"caf\xe9" + suffix.encode()))
    news.rename(path)
    manifest = run_batch(make_job(path), run_in_process)
    assert manifest.rows == (5 if suffix == ".jsonl" else 1)
    assert manifest.inputs[0]["location"] == str(path)


def test_touched_input_is_unchanged(news, make_job):
    with pytest.raises(StoppedError):
        run_batch(make_job(news), stop_after(1))
    os.utime(news, ns=(1, 1))
    new_shards = []
    run_batch(make_job(news), record_new_shards(new_shards))
    assert len(new_shards) == 1


def test_update_keeps_unchanged_shards(news, make_job, uninterrupted, contents, tmp_path):
    folder = tmp_path / "uninterrupted"
    news.write_text(news.read_text() + '{"text": "The end."}\n')
    new_shards = []
    job = make_job(news, out=folder, update=True)
    run_batch(job, record_new_shards(new_shards))
    assert new_shards == ["part-00000-000003.jsonl"]
    lines = news.read_text().splitlines(keepends=True)
    news.write_text("".join([*lines[:2], *lines[3:5]]))  # without the bad row and the last rows
    run_batch(make_job(news, out=folder, update=True), run_in_process)
    run_batch(make_job(news, out=tmp_path / "fresh"), run_in_process)
    assert contents(folder) == contents(tmp_path / "fresh")


def test_interrupted_update_leaves_no_outdated_manifest(
    news, make_job, uninterrupted, contents, tmp_path
):
    folder = tmp_path / "uninterrupted"
    news.write_text(news.read_text().replace("Ghent", "Bruges", 1))
    job = make_job(news, out=folder, update=True)
    with pytest.raises(StoppedError):
        run_batch(job, stop_after(0))
    assert not (folder / "manifest.json").exists()
    new_shards = []
    run_batch(job, record_new_shards(new_shards))
    assert new_shards == []  # one shard was changed, and it was finished before the interruption
    run_batch(make_job(news, out=tmp_path / "fresh"), run_in_process)
    assert contents(folder) == contents(tmp_path / "fresh")


def test_stopping_job_checks_invalid_rows_of_earlier_run(news, make_job, uninterrupted, tmp_path):
    with pytest.raises(DataError, match=r"news\.jsonl:3: not JSON"):
        run_batch(make_job(news, out=tmp_path / "uninterrupted", on_error="stop"), run_in_process)


def test_folder_with_other_files_is_rejected(news, make_job, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(
        ConfigError, match=r"out: the folder contains 'thesis\.tex' and no batch job"
    ):
        run_batch(make_job(news, overwrite=True), run_in_process)


@pytest.mark.parametrize("overwrite", [False, True])
def test_folder_with_foreign_manifest_is_rejected(news, make_job, tmp_path, overwrite):
    manifest = tmp_path / "out" / "manifest.json"
    manifest.parent.mkdir()
    manifest.write_text('{"format_version": 1, "splits": {}}')
    (tmp_path / "out" / "lexicon.txt").write_text("the")
    with pytest.raises(ConfigError, match=r"out: the folder contains 'lexicon\.txt' and no batch"):
        run_batch(make_job(news, overwrite=overwrite), run_in_process)
    assert manifest.read_text() == '{"format_version": 1, "splits": {}}'


def test_unfinished_job_resumes_despite_other_files(news, make_job, tmp_path):
    job = make_job(news)
    with pytest.raises(StoppedError):
        run_batch(job, stop_after(1))
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert len(run_batch(job, run_in_process).shards) == 3
    assert (tmp_path / "out" / "notes.txt").exists()


def test_overwrite_keeps_other_files(news, make_job, uninterrupted, tmp_path):
    folder = tmp_path / "uninterrupted"
    (folder / "README").write_text("mine")
    assert run_batch(make_job(news, out=folder, overwrite=True), run_in_process) == uninterrupted
    assert (folder / "README").read_text() == "mine"


def test_folder_that_cannot_be_created_is_rejected(news, make_job):
    with pytest.raises(ConfigError, match=r"news\.jsonl: cannot be written to: .*another folder"):
        run_batch(make_job(news, out=news), run_in_process)


def with_checksum(**content):
    return json.dumps(add_checksum(content)).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", r"manifest\.json: damaged; choose another folder"),
        (b"[]", r"manifest\.json: damaged"),
        (b'{"format_version": 1, "shards": []}', r"manifest\.json: damaged"),
        (with_checksum(format_version=1, shards=[{}]), r"manifest\.json: damaged"),
        (with_checksum(format_version=9), r"manifest\.json: written in format 9 by"),
    ],
)
def test_invalid_job_manifest_is_rejected(
    news, make_job, uninterrupted, tmp_path, content, message
):
    (tmp_path / "uninterrupted" / "manifest.json").write_bytes(content)
    with pytest.raises(ArtifactError, match=message):
        run_batch(make_job(news, out=tmp_path / "uninterrupted"), run_in_process)


def test_second_process_on_job_folder_is_rejected(news, make_job, tmp_path):
    code = (
        "import sys; from filelock import FileLock; lock = FileLock(sys.argv[1]); "
        "lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    (tmp_path / "out").mkdir()
    arguments = [sys.executable, "-c", code, str(tmp_path / "out" / ".lock")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(ConfigError, match=r"out: another process is writing into this"):
            run_batch(make_job(news), run_in_process)
        other.stdin.close()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"shard_rows": 0}, ConfigError, "shard_rows: 0; expected 1 or more"),
        ({"output_format": "csv"}, ConfigError, "output_format: .* not supported for JSONL"),
        ({"summary_field": "id"}, DataError, "has a field 'id' already"),
        (
            {"summary_field": "score", "has_score": True},
            ConfigError,
            "summary_field: the output has a field 'score' already; choose another name",
        ),
    ],
)
def test_invalid_job_creates_no_folder(news, make_job, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        run_batch(make_job(news, **options), run_in_process)
    assert not (tmp_path / "out").exists()


def test_shard_written_elsewhere_is_missing(news, make_job, tmp_path):
    elsewhere = make_job(news, out=tmp_path / "elsewhere")
    message = r"out: part-00000-000000\.jsonl was written but is not in this folder; all nodes"
    with pytest.raises(DataError, match=message):
        run_batch(make_job(news), lambda job, finished: run_in_process(elsewhere, finished))
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_job_without_rows_finishes(make_job, tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    manifest = run_batch(make_job(tmp_path / "empty.jsonl"), run_in_process)
    assert (manifest.rows, manifest.shards) == (0, [])


@pytest.mark.slow
def test_output_does_not_depend_on_workers(news, make_job, uninterrupted, contents, tmp_path):
    shares = []
    run_batch(
        make_job(news),
        local_engine(num_workers=2),
        on_progress=lambda progress: shares.append(progress.share),
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "uninterrupted")
    assert shares[-1] == pytest.approx(1.0)


class Deadly(tuple):
    """Tuple that kills the process that unpickles it."""

    def __reduce__(self):
        return signal.raise_signal, (signal.SIGKILL,)


@pytest.mark.slow
def test_shard_that_kills_workers_is_skipped(news, make_job, tmp_path, caplog, monkeypatch):
    job = make_job(news)
    first, second, third = split_into_shards(job.inputs[0], job.split)
    deadly = replace(second, pieces=Deadly(second.pieces))
    monkeypatch.setattr(BatchJob, "split_input", lambda *_: iter([first, deadly, third]))
    with pytest.raises(DataError, match=r"part-00000-000001 \(.*\): skipped, since it"):
        list(local_engine(num_workers=1)(job, {}))
    assert len(list((tmp_path / "out").glob("part-*"))) == 2
    messages = [record.getMessage() for record in caplog.records]
    assert messages[:3] == ["a worker process died; it is replaced"] * 3
    assert "killed its worker" in messages[3]


@pytest.mark.slow
def test_worker_error_is_raised(news, make_job):
    with pytest.raises(DataError, match="or skip such records with on_error=skip"):
        run_batch(make_job(news, on_error="stop"), local_engine(num_workers=1))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_update_accepts_another_header(make_job, contents, tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_text("text,n\nA storm.,1\n")
    run_batch(make_job(path), run_in_process)
    path.write_text("text,id\nA storm.,1\n", encoding=encoding)
    run_batch(make_job(path, update=True), run_in_process)
    run_batch(make_job(path, out=tmp_path / "new"), run_in_process)
    assert contents(tmp_path / "out") == contents(tmp_path / "new")
