"""Checkpoints of a run, written to a temporary directory and renamed when complete.

```
resume/checkpoint-000012/
  progress.json          `TrainingState`, checksums of the other files and of this file
  weights.safetensors    weights
  training.safetensors   state of the optimizer, averaged weights
  best.safetensors       best weights so far; missing before the first validation
```
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save
from torch import Tensor

from readagain.errors import ArtifactError, os_errors
from readagain.storage.checksums import add_checksum, file_checksum, verify_checksum
from readagain.storage.files import atomic_dir, remove, write_synced
from readagain.training.state import TrainingState

BEST_FILE = "best.safetensors"
_WEIGHTS_FILE = "weights.safetensors"
_TRAINING_FILE = "training.safetensors"
_PROGRESS_FILE = "progress.json"
_PREFIX = "checkpoint-"
_STAGING_DIR = "unfinished"


@dataclass(frozen=True)
class Checkpoint:
    """Complete checkpoint on disk."""

    path: Path
    state: TrainingState

    @property
    def best_file(self) -> Path | None:
        """File of the best weights; None before the first validation."""
        path = self.path / BEST_FILE
        return path if path.exists() else None

    def weights(self) -> dict[str, Tensor]:
        """Read the weights of the network."""
        return load_file(self.path / _WEIGHTS_FILE)

    def training_tensors(self) -> dict[str, Tensor]:
        """Read the state of the optimizer and the averaged weights."""
        return load_file(self.path / _TRAINING_FILE)


def save_checkpoint(
    directory: Path,
    state: TrainingState,
    *,
    weights: Mapping[str, Tensor],
    training_tensors: Mapping[str, Tensor],
    best: Mapping[str, Tensor] | None,
    previous: Checkpoint | None,
) -> Checkpoint:
    """Write a checkpoint to the directory of the checkpoints of a run, then remove older ones.

    `training_tensors` are the state of the optimizer and the averaged weights. `best` are new best
    weights; None keeps those of `previous`, the latest complete checkpoint, if there is one.

    Raises:
        ArtifactError: if the disk is full or fails; `previous` is then unchanged.
    """
    older_paths = _checkpoint_paths(directory)
    number = int(older_paths[-1].name.removeprefix(_PREFIX)) + 1 if older_paths else 1
    path = directory / f"{_PREFIX}{number:06d}"
    advice = "nothing had been saved before"
    if previous is not None:
        advice = (
            f"step {previous.state.step} is kept; free some space, then run the same command again "
            "to resume"
        )
    with (
        os_errors(f"{directory}: step {state.step}", "saved", ArtifactError, advice=advice),
        atomic_dir(path, temporary=directory / _STAGING_DIR) as staging,
    ):
        write_tensors(staging / _WEIGHTS_FILE, weights)
        write_tensors(staging / _TRAINING_FILE, training_tensors)
        if best is not None:
            write_tensors(staging / BEST_FILE, best)
        elif previous is not None and previous.best_file is not None:
            _link_or_copy(previous.best_file, staging / BEST_FILE)
        files = {path.name: file_checksum(path) for path in sorted(staging.iterdir())}
        content = add_checksum({"progress": asdict(state), "files": files})
        write_synced(staging / _PROGRESS_FILE, json.dumps(content, indent=1).encode())
    for older_path in older_paths:
        remove(older_path)
    return Checkpoint(path, state)


def latest_checkpoint(directory: Path) -> Checkpoint | None:
    """Return the latest complete checkpoint in a directory, or None if there is no checkpoint.

    Raises:
        ArtifactError: if all checkpoints are damaged, or the latest complete checkpoint was written
            by another version of readagain.
    """
    paths = _checkpoint_paths(directory)
    for path in reversed(paths):
        content = _read_verified(path)
        if content is None:
            continue
        try:
            return Checkpoint(path, TrainingState.from_dict(content["progress"]))
        except (KeyError, TypeError) as error:
            raise ArtifactError(
                f"{path}: written by another version of readagain; resume with that version, or "
                "start the run again with overwrite"
            ) from error
    if paths:
        raise ArtifactError(
            f"{paths[-1]}: damaged, and there is no other checkpoint; restore it from a copy, or "
            "start the run again with overwrite"
        )
    return None


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file and flush it to the disk (fsync)."""
    # Serialized in memory, since safetensors does not report a full disk as an OSError.
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_synced(path, save(on_cpu))


def _read_verified(path: Path) -> dict[str, Any] | None:
    """Return the content of `progress.json`, or None if the checkpoint is damaged."""
    try:
        content = verify_checksum((path / _PROGRESS_FILE).read_bytes())
        if content is None:
            return None
        checksums = content["files"].items()
        is_complete = all(file_checksum(path / name) == checksum for name, checksum in checksums)
    except OSError:
        return None
    return content if is_complete else None


def _checkpoint_paths(directory: Path) -> list[Path]:
    """Return the paths of all checkpoints in a directory, oldest first.

    `Path.glob` is not used, since it finds nothing in a directory that cannot be read. The run
    would then start again from the beginning.
    """
    if not directory.exists():
        return []
    with os_errors(directory, "read", ArtifactError, advice="run the same command again to resume"):
        return sorted(path for path in directory.iterdir() if path.name.startswith(_PREFIX))


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
