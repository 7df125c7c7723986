"""Atomic, synced and bounded file access."""

import errno
import os
from pathlib import Path
from uuid import UUID

import pytest

from readagain.errors import DataError
from readagain.storage.files import (
    atomic_dir,
    atomic_write,
    read_bounded,
    remove,
    sync_dir,
    write_output,
    write_synced,
)


def test_atomic_write_replaces_file_at_the_end(tmp_path):
    path = tmp_path / "words.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("bridge\n")
        assert not path.exists()
    assert path.read_text() == "bridge\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error_type", [OSError, KeyboardInterrupt])
def test_atomic_write_keeps_old_file_after_error(tmp_path, error_type):
    path = tmp_path / "words.txt"
    path.write_text("before\n")

    def write_incompletely():
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise error_type

    with pytest.raises(error_type):
        write_incompletely()
    assert path.read_text() == "before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_write_output_refuses_missing_folder(tmp_path):
    path = tmp_path / "none" / "words.txt"
    message = r"none/words\.txt: the folder '.*none' does not exist; create it first$"
    with pytest.raises(DataError, match=message), write_output(path):
        pytest.fail("the block must not run")


def test_write_output_reports_os_error_in_one_line(tmp_path):
    with (
        pytest.raises(DataError, match=r"words\.txt: cannot be written: No space left on device$"),
        write_output(tmp_path / "words.txt"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_write_output_writes_to_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with write_output(pipe) as path:
        path.write_text("bridge\n")
    assert os.read(reading, 100) == b"bridge\n"
    os.close(reading)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("before", ["before\n", None])
def test_write_output_replaces_target_of_link(tmp_path, before):
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to("target")
    if before is not None:
        target.write_text(before)
    with write_output(link) as temporary:
        temporary.write_text("bridge\n")
        assert target.exists() == (before is not None)
    assert link.readlink() == Path("target")
    assert target.read_text() == "bridge\n"


@pytest.mark.parametrize("name", [".", "/", "{folder}"])
def test_write_output_refuses_folder(tmp_path, name):
    path = Path(name.format(folder=tmp_path))
    with pytest.raises(DataError, match="is a folder; name a file to write"), write_output(path):
        pytest.fail("the block must not run")
    assert list(tmp_path.iterdir()) == []


def test_read_bounded_refuses_larger_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"12345")
    assert read_bounded(path, max_bytes=5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_bounded(path, max_bytes=4)


def test_read_bounded_allocates_memory_for_the_file_only(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, max_bytes=1 << 62) == b"12345"


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs /proc")
def test_read_bounded_reads_files_that_report_no_size():
    path = Path("/proc/version")
    assert path.stat().st_size == 0
    assert read_bounded(path, max_bytes=10_000) == path.read_bytes()
    with pytest.raises(OSError, match="more than 5 bytes"):
        read_bounded(path, max_bytes=5)


def test_read_bounded_refuses_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_bounded(tmp_path / "pipe", max_bytes=5)


def synced_files(monkeypatch):
    """Record each synced file with its size at that time."""
    synced = []

    def fsync(descriptor):
        state = os.fstat(descriptor)
        synced.append((state.st_ino, state.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return synced


def test_write_synced_syncs_content(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    write_synced(tmp_path / "words.txt", b"bridge\n")
    assert synced == [((tmp_path / "words.txt").stat().st_ino, 7)]
    assert (tmp_path / "words.txt").read_bytes() == b"bridge\n"


def test_durable_atomic_write_syncs_file_then_directory(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    with atomic_write(tmp_path / "words.txt", durable=True) as temporary:
        temporary.write_bytes(b"bridge\n")
    inodes = [(tmp_path / "words.txt").stat().st_ino, tmp_path.stat().st_ino]
    assert [inode for inode, _ in synced] == inodes


def test_atomic_write_does_not_use_predictable_names(tmp_path):
    mine = tmp_path / "words.txt.part"
    mine.write_text("mine")
    with atomic_write(tmp_path / "words.txt") as temporary:
        temporary.write_text("bridge\n")
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("is_link", [True, False])
def test_atomic_write_refuses_planted_temporary_file(tmp_path, monkeypatch, is_link):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    planted = tmp_path / f".{UUID(int=1).hex}.part"
    planted.symlink_to(victim) if is_link else planted.write_text("mine")
    monkeypatch.setattr("readagain.storage.files.uuid4", lambda: UUID(int=1))
    with pytest.raises(FileExistsError), atomic_write(tmp_path / "words.txt"):
        pytest.fail("the block must not run")
    assert planted.read_text() == victim.read_text() == "mine"


def test_write_synced_does_not_follow_planted_link(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        write_synced(tmp_path / "link", b"bridge")
    assert (tmp_path / "victim").read_text() == "mine"


def test_atomic_dir_replaces_directory_when_complete(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    out, temporary = tmp_path / "out", tmp_path / "part"
    for left_over in (out, temporary):
        left_over.mkdir()
        (left_over / "old.txt").write_text("old")
    with atomic_dir(out, temporary=temporary) as directory:
        assert list(directory.iterdir()) == []
        (directory / "new.txt").write_text("new")
        assert (out / "old.txt").exists()
    assert list(tmp_path.iterdir()) == [out]
    assert [file.name for file in out.iterdir()] == ["new.txt"]
    assert [inode for inode, _ in synced] == [out.stat().st_ino, tmp_path.stat().st_ino]


def test_atomic_dir_keeps_old_directory_after_error(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "old.txt").write_text("old")

    def write_part():
        with atomic_dir(out, temporary=tmp_path / "part") as directory:
            (directory / "new.txt").write_text("new")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_part()
    assert list(tmp_path.iterdir()) == [out]
    assert [file.name for file in out.iterdir()] == ["old.txt"]


def test_atomic_dir_restores_old_directory_if_rename_fails(tmp_path, monkeypatch):
    out, temporary = tmp_path / "out", tmp_path / "part"
    out.mkdir()
    (out / "old.txt").write_text("old")
    rename = Path.rename

    def fail_for_temporary(path, target):
        if path == temporary:
            raise PermissionError("in use")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_for_temporary)
    with pytest.raises(PermissionError, match="in use"), atomic_dir(out, temporary=temporary):
        pass
    assert list(tmp_path.iterdir()) == [out]
    assert [file.name for file in out.iterdir()] == ["old.txt"]


def test_atomic_dir_does_not_follow_planted_link(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "mine.txt").write_text("mine")
    (tmp_path / "part").symlink_to(victim)
    with atomic_dir(tmp_path / "out", temporary=tmp_path / "part") as directory:
        (directory / "new.txt").write_text("new")
    assert not (tmp_path / "out").is_symlink()
    assert [file.name for file in victim.iterdir()] == ["mine.txt"]


def test_remove_deletes_link_and_keeps_its_target(tmp_path):
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "dir")
    remove(tmp_path / "link")
    assert (tmp_path / "dir").exists()
    remove(tmp_path / "dir")
    remove(tmp_path / "dir")
    assert list(tmp_path.iterdir()) == []


def test_sync_dir_syncs_directory(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    sync_dir(tmp_path)
    assert [inode for inode, _ in synced] == [tmp_path.stat().st_ino]


def test_two_writers_of_one_output_do_not_mix(tmp_path):
    path = tmp_path / "headlines.txt"
    with write_output(path) as first:
        first.write_text("first")
        with write_output(path) as second:
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]
