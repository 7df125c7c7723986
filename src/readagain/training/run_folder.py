"""The output folder of a run: held by one process at a time, and by one run for good.

```
OUT/
  model.json, run.json, …   the model folder, once a validation found weights to keep
  metrics.jsonl             one JSON object per log or validation
  tensorboard/              the same numbers for TensorBoard
  resume/                   the run's identity and its newest checkpoint
  resume/finished.json      written when the run has ended; no checkpoint is left then
```
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from readagain.config.differences import differences, first_few
from readagain.engine.manifest import MANIFEST_FILE, read_manifest
from readagain.errors import LONGEST_QUOTE, ArtifactError, ConfigError, quoted
from readagain.file_lock import LOCK_FILE, locked_dir
from readagain.training.progress import TrainingState
from readagain.whole_file import atomic_write, sync_folder, write_synced

METRICS_FILE = "metrics.jsonl"
TENSORBOARD_FOLDER = "tensorboard"
RESUME_FOLDER = "resume"
_IDENTITY_FILE = "identity.json"
_FINISHED_FILE = "finished.json"


@dataclass(frozen=True)
class RunDir:
    """The folder of one run."""

    path: Path

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints are."""
        return self.path / RESUME_FOLDER

    def finished(self) -> TrainingState | None:
        """Return how the run ended; None if it has not."""
        path = self.checkpoints / _FINISHED_FILE
        if not path.exists():
            return None
        try:
            return TrainingState.from_dict(_read_json(path))
        except (KeyError, TypeError) as error:
            raise _damaged(path) from error

    def finish(self, progress: TrainingState) -> None:
        """Note that the run has ended, and remove its checkpoints, which no one needs now."""
        _write_json(self.checkpoints / _FINISHED_FILE, asdict(progress))
        for path in self.checkpoints.iterdir():
            if path.is_dir():
                shutil.rmtree(path)


@contextmanager
def claimed(path: Path, identity: Mapping[str, Any], *, overwrite: bool) -> Iterator[RunDir]:
    """Take the folder of a run, new or to be gone on with, and hold its lock meanwhile.

    Args:
        path: what `--out` named.
        identity: what decides the run's numbers; a folder keeps to one identity.
        overwrite: remove another run that is there.

    Raises:
        ConfigError: when the folder cannot be written to, is held by another process, or holds
            another run or something else; the difference is named.
    """
    with locked_dir(path, doing="training into", named_by="--out"):
        was_ours = overwrite and _clear(path)
        _settle(path, json.loads(json.dumps(identity)), was_ours=was_ours)
        yield RunDir(path)


def _settle(path: Path, identity: Mapping[str, Any], *, was_ours: bool) -> None:
    """Check that the folder is this run's, or free, and make it this run's."""
    folder = path / RESUME_FOLDER
    file = folder / _IDENTITY_FILE
    if file.exists():
        found = [
            f"{_spelled(name)} was {quoted(before)} and is now {quoted(now)}"
            for name, before, now in differences(_read_json(file), identity)
        ]
        if found:
            raise ConfigError(
                f"{path}: holds another run: {first_few(found)}; choose another --out, or start "
                "over with --overwrite"
            )
        return
    if folder.is_dir() and any(each.is_dir() for each in folder.iterdir()):
        raise ConfigError(
            f"{path}: holds a checkpoint, and no {_IDENTITY_FILE} to say of which run; choose "
            "another --out, or start over with --overwrite"
        )
    # An empty folder for checkpoints: killed while making it.
    ours = (LOCK_FILE, RESUME_FOLDER)
    others = sorted(each.name for each in path.iterdir() if each.name not in ours)
    if MANIFEST_FILE in others:
        raise ConfigError(
            f"{path}: a model is there already; choose another --out, or replace it with "
            "--overwrite"
        )
    if others and not was_ours:
        raise ConfigError(
            f"{path}: the folder holds '{others[0]}' and no run of ours; choose another --out"
        )
    folder.mkdir(exist_ok=True)
    _write_json(file, identity)


def _clear(path: Path) -> bool:
    """Remove a run or a model, and nothing else that may lie beside it; say whether one was."""
    has_model, has_run = (path / MANIFEST_FILE).exists(), (path / RESUME_FOLDER).exists()
    if has_model:
        try:
            for name in read_manifest(path).files:
                (path / name).unlink(missing_ok=True)
        except ArtifactError as error:
            raise ConfigError(f"{error}; empty the folder by hand") from error
    if has_model or has_run:
        for name in (MANIFEST_FILE, METRICS_FILE):
            (path / name).unlink(missing_ok=True)
        for name in (TENSORBOARD_FOLDER, RESUME_FOLDER):
            shutil.rmtree(path / name, ignore_errors=True)
    return has_model or has_run


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not isinstance(content, dict):
        raise _damaged(path)
    return content


def _spelled(name: str) -> str:
    return name if name.isprintable() and len(name) <= LONGEST_QUOTE else quoted(name)


def _damaged(path: Path) -> ArtifactError:
    return ArtifactError(f"{path}: damaged; start over with --overwrite, or in another --out")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a note that checkpoints are believed or removed by, and wait for the disk."""
    with atomic_write(path) as aside:
        write_synced(aside, f"{json.dumps(content, indent=1)}\n".encode())
    sync_folder(path.parent)
