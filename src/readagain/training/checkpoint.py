"""Checkpoints: written aside and renamed, so that the newest one found is always whole.

```
resume/checkpoint-000012/
  progress.json          the numbers, checksums of the files beside it, and of these numbers
  weights.safetensors    the weights as they are being trained
  training.safetensors   optimizer, running means
  best.safetensors       the weights to keep; absent until there are some
```
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save
from torch import Tensor

from readagain.errors import ArtifactError
from readagain.storage.checksums import add_checksum, verify_checksum
from readagain.storage.files import sync_dir, write_synced
from readagain.training.progress import TrainingState

BEST_FILE = "best.safetensors"
_WEIGHTS_FILE = "weights.safetensors"
_TRAINING_FILE = "training.safetensors"
_PROGRESS_FILE = "progress.json"
_PREFIX = "checkpoint-"
_ASIDE = "unfinished"


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint on disk."""

    path: Path
    progress: TrainingState

    @property
    def best_file(self) -> Path | None:
        """The file of the weights to keep, if there are some."""
        path = self.path / BEST_FILE
        return path if path.exists() else None

    def weights(self) -> dict[str, Tensor]:
        """Read the weights as they were being trained."""
        return _load(self.path / _WEIGHTS_FILE)

    def training(self) -> dict[str, Tensor]:
        """Read the state of the optimizer and of the running means."""
        return _load(self.path / _TRAINING_FILE)


def save_checkpoint(
    folder: Path,
    progress: TrainingState,
    *,
    weights: Mapping[str, Tensor],
    training: Mapping[str, Tensor],
    best: Mapping[str, Tensor] | None,
) -> Checkpoint:
    """Write a checkpoint; older ones are removed once it is whole.

    Args:
        folder: the folder of all checkpoints of the run.
        progress: the numbers.
        weights: the weights as they are being trained.
        training: the state of the optimizer and of the running means.
        best: weights to keep, if they changed since the last checkpoint; those are carried over
            otherwise.

    Raises:
        ArtifactError: when the disk is full or fails; the earlier checkpoint is then untouched.
    """
    before = latest_checkpoint(folder, checksums=False)
    aside = folder / _ASIDE
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        write_tensors(aside / _WEIGHTS_FILE, weights)
        write_tensors(aside / _TRAINING_FILE, training)
        if best is not None:
            write_tensors(aside / BEST_FILE, best)
        elif before is not None and before.best_file is not None:
            _link(before.best_file, aside / BEST_FILE)
        files = {path.name: _checksum(path) for path in sorted(aside.iterdir())}
        sealed = add_checksum({"progress": asdict(progress), "files": files})
        write_synced(aside / _PROGRESS_FILE, json.dumps(sealed, indent=1).encode())
        sync_dir(aside)
        path = _next_path(folder)
        aside.rename(path)
        sync_dir(folder)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        kept = "nothing had been saved before" if before is None else _kept(before)
        raise ArtifactError(
            f"{folder}: step {progress.step} cannot be saved: {error.strerror or error}; {kept}"
        ) from error
    for older in _all(folder):
        if older != path:
            shutil.rmtree(older)
    return Checkpoint(path, progress)


def latest_checkpoint(folder: Path, *, checksums: bool = True) -> Checkpoint | None:
    """Find the newest checkpoint that is whole.

    Args:
        folder: the folder of all checkpoints of the run.
        checksums: read every file once and compare its content; whoever has just written it
            need not.

    Raises:
        ArtifactError: when there are some and none is whole, so that nobody's work is begun anew
            in silence; or when it was written by a version with other ideas of progress.
    """
    found = _all(folder)
    for path in reversed(found):
        facts = _whole_facts(path, checksums=checksums)
        if facts is None:
            continue
        try:
            return Checkpoint(path, TrainingState.from_dict(facts["progress"]))
        except (KeyError, TypeError) as error:
            raise ArtifactError(
                f"{path}: written by another version of readagain; go on with that version, "
                "or start over with --overwrite"
            ) from error
    if found:
        raise ArtifactError(
            f"{found[-1]}: damaged, and no other checkpoint is there to go on from; restore it "
            "from a copy, or start over with --overwrite"
        )
    return None


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file and wait until it is on the disk."""
    # In memory first: safetensors reports a full disk as an error of its own kind.
    write_synced(path, save({n: t.detach().cpu().contiguous() for n, t in tensors.items()}))


def _whole_facts(path: Path, *, checksums: bool) -> dict[str, Any] | None:
    """Read what a checkpoint says about itself; None when it, or a file beside it, was changed."""
    try:
        facts = verify_checksum((path / _PROGRESS_FILE).read_bytes())
        is_whole = facts is not None and all(
            _checksum(path / name) == checksum if checksums else (path / name).exists()
            for name, checksum in facts["files"].items()
        )
    except OSError:
        return None
    return facts if is_whole else None


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _all(folder: Path) -> list[Path]:
    """List the checkpoints of a folder, oldest first."""
    return sorted(folder.glob(f"{_PREFIX}*"))


def _next_path(folder: Path) -> Path:
    """Name the next checkpoint; never as one that is there, since that would have to go first."""
    before = _all(folder)
    number = int(before[-1].name.removeprefix(_PREFIX)) + 1 if before else 1
    return folder / f"{_PREFIX}{number:06d}"


def _load(path: Path) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = load_file(path)
    return tensors


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _kept(checkpoint: Checkpoint) -> str:
    return (
        f"step {checkpoint.progress.step} is kept; make room, and the same command goes on "
        "from there"
    )
