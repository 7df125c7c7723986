"""Files that are there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from readagain.errors import DataError
from readagain.whole_file import (
    atomic_write,
    read_bounded,
    sync_folder,
    write_synced,
    written_or_told,
)


def test_a_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "words.txt"
    with atomic_write(path) as aside:
        aside.write_text("bridge\n")
        assert not path.exists()
    assert path.read_text() == "bridge\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("trouble", [OSError, KeyboardInterrupt])
def test_a_failed_attempt_leaves_what_was_there_and_nothing_else(tmp_path, trouble):
    path = tmp_path / "words.txt"
    path.write_text("before\n")

    def write_half():
        with atomic_write(path) as aside:
            aside.write_text("half")
            raise trouble

    with pytest.raises(trouble):
        write_half()
    assert path.read_text() == "before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_told_in_a_line(tmp_path):
    path = tmp_path / "none" / "words.txt"
    message = r"none/words\.txt: no folder '.*none' to write it into; make it first$"
    with pytest.raises(DataError, match=message), written_or_told(path):
        pytest.fail("no work is done for it")


def test_trouble_while_writing_is_told_in_a_line(tmp_path):
    with (
        pytest.raises(DataError, match=r"words\.txt: cannot be written: No space left on device$"),
        written_or_told(tmp_path / "words.txt"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with written_or_told(pipe) as path:
        path.write_text("bridge\n")
    assert os.read(reading, 100) == b"bridge\n"
    os.close(reading)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("before", ["before\n", None])
def test_a_link_stays_and_what_it_names_is_written(tmp_path, before):
    named, link = tmp_path / "named", tmp_path / "link"
    link.symlink_to("named")
    if before is not None:
        named.write_text(before)
    with written_or_told(link) as aside:
        aside.write_text("bridge\n")
        assert named.exists() == (before is not None)
    assert link.readlink() == Path("named")
    assert named.read_text() == "bridge\n"


@pytest.mark.parametrize("name", [".", "/", "{folder}"])
def test_a_folder_is_told_from_a_file_before_any_work(tmp_path, name):
    path = Path(name.format(folder=tmp_path))
    with pytest.raises(DataError, match="a folder; name a file to write"), written_or_told(path):
        pytest.fail("no work is done for it")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_only_as_far_as_it_may_go(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"12345")
    assert read_bounded(path, max_bytes=5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_bounded(path, max_bytes=4)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no ordinary file"):
        read_bounded(tmp_path / "pipe", max_bytes=5)


def synced_files(monkeypatch):
    """Note what is waited for, with its size at that moment."""
    synced = []

    def fsync(descriptor):
        state = os.fstat(descriptor)
        synced.append((state.st_ino, state.st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    return synced


def test_a_file_is_on_the_disk_whole_before_anybody_goes_on(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    write_synced(tmp_path / "words.txt", b"bridge\n")
    assert synced == [((tmp_path / "words.txt").stat().st_ino, 7)]
    assert (tmp_path / "words.txt").read_bytes() == b"bridge\n"


def test_the_names_in_a_folder_are_waited_for(tmp_path, monkeypatch):
    synced = synced_files(monkeypatch)
    sync_folder(tmp_path)
    assert [inode for inode, _ in synced] == [tmp_path.stat().st_ino]
