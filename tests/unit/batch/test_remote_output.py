"""Output folders of batch jobs, local and remote."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from batch_engine import run_in_process

from readagain.batch.locations import open_directory
from readagain.batch.run import local_engine, run_batch
from readagain.errors import DataError

LOCATIONS = ["{}", pytest.param("file://{}", marks=pytest.mark.needs_extras)]


@pytest.fixture(params=LOCATIONS)
def folder(request, tmp_path):
    """Output directory at a path, and at an address."""
    return open_directory(request.param.format(tmp_path / "out"))


def test_directory_writes_lists_reads_and_removes(folder):
    assert folder.names() == []
    assert folder.read("a") is None
    folder.write("b", b"two")
    folder.write("sub/folder/a", b"one")
    folder.write("b", b"three")
    assert folder.names() == ["b", "sub", "unfinished"]
    assert folder.names("sub/folder") == ["a"]
    assert folder.names("unfinished") == []
    assert (folder.read("b"), folder.read("sub/folder/a")) == (b"three", b"one")
    for name in ("b", "sub", "none"):
        folder.remove(name)
    assert folder.names() == ["unfinished"]


def test_unreadable_directory_is_rejected(folder):
    folder.write("sub/a", b"one")
    with pytest.raises(DataError, match=r"out/sub: cannot be read: "):
        folder.read("sub")


def test_full_disk_leaves_no_partial_file(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = open_directory(str(tmp_path / "out"))
    folder.write("a", b"before")
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(DataError, match=r"out: cannot be written to: No space left .* to resume"):
        folder.write("a", b"after")
    assert folder.read("a") == b"before"
    assert folder.names("unfinished") == []


@pytest.mark.needs_extras
def test_unwritable_address_is_rejected(tmp_path):
    (tmp_path / "file").write_text("no folder")
    folder = open_directory(f"file://{tmp_path}/file/out")
    with pytest.raises(DataError, match=r"file/out/a: cannot be written: "):
        folder.write("a", b"")


@pytest.mark.needs_extras
def test_remote_job_writes_the_same_bytes(news, make_job, tmp_path, contents):
    run_batch(make_job(news, out=tmp_path / "local"), run_in_process)
    for _ in range(2):  # the second run finds the finished job
        job = make_job(f"file://{news}", out=f"file://{tmp_path}/remote")
        run_batch(job, run_in_process)
    local, remote = contents(tmp_path / "local"), contents(tmp_path / "remote")
    for name in ("manifest.json", ".lock"):
        local.pop(name)
        remote.pop(name, None)
    bad = "bad/part-00000-000001.jsonl"
    assert f'"file": "file://{news}", "row": 3'.encode() in remote.pop(bad)
    assert local.pop(bad)
    assert remote == local


@pytest.mark.needs_extras
def test_remote_text_has_address_as_file(make_job, tmp_path):
    (tmp_path / "a.txt").write_text("A ferry.")
    job = make_job(f"file://{tmp_path}/a.txt")
    (shard,) = job.split_input(job.inputs[0], {})
    (record,) = shard.records()
    assert record.fields == {"file": f"file://{tmp_path}/a.txt"}
    assert record.where == f"file://{tmp_path}/a.txt"


@pytest.mark.slow
def test_job_resumes_after_full_disk(news, make_job, tmp_path):
    job = make_job(news)
    out = Path(job.config.out)
    out.mkdir()
    (out / "unfinished").mkdir()
    # A file in place of the folder 'bad' makes writing fail, as a full disk does.
    (out / "bad").write_text("")
    with pytest.raises(DataError, match=r"out: cannot be written to: .*run the same command"):
        run_batch(job, local_engine(num_workers=1))
    (out / "bad").unlink()
    assert run_batch(job, local_engine(num_workers=1)).rows == 5
    shutil.rmtree(out)
