"""Numbers of a run: losses fetched without waiting, `metrics.jsonl`, TensorBoard."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from readagain.errors import ArtifactError, MissingExtraError, ReadAgainError, require
from readagain.training.run_dir import METRICS_FILE, TENSORBOARD_DIR


@dataclass(frozen=True)
class Window:
    """Losses of consecutive updates on their way from the device."""

    last_step: int
    losses: Tensor
    is_there: "torch.cuda.Event | None"

    def read(self) -> list[float]:
        """Return the losses; waits for the device only if they are not there yet.

        Raises:
            ReadAgainError: naming the first update whose loss is no number.
        """
        if self.is_there is not None:
            self.is_there.synchronize()
        losses: list[float] = self.losses.tolist()
        for step, loss in enumerate(losses, start=self.last_step - len(losses) + 1):
            if not math.isfinite(loss):
                raise DivergedError(step, f"the loss became {loss}")
        return losses


class DivergedError(ReadAgainError):
    """Training left the numbers: which update, and what was seen."""

    def __init__(self, step: int, what: str) -> None:
        super().__init__(f"training diverged at step {step}: {what}")


class LossBuffer:
    """Collect the losses of updates on the device.

    Args:
        losses: of updates since the last line of the log, when a run is gone on with.
        device: where the losses come from.
    """

    def __init__(self, losses: Iterable[float], device: torch.device) -> None:
        self.device = device
        self._losses = [torch.tensor(loss, device=device) for loss in losses]

    def add(self, loss: Tensor) -> None:
        """Take a copy of the loss of one update, which its owner may overwrite."""
        self._losses.append(loss.clone())

    def __len__(self) -> int:
        return len(self._losses)

    def peek(self, last_step: int) -> Window:
        """Send the losses to the host and keep them here, too."""
        losses = torch.stack(self._losses) if self._losses else torch.zeros(0)
        if losses.device.type != "cuda":
            return Window(last_step, losses, None)
        host = torch.empty(losses.shape, pin_memory=True)
        host.copy_(losses, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        return Window(last_step, host, event)

    def close(self, last_step: int) -> Window:
        """Send the losses to the host and begin anew."""
        window = self.peek(last_step)
        self._losses = []
        return window


class MetricsLog:
    """Append to `metrics.jsonl` and to the TensorBoard files of a run.

    Args:
        folder: the run's folder.
        at_bytes: how much of an existing log is to be gone on with; the rest is cut off.
        at_step: the step it is gone on from.
    """

    def __init__(self, folder: Path, *, at_bytes: int, at_step: int) -> None:
        self.path = folder / METRICS_FILE
        with _told_when_it_fails(self.path), self.path.open("ab") as file:
            if file.tell() < at_bytes:
                raise ArtifactError(
                    f"{self.path}: {file.tell():,} bytes, the checkpoint knows of {at_bytes:,}; "
                    "was it edited by hand? start over with --overwrite"
                )
            os.truncate(file.fileno(), at_bytes)
        self._file = self.path.open("ab")
        self.missing_tensorboard = ""
        self._writer: Any = None
        try:
            require("tensorboard", extra="train", purpose="a log for TensorBoard")
        except MissingExtraError as error:
            self.missing_tensorboard = str(error)
        else:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(folder / TENSORBOARD_DIR), purge_step=at_step + 1)

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._writer is not None:
            with suppress(OSError):  # a full disk has been told of before
                self._writer.close()

    @property
    def num_bytes(self) -> int:
        """The length of the log so far."""
        return self._file.tell()

    def write(self, record: Mapping[str, Any]) -> None:
        """Add one line; numbers go to TensorBoard, too."""
        with _told_when_it_fails(self.path):
            self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            if self._writer is not None:
                for name, value in record.items():
                    if isinstance(value, float):
                        self._writer.add_scalar(name, value, record["step"])


@contextmanager
def _told_when_it_fails(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(
            f"{path}: cannot be written: {error.strerror or error}; the newest checkpoint is "
            "kept, and the same command goes on from there"
        ) from error
