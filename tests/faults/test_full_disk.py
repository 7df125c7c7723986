"""A full disk leads to a one-line error without partial output, and the job can be resumed.

Two kinds of disks simulate it: a small tmpfs, if this process may mount one, and a limit on the
size of files (RLIMIT_FSIZE).
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
    """A folder with a limit on the size of the files that the job writes."""

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
def small_disk(kind, folder, num_bytes):
    disk = {"tmpfs": TmpfsDisk, "limited": LimitedDisk}[kind](folder, num_bytes)
    try:
        yield disk
    finally:
        disk.close()


def looks_complete(name, out):
    """Return whether the output of a failed job looks complete."""
    if name == "prepare":
        return out.exists()
    if name == "batch":
        return (out / "manifest.json").exists()
    if (out / MANIFEST_FILE).exists():
        ModelDir.open(out, checksums=True)  # a model after an earlier validation must be complete
    return (out / "resume" / "finished.json").exists()


@pytest.mark.parametrize(
    ("name", "disk_kind", "num_bytes"),
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
    name, disk_kind, num_bytes, jobs, expected_results, tmp_path
):
    job = jobs[name]
    with small_disk(disk_kind, tmp_path / "disk", num_bytes) as disk:
        out = disk.folder / "out"
        process = job.run(out, **disk.options)
        assert process.returncode == 2, (process.stdout, process.stderr)
        assert "Traceback" not in process.stderr
        message = process.stderr.splitlines()[-1]
        assert message.startswith("readagain: ")
        assert "space left" in message or "File too large" in message
        assert not looks_complete(name, out)

        disk.make_room()
        process = job.run(out, **disk.options)
        assert process.returncode == 0, process.stderr
        assert job.result(out) == expected_results(name)
