"""Locks on files and directories."""

import errno
import os

import pytest

from readagain.errors import ConfigError
from readagain.storage.locks import locked_dir


def lock(path):
    return locked_dir(path, action="writing into")


def test_locked_dir_is_created_and_refused_to_others(tmp_path):
    message = r"out: another process is writing into this folder; wait .* another folder"
    folder = tmp_path / "new" / "out"
    with lock(folder), pytest.raises(ConfigError, match=message), lock(folder):
        pass
    with lock(folder):
        assert [path.name for path in folder.iterdir()] == [".lock"]


def test_locked_dir_reports_path_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    message = "file: cannot be written to: .*; choose another folder"
    with pytest.raises(ConfigError, match=message), lock(tmp_path / "file"):
        pass


def test_locked_dir_reports_drive_without_locks(tmp_path, monkeypatch):
    def flock(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    message = r"\.lock: cannot be locked: No locks available; choose another folder or drive"
    with pytest.raises(ConfigError, match=message), lock(tmp_path):
        pass


def test_locked_dir_does_not_follow_planted_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").symlink_to(victim)
    with pytest.raises(ConfigError, match=r"\.lock: cannot be locked"), lock(tmp_path / "out"):
        pass
    assert victim.read_text() == "mine"
