"""Output folder of a training run.

```
OUT/
  model.json, run.json, …   files of the model, from the first validation on
  metrics.jsonl             log: one JSON object per line
  tensorboard/              the values of the log for TensorBoard
  resume/                   settings and inputs of the run (its identity), latest checkpoint
  resume/finished.json      written when the run has finished
```
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from readagain.config.files import run_from_dict, spec_to_dict
from readagain.config.schema import RunSpec
from readagain.errors import ArgumentError, ArtifactError, ConfigError, pluralize
from readagain.storage.model_manifest import MANIFEST_FILE, read_manifest
from readagain.storage.output_dir import LocalDir, OutputDir
from readagain.training.state import TrainingState

METRICS_FILE = "metrics.jsonl"
TENSORBOARD_DIR = "tensorboard"
RESUME_DIR = "resume"
_FINISHED_FILE = f"{RESUME_DIR}/finished.json"
BASE_MODEL_KEY = "weights begun from"
"""Key, in the identity file, of the checksum of the model to fine-tune."""


class RunDir(OutputDir):
    """Output folder of one training run.

    `RunDir.open` accepts a folder whose run has the same inputs and settings, except fewer epochs.
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
        """Return whether a run of `epochs` epochs has finished; it may have stopped early."""
        state = self.finished_state()
        # 0: a run of version 0.1, which has no checkpoint, so it cannot be continued.
        return state is not None and state.epochs in (0, epochs)

    def finish(self, state: TrainingState) -> None:
        """Mark the run as finished; its checkpoint stays, since more epochs may follow."""
        self.write_json(_FINISHED_FILE, asdict(state))

    def check_identity(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Check that the identities are equal, except that the epochs may have been increased.

        Raises:
            ArgumentError: if other settings differ, or there is no checkpoint to continue from.
        """
        old_epochs = before.get("train", {}).get("epochs", 0)
        new_epochs = now.get("train", {}).get("epochs", 0)
        if old_epochs < new_epochs:
            if self.finished_state() is not None and not self._has_checkpoint():
                raise ArgumentError(
                    "{0}: has finished its {1} and has no checkpoint to continue from; fine-tune "
                    "it with {begin_from} in another folder, or start over with {overwrite}",
                    self.path,
                    pluralize(old_epochs, "epoch"),
                )
            before = {**before, "train": {**before["train"], "epochs": new_epochs}}
        super().check_identity(_rename_base_model(before), _rename_base_model(now))

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
        for name in (*names, METRICS_FILE, TENSORBOARD_DIR, RESUME_DIR):
            self.directory.remove(name)

    def read_identity(self) -> dict[str, Any] | None:
        """Return the identity of the run in the folder, or None for a new folder.

        Raises:
            ArgumentError: if the folder contains a checkpoint or a model without an identity.
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


def _rename_base_model(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return an identity in which `BASE_MODEL_KEY` has a name that reads well in a message."""
    name = "the checksum of the model to fine-tune"
    return {name if key == BASE_MODEL_KEY else key: value for key, value in identity.items()}


def _add_defaults(identity: dict[str, Any]) -> dict[str, Any]:
    """Return an identity with defaults for settings that did not exist when it was stored."""
    names = {field.name for field in fields(RunSpec)}
    settings = {name: value for name, value in identity.items() if name in names}
    try:
        return {**identity, **spec_to_dict(run_from_dict(settings, where=""))}
    except ConfigError:  # this version cannot read it, so `check_identity` refuses it
        return identity
