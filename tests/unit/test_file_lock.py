"""A lock that one holder has at a time."""

import errno
import os

import pytest

from readagain.errors import ConfigError
from readagain.file_lock import lock_file, locked_dir


def test_a_held_lock_is_refused_and_closing_the_file_frees_it(tmp_path):
    path = tmp_path / "lock"
    with path.open("w") as first:
        assert lock_file(first)
        with path.open("a+") as second:
            assert not lock_file(second)
    with path.open("a+") as third:
        assert lock_file(third)


def hold(path):
    return locked_dir(path, doing="writing into", named_by="--out")


def test_a_folder_is_made_and_held_by_one_process_that_is_named(tmp_path):
    message = rf"out: process {os.getpid()} is writing into this folder; wait .* another --out"
    folder = tmp_path / "new" / "out"
    with hold(folder), pytest.raises(ConfigError, match=message), hold(folder):
        pass
    with hold(folder):
        assert [path.name for path in folder.iterdir()] == [".lock"]
    assert (folder / ".lock").read_text() == ""


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    message = "file: cannot be written to: .*; choose another --out"
    with pytest.raises(ConfigError, match=message), hold(tmp_path / "file"):
        pass


def test_a_drive_without_locks_is_not_taken_for_a_folder_that_is_held(tmp_path, monkeypatch):
    def flock(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    message = r"\.lock: cannot be locked: No locks available; choose a folder on another drive"
    with pytest.raises(ConfigError, match=message), hold(tmp_path):
        pass
