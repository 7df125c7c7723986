"""A full disk is a one-line error, leaves no partial output, and the job can be resumed.

A full disk is simulated by a small tmpfs, where this process may mount one (stress tests, and one
job in the full run), and by a limit on the size of files (RLIMIT_FSIZE).
"""

import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from readagain.model_dir import ModelDir
from readagain.storage.model_manifest import MANIFEST_FILE

pytestmark = [pytest.mark.slow, pytest.mark.distributed]

MEGABYTE = 1 << 20


class TmpfsDisk:
    """A tmpfs, which is a file system in memory."""

    def __init__(self, folder: Path, num_bytes: int) -> None:
        folder.mkdir()
        self.folder = folder
        self.options = {}
        _mount("-t", "tmpfs", "-o", f"size={num_bytes}", "tmpfs", folder)

    def make_room(self) -> None:
        """Enlarge the file system."""
        _mount("-o", f"remount,size={64 * MEGABYTE}", self.folder)

    def close(self) -> None:
        """Unmount the file system."""
        subprocess.run(["umount", self.folder], check=True)


class LimitedDisk:
    """A folder in which the job may only write files up to a size."""

    def __init__(self, folder: Path, num_bytes: int) -> None:
        folder.mkdir()
        self.folder = folder
        limits = (num_bytes, num_bytes)
        self.options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)}

    def make_room(self) -> None:
        """Remove the limit."""
        self.options = {}

    def close(self) -> None:
        """Do nothing; pytest removes the folder."""


def _mount(*arguments: object) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True, capture_output=True)


@contextmanager
def disk_of(kind, folder, num_bytes):
    disk = {"tmpfs": TmpfsDisk, "limited": LimitedDisk}[kind](folder, num_bytes)
    try:
        yield disk
    finally:
        disk.close()


def is_half_written(name, out):
    """Return whether an incomplete folder looks complete."""
    if name == "prepare":
        return out.exists()
    if name == "batch":
        return (out / "manifest.json").exists()
    if (out / MANIFEST_FILE).exists():  # a model of an earlier validation, whole or refused
        ModelDir.open(out, checksums=True)
    return (out / "resume" / "finished.json").exists()


@pytest.mark.parametrize(
    ("name", "kind_of_disk", "num_bytes"),
    [
        ("prepare", "limited", 600_000),
        ("train", "limited", 50_000),
        ("batch", "limited", 9_000),
        ("batch", "tmpfs", 150_000),
        pytest.param("prepare", "tmpfs", 2 * MEGABYTE, marks=pytest.mark.stress),
        pytest.param("train", "tmpfs", 400_000, marks=pytest.mark.stress),
    ],
)
def test_full_disk_is_reported_and_loses_nothing(
    name, kind_of_disk, num_bytes, jobs, expected_results, tmp_path
):
    job = jobs[name]
    with disk_of(kind_of_disk, tmp_path / "disk", num_bytes) as disk:
        out = disk.folder / "out"
        done = job.run(out, **disk.options)
        assert done.returncode == 2, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        message = done.stderr.splitlines()[-1]
        assert message.startswith("readagain: ")
        assert "space left" in message or "File too large" in message
        assert not is_half_written(name, out)

        disk.make_room()
        done = job.run(out, **disk.options)
        assert done.returncode == 0, done.stderr
        assert job.result(out) == expected_results(name)
