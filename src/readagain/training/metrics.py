"""Metrics of a run: losses, `metrics.jsonl` and TensorBoard files."""

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import torch
from torch import Tensor

from readagain.errors import ArtifactError, MissingExtraError, os_errors, require
from readagain.storage.files import refuse_links
from readagain.training.run_dir import METRICS_FILE, TENSORBOARD_DIR


@dataclass(frozen=True)
class LossValues:
    """Losses of consecutive updates; the copy from the device may still be running.

    Args:
        losses: losses in CPU memory.
        copy_end: recorded when the copy is complete; None without a GPU.
    """

    losses: Tensor
    copy_end: "torch.cuda.Event | None"

    def read(self) -> list[float]:
        """Return the losses; wait for the device if they are not copied yet."""
        if self.copy_end is not None:
            self.copy_end.synchronize()
        losses: list[float] = self.losses.tolist()
        return losses


class LossBuffer:
    """Losses of updates since the last line of the log, on the device.

    Args:
        losses: the losses of a resumed run since the last line of its log.
        device: the device of the losses.
    """

    def __init__(self, losses: Iterable[float], device: torch.device) -> None:
        self._losses = [torch.tensor(loss, device=device) for loss in losses]

    def add(self, loss: Tensor) -> None:
        """Add a copy of a loss."""
        self._losses.append(loss.clone())

    def __len__(self) -> int:
        return len(self._losses)

    def copy(self) -> LossValues:
        """Copy the losses to CPU memory without waiting."""
        losses = torch.stack(self._losses) if self._losses else torch.zeros(0)
        if losses.device.type != "cuda":
            return LossValues(losses, None)
        host = torch.empty(losses.shape, pin_memory=True)
        host.copy_(losses, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        return LossValues(host, event)

    def take(self) -> LossValues:
        """Copy the losses to CPU memory and clear the buffer."""
        losses = self.copy()
        self._losses = []
        return losses


class _EventWriter:
    """Writer of a TensorBoard file.

    The writer of torch writes in a thread, whose errors are printed as tracebacks.

    Args:
        folder: the folder of TensorBoard files; each process adds one.
        purge_step: the first step; TensorBoard ignores this step and later ones in older files.
    """

    def __init__(self, folder: Path, *, purge_step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import SessionLog  # type: ignore[import-untyped]
        from tensorboard.summary.writer.record_writer import (  # type: ignore[import-untyped]
            RecordWriter,
        )

        folder.mkdir(exist_ok=True)
        # TensorBoard reads the files in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{uuid4().hex}"
        self._records = RecordWriter((folder / name).open("xb"))
        with ExitStack() as stack:
            stack.callback(self.close)  # if the disk is full
            self._add(file_version="brain.Event:2")
            self._add(step=purge_step, session_log=SessionLog(status=SessionLog.START))
            stack.pop_all()

    def add_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write numbers by name."""
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

        named = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._add(step=step, summary=Summary(value=named))

    def _add(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()

    def close(self) -> None:
        """Close the file."""
        self._records.close()


class MetricsLog:
    """Writer of `metrics.jsonl` and of TensorBoard files.

    Args:
        run_path: the run directory.
        checkpoint_bytes: length of the log at the checkpoint; later content is removed.
        checkpoint_step: the step of the checkpoint.
    """

    def __init__(self, run_path: Path, *, checkpoint_bytes: int, checkpoint_step: int) -> None:
        self.path = run_path / METRICS_FILE
        with self._write_errors(), self._open() as file:
            if file.tell() < checkpoint_bytes:
                raise ArtifactError(
                    f"{self.path}: {file.tell():,} bytes, but {checkpoint_bytes:,} at the latest "
                    "checkpoint; was it edited by hand? start the run again with overwrite"
                )
            os.truncate(file.fileno(), checkpoint_bytes)
        self.missing_tensorboard = ""
        self._writer: _EventWriter | None = None
        with ExitStack() as stack, self._write_errors():
            try:
                require("tensorboard", extra="train", purpose="a log for TensorBoard")
            except MissingExtraError as error:
                self.missing_tensorboard = str(error)
            else:
                folder = run_path / TENSORBOARD_DIR
                refuse_links(folder, below=run_path)
                self._writer = _EventWriter(folder, purge_step=checkpoint_step + 1)
                stack.callback(self._writer.close)
            self._file = self._open()
            stack.pop_all()

    def _open(self) -> BinaryIO:
        """Open the log at its end; a symbolic link is not followed."""
        refuse_links(self.path, below=self.path.parent)
        return self.path.open("ab")

    def close(self) -> None:
        """Close the files."""
        for file in (self._file, self._writer):
            if file is not None:
                with suppress(OSError):  # a full disk was reported by `write`
                    file.close()

    @property
    def num_bytes(self) -> int:
        """Length of the log."""
        return self._file.tell()

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line to the log, and its numbers to TensorBoard."""
        with self._write_errors():
            self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            if self._writer is not None:
                values = {name: each for name, each in record.items() if isinstance(each, float)}
                self._writer.add_scalars(values, record["step"])

    def _write_errors(self) -> AbstractContextManager[None]:
        advice = "the latest checkpoint is kept, run the same command again to resume"
        return os_errors(self.path, "written", ArtifactError, advice=advice)
