"""Metrics of a run: losses, `metrics.jsonl` and TensorBoard files, training curves."""

import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import torch
from torch import Tensor

from readagain.errors import ArtifactError, MissingExtraError, os_errors, require
from readagain.storage.files import refuse_links
from readagain.training.run_dir import METRICS_FILE, TENSORBOARD_DIR

Curves = dict[str, list[tuple[int, float]]]
"""(step, value) points by the name of the logged value, such as "dev_loss"."""


def start_copy(losses: Sequence[Tensor]) -> Callable[[], list[float]]:
    """Start copying losses from the device to the CPU.

    Returns:
        A function that waits for the end of the copy and returns the losses.
    """
    stacked = torch.stack([*losses]) if losses else torch.zeros(0)
    if stacked.device.type != "cuda":
        return stacked.tolist
    host = torch.empty(stacked.shape, pin_memory=True)
    host.copy_(stacked, non_blocking=True)
    copy_end = torch.cuda.Event()  # type: ignore[no-untyped-call]
    copy_end.record()

    def read() -> list[float]:
        copy_end.synchronize()
        values: list[float] = host.tolist()
        return values

    return read


class _EventWriter:
    """Writer of a TensorBoard file.

    Torch's `SummaryWriter` is not used, since it writes in a thread and prints errors of this
    thread as tracebacks.

    Each writer adds a file to the folder. `purge_step` is its first step. TensorBoard ignores
    values of this step and of later steps in older files.
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
        try:
            self._write_event(file_version="brain.Event:2")
            self._write_event(step=purge_step, session_log=SessionLog(status=SessionLog.START))
        except OSError:
            self.close()
            raise

    def add_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write the values of a step, by name."""
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

        scalars = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write_event(step=step, summary=Summary(value=scalars))

    def _write_event(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()

    def close(self) -> None:
        """Close the file."""
        self._records.close()


class MetricsLog:
    """Writer of `metrics.jsonl` and of TensorBoard files.

    Args:
        run_path: the run folder.
        checkpoint_bytes: length of `metrics.jsonl` at the latest checkpoint; the rest is removed.
            0 for a new run.
        checkpoint_step: the step of this checkpoint.

    Attributes:
        missing_tensorboard: message with the install command if TensorBoard is not installed, else
            empty; only `metrics.jsonl` is written then.
    """

    def __init__(self, run_path: Path, *, checkpoint_bytes: int, checkpoint_step: int) -> None:
        self.path = run_path / METRICS_FILE
        self.missing_tensorboard = ""
        self._event_writer: _EventWriter | None = None
        with ExitStack() as stack, self._write_errors():
            refuse_links(self.path, below=run_path)
            self._file = stack.enter_context(self.path.open("ab"))
            if self._file.tell() < checkpoint_bytes:
                raise ArtifactError(
                    f"{self.path}: {self._file.tell():,} bytes, but {checkpoint_bytes:,} at the "
                    "latest checkpoint; was it edited by hand? start the run again with overwrite"
                )
            self._file.truncate(checkpoint_bytes)
            self._file.seek(checkpoint_bytes)
            try:
                require("tensorboard", extra="train", purpose="a log for TensorBoard")
            except MissingExtraError as error:
                self.missing_tensorboard = str(error)
            else:
                folder = run_path / TENSORBOARD_DIR
                refuse_links(folder, below=run_path)
                self._event_writer = _EventWriter(folder, purge_step=checkpoint_step + 1)
            stack.pop_all()  # keeps the file open

    def close(self) -> None:
        """Close the files."""
        for file in (self._file, self._event_writer):
            if file is not None:
                with suppress(OSError):  # a full disk was reported by `write`
                    file.close()

    @property
    def num_bytes(self) -> int:
        """Length of `metrics.jsonl`."""
        return self._file.tell()

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a line to `metrics.jsonl`, and its float values to the TensorBoard file."""
        with self._write_errors():
            self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            if self._event_writer is not None:
                floats = {name: value for name, value in record.items() if isinstance(value, float)}
                self._event_writer.add_scalars(floats, record["step"])

    def _write_errors(self) -> AbstractContextManager[None]:
        advice = "the latest checkpoint is kept, run the same command again to resume"
        return os_errors(self.path, "written", ArtifactError, advice=advice)


def read_curves(run: Path) -> Curves:
    """Read all logged values of a run; an incomplete last line is ignored.

    Raises:
        ArtifactError: if there is no log, or a line is not a JSON object with a step.
    """
    path = run / METRICS_FILE
    try:
        *lines, _incomplete_line = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ArtifactError(
            f"{run}: no {METRICS_FILE}; this is not a run of 'readagain train'"
        ) from error
    curves: Curves = {}
    for number, line in enumerate(lines, start=1):
        record = _parse_line(line, where=f"{path}:{number}")
        for name, value in record.items():
            if isinstance(value, float):
                curves.setdefault(name, []).append((record["step"], value))
    if not curves:
        raise ArtifactError(f"{path}: nothing has been logged yet")
    return curves


def _parse_line(line: bytes, *, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{where}: not JSON; was it edited by hand?") from error
    if not isinstance(record, dict) or not isinstance(record.get("step"), int):
        raise ArtifactError(f"{where}: expected a JSON object with an integer 'step'")
    return record
