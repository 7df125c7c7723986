"""Files of a run, written by its first process: log, checkpoints and model folder."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from torch import Tensor

from readagain.training.checkpoint import save_checkpoint
from readagain.training.display import Display
from readagain.training.job import ResolvedJob
from readagain.training.metrics import DivergedError, LossBuffer, LossValues, MetricsLog
from readagain.training.provenance import add_state, provenance
from readagain.training.publish import publish_model
from readagain.training.run_dir import RunDir
from readagain.training.state import TrainingState
from readagain.training.trainer import Trainer, TrainerState
from readagain.training.validate import Validation

SAVE_SECONDS = 600.0
"""Maximum time between checkpoints if validations are further apart."""
ESTIMATE_SECONDS = 5.0
"""Time to measure after the first update, before the duration of the run is estimated."""
LONG_UPDATE_SECONDS = 20.0
"""If the first update takes at least this long, it alone gives the estimate."""


@dataclass(frozen=True)
class _LogLine:
    """Line of the log whose losses may still be on the device."""

    losses: LossValues
    num_pairs: int
    seconds: float


class RunWriter:
    """Writer of the log, the checkpoints and the model folder of a run.

    Args:
        job: the run.
        run_dir: its folder.
        display: the console output.
        state: the state in which this process starts.
        trainer: gives the device, the processes, the number of updates and the learning rate.
    """

    def __init__(
        self,
        job: ResolvedJob,
        run_dir: RunDir,
        display: Display,
        state: TrainingState,
        trainer: Trainer,
    ) -> None:
        self.job = job
        self.run_dir = run_dir
        self.display = display
        self.provenance = provenance(job, trainer.processes, trainer.device)
        self.total_steps = trainer.total_steps
        self.steps_per_epoch = trainer.steps_per_epoch
        self._learning_rate = trainer.step.learning_rate
        self.log = MetricsLog(
            run_dir.path, checkpoint_bytes=state.metrics_bytes, checkpoint_step=state.step
        )
        if self.log.missing_tensorboard:
            display.print_line(self.log.missing_tensorboard)
        self._losses = LossBuffer(state.open_losses, trainer.device)
        self._pending: _LogLine | None = None
        self._num_pairs = 0
        self._minutes_before = state.minutes
        self._first_step = state.step
        self._has_estimate = False
        self._first_update_end: float | None = None
        self._start_time = self._line_start = self._save_time = time.monotonic()

    def log_update(self, step: int, loss: Tensor, num_pairs: int) -> None:
        """Record an update; every `log_every` updates become a line of the log.

        A line is written when the next one is complete. Its losses have been computed by then, so
        the CPU does not wait for the GPU.
        """
        self._losses.add(loss)
        self._num_pairs += num_pairs
        self._show_estimate(step)
        if step % self.job.run.train.log_every == 0:
            self._write_pending()
            self._end_line(step)

    def _show_estimate(self, step: int) -> None:
        """Show the estimated duration once, since the first line of the log may take long."""
        if self._has_estimate:
            return
        now = time.monotonic()
        if self._first_update_end is None:
            self._first_update_end = now
            # The first update is slower than the others, but good enough if all take very long.
            seconds, num_updates, min_seconds = now - self._start_time, 1, LONG_UPDATE_SECONDS
        else:
            seconds, min_seconds = now - self._first_update_end, ESTIMATE_SECONDS
            num_updates = step - self._first_step - 1
        if seconds >= min_seconds:
            self._has_estimate = True
            self.display.show_estimate(seconds / num_updates, self.total_steps - step)

    @contextmanager
    def pause_timer(self) -> Iterator[None]:
        """Exclude the time of a block from the training rate in the log."""
        start = time.monotonic()
        yield
        self._line_start += time.monotonic() - start

    @property
    def is_save_due(self) -> bool:
        """Whether the last checkpoint is more than `SAVE_SECONDS` old."""
        return time.monotonic() - self._save_time >= SAVE_SECONDS

    def check_finite(self, state: TrainingState, tensors: TrainerState) -> list[float]:
        """Return the losses since the last line of the log.

        Raises:
            DivergedError: if a loss or a weight is not finite.
        """
        self._write_pending()
        losses = self._losses.copy(state.step).read()
        if not tensors.is_finite():
            raise DivergedError(state.step, "a weight is not finite")
        return losses

    def save(
        self,
        state: TrainingState,
        tensors: TrainerState,
        *,
        best: Mapping[str, Tensor] | None = None,
    ) -> TrainingState:
        """Write a checkpoint.

        Args:
            state: the state of the run.
            tensors: weights and optimizer state.
            best: new best weights; None keeps those of the last checkpoint.

        Returns:
            The state as it was saved, with the current length of the log and time.

        Raises:
            DivergedError: if a loss or a weight is not finite; nothing is written then.
            ArtifactError: if the disk is full or fails.
        """
        losses = self.check_finite(state, tensors)
        state = replace(
            state,
            open_losses=tuple(losses),
            metrics_bytes=self.log.num_bytes,
            minutes=self._minutes_before + (time.monotonic() - self._start_time) / 60,
        )
        save_checkpoint(
            self.run_dir.checkpoints,
            state,
            weights=tensors.weights,
            training=tensors.training,
            best=best,
        )
        self._save_time = time.monotonic()
        return state

    def log_validation(self, validation: Validation, *, is_best: bool) -> None:
        """Write the scores of a validation to the log and the display."""
        found = asdict(validation.scores)
        scores = {name: value for name, value in found.items() if value is not None}
        epoch = validation.scores.step / self.steps_per_epoch
        self.log.write({"step": scores.pop("step"), "epoch": epoch, **scores})
        self.display.show_validation(validation.scores, validation.samples, is_best=is_best)
        if validation.warning is not None:
            self.display.warn(validation.warning)

    def publish(self, state: TrainingState, *, is_finished: bool = False) -> None:
        """Write the model folder with the best weights of the latest checkpoint."""
        full_provenance = add_state(self.provenance, state, is_finished=is_finished)
        publish_model(self.run_dir, self.job, provenance=full_provenance, scores=state.best)

    def finish(self, state: TrainingState, tensors: TrainerState) -> TrainingState:
        """Write the last line of the log and the final model, and mark the run as finished."""
        self._write_pending()
        if len(self._losses):
            self._end_line(state.step)
        state = self.save(state, tensors)
        self.publish(state, is_finished=True)
        self.run_dir.finish(state)
        return state

    def close(self) -> None:
        """Close the log."""
        self.log.close()

    def _end_line(self, step: int) -> None:
        now = time.monotonic()
        losses = self._losses.take(step)
        self._pending = _LogLine(losses, self._num_pairs, now - self._line_start)
        self._line_start, self._num_pairs = now, 0

    def _write_pending(self) -> None:
        """Write the pending line of the log, whose losses have been copied by now."""
        if self._pending is None:
            return
        line, self._pending = self._pending, None
        losses, step = line.losses.read(), line.losses.last_step
        seconds = time.monotonic() - self._start_time
        record = {
            "step": step,
            "epoch": step / self.steps_per_epoch,
            "loss": sum(losses) / len(losses),
            "learning_rate": self._learning_rate(step - 1),
            "pairs_per_s": line.num_pairs / line.seconds,
            "minutes": self._minutes_before + seconds / 60,
        }
        self.log.write(record)
        seconds_per_step = seconds / max(1, step - self._first_step)
        self.display.show_update(record, seconds_left=seconds_per_step * (self.total_steps - step))
