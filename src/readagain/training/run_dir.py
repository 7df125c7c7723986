"""Output folder of a training run.

```
OUT/
  model.json, run.json, …   the model folder, after the first validation
  metrics.jsonl             one JSON object per log line or validation
  tensorboard/              the same numbers for TensorBoard
  resume/                   the identity of the run and its latest checkpoint
  resume/finished.json      written when the run has finished
```
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from readagain.config.files import run_from_dict, run_to_dict
from readagain.config.schema import RunSpec
from readagain.counts import pluralize
from readagain.errors import ArgumentError, ArtifactError, ConfigError
from readagain.storage.model_manifest import MANIFEST_FILE, read_manifest
from readagain.storage.output_dir import LocalDir, OutputDir
from readagain.training.state import TrainingState

METRICS_FILE = "metrics.jsonl"
TENSORBOARD_DIR = "tensorboard"
RESUME_DIR = "resume"
_FINISHED_FILE = f"{RESUME_DIR}/finished.json"


class RunDir(OutputDir):
    """Output folder of one training run.

    `RunDir.open` resumes the run in the folder if its settings and inputs are the same, or differ
    only by more epochs.
    """

    content = "training run"
    action = "training into"
    identity_file = f"{RESUME_DIR}/identity.json"

    def __init__(self, directory: LocalDir) -> None:
        super().__init__(directory)
        self.path = directory.path

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / RESUME_DIR

    def finished_state(self) -> TrainingState | None:
        """Return the final state of a finished run, or None if it has not finished."""
        content = self.read_json(_FINISHED_FILE)
        if content is None:
            return None
        try:
            return TrainingState.from_dict(content)
        except (KeyError, TypeError) as error:
            raise self.damaged_error(_FINISHED_FILE) from error

    def has_finished(self, epochs: int) -> bool:
        """Return whether the run has been trained for `epochs` epochs, or has stopped early."""
        state = self.finished_state()
        # Version 0.1 stored `epochs` 0 and no checkpoint, so there is nothing to continue from.
        return state is not None and state.epochs in (0, epochs)

    def finish(self, state: TrainingState) -> None:
        """Mark the run as finished; keep its checkpoint, so that more epochs can be trained."""
        self.write_json(_FINISHED_FILE, asdict(state))

    def check_identity(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Check that the identity in the folder is that of this run, which may have more epochs.

        Raises:
            ConfigError: if other settings differ, or there is no checkpoint to continue from.
        """
        old, new = (each.get("train", {}).get("epochs", 0) for each in (before, now))
        if old < new and self.finished_state() is not None and not self._has_checkpoint():
            raise ArgumentError(
                "{0}: has finished its {1} and has no checkpoint to continue from; fine-tune it "
                "with {from} in another folder, or start over with {overwrite}",
                self.path,
                pluralize(old, "epoch"),
            )
        if old < new:
            before = {**before, "train": {**before["train"], "epochs": new}}
        super().check_identity(before, now)

    def is_own_name(self, name: str) -> bool:
        """Return whether a run creates `name` before its identity is written."""
        return name == RESUME_DIR

    def has_output(self) -> bool:
        """Return whether the folder contains a run or a model."""
        return (self.path / MANIFEST_FILE).exists() or self.checkpoints.exists()

    def clear(self) -> None:
        """Delete the run and the model in the folder, and no other files."""
        names: list[str] = []
        if (self.path / MANIFEST_FILE).exists():
            try:
                names = [*read_manifest(self.path).files, MANIFEST_FILE]
            except ArtifactError as error:
                raise ConfigError(f"{error}; empty the folder by hand") from error
        if self.has_output():
            for name in (*names, METRICS_FILE, TENSORBOARD_DIR, RESUME_DIR):
                self.directory.remove(name)

    def read_identity(self) -> dict[str, Any] | None:
        """Return the identity of the run in the folder, or None for a new folder.

        Raises:
            ConfigError: if the folder contains a checkpoint or a model without an identity.
        """
        identity = super().read_identity()
        if identity is not None:
            return _add_defaults(identity)
        if self._has_checkpoint():
            raise ArgumentError(
                "{0}: contains a checkpoint of an unknown run ({1} is missing); choose another "
                "folder, or start over with {overwrite}",
                self.path,
                self.identity_file,
            )
        if (self.path / MANIFEST_FILE).exists():
            raise ArgumentError(
                "{0}: already contains a model; choose another folder, or replace it with "
                "{overwrite}",
                self.path,
            )
        return None

    def _has_checkpoint(self) -> bool:
        return self.checkpoints.is_dir() and any(map(Path.is_dir, self.checkpoints.iterdir()))


def _add_defaults(identity: dict[str, Any]) -> dict[str, Any]:
    """Return an identity with the settings that its version did not have yet."""
    names = {field.name for field in fields(RunSpec)}
    try:
        settings = {name: value for name, value in identity.items() if name in names}
        return {**identity, **run_to_dict(run_from_dict(settings, where=""))}
    except ConfigError:
        return identity
