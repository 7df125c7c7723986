"""Validations of a run and its files: log, checkpoints and model, in its first process only."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

import torch
from torch import Tensor

from readagain.errors import ReadAgainError
from readagain.training.checkpoint import Checkpoint, save_checkpoint
from readagain.training.display import Display
from readagain.training.job import ResolvedJob
from readagain.training.metrics import MetricsLog, start_copy
from readagain.training.provenance import add_state, collect_provenance
from readagain.training.publish import publish_model
from readagain.training.run_dir import RunDir
from readagain.training.state import TrainingState
from readagain.training.stop_signal import StopSignal
from readagain.training.trainer import Trainer
from readagain.training.validate import Validation, Validator

SAVE_SECONDS = 600.0
"""Time after which a checkpoint is saved if there was no validation, which also saves one."""
ESTIMATE_SECONDS = 5.0
"""Time between the end of the first update and the estimate of the duration of the run."""


class RunWriter:
    """Writer of the log, the checkpoints and the model of a run, which it also validates.

    This process starts in `state`. `checkpoint` contains this state; it is None for a new run.
    """

    def __init__(
        self,
        job: ResolvedJob,
        run_dir: RunDir,
        display: Display,
        state: TrainingState,
        checkpoint: Checkpoint | None,
        trainer: Trainer,
    ) -> None:
        self.job = job
        self.run_dir = run_dir
        self.display = display
        self.checkpoint = checkpoint
        self.trainer = trainer
        self.provenance = collect_provenance(job, trainer.processes, trainer.device)
        has_dev = len(job.corpus.split("dev")) > 0
        self.validator = Validator(job, trainer.device) if has_dev else None
        self.log = MetricsLog(
            run_dir.path, checkpoint_bytes=state.metrics_bytes, checkpoint_step=state.step
        )
        if self.log.missing_tensorboard:
            display.print_line(self.log.missing_tensorboard)
        # Each line of the log is about several updates. These are the losses of the updates since
        # the latest ended line, and their number of pairs.
        self._open_losses = [
            torch.tensor(loss, device=trainer.device) for loss in state.open_losses
        ]
        self._open_pairs = 0
        # The ended line that is not yet written: its last update, a function that waits for the
        # losses and returns them, the number of pairs and the duration of the updates.
        self._pending_line: tuple[int, Callable[[], list[float]], int, float] | None = None
        self._minutes_before = state.minutes  # before this process started
        self._first_step = state.step
        self._has_estimate = False
        self._first_update_end: float | None = None
        self._start_time = self._line_start = self._save_time = time.monotonic()

    def log_update(self, state: TrainingState, loss: Tensor, num_pairs: int) -> TrainingState:
        """Log an update, and save a checkpoint if the last one is more than `SAVE_SECONDS` old.

        Every `log_every` updates become a line of the log, which is written when the next line is
        complete. The GPU has computed its losses by then, so the CPU does not wait for the GPU.

        Returns:
            `state`, or the state as saved if there is a new checkpoint.
        """
        self._open_losses.append(loss.clone())  # on a GPU, the next update may overwrite it
        self._open_pairs += num_pairs
        self._show_estimate(state.step)
        if state.step % self.job.run.train.log_every == 0:
            self._write_pending_line()
            self._end_line(state.step)
        is_save_due = time.monotonic() - self._save_time >= SAVE_SECONDS
        return self.save(state) if is_save_due else state

    def validate(self, state: TrainingState, stop: StopSignal) -> TrainingState | None:
        """Validate the network and save a checkpoint; publish the weights if they are the best.

        Without dev pairs, the latest weights count as the best. The time of a validation is not
        included in `pairs_per_s` of the log.

        Returns:
            The state after the validation, or None if `stop` was set during the validation.
        """
        start = time.monotonic()
        self._check_finite(state.step)
        model = self.trainer.model
        validation = None
        with self.trainer.training_step.averaged_weights():
            if self.validator is None:
                state = replace(state, validated_step=state.step)
                is_best = True
            else:
                validation = self.validator.validate(model, step=state.step, stop=stop)
                if validation is None:
                    return None
                state = state.after_validation(validation.scores, self.trainer.spec)
                is_best = state.best == validation.scores
            best = None
            if is_best:
                best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        if validation is not None:
            self._log_validation(validation, is_best=is_best)
        state = self.save(state, best=best)
        if is_best:
            self.publish(state)
        self._line_start += time.monotonic() - start
        return state

    def save(
        self, state: TrainingState, *, best: Mapping[str, Tensor] | None = None
    ) -> TrainingState:
        """Write a checkpoint; return its state, with the current time, log length and open losses.

        `best` are new best weights; None keeps the best weights of the latest checkpoint.

        Raises:
            ReadAgainError: if a loss or a weight is not finite; nothing is written then.
            ArtifactError: if the disk is full or fails.
        """
        losses = self._check_finite(state.step)
        state = replace(
            state,
            open_losses=tuple(losses),
            metrics_bytes=self.log.num_bytes,
            minutes=self._minutes_before + (time.monotonic() - self._start_time) / 60,
        )
        self.checkpoint = save_checkpoint(
            self.run_dir.checkpoints,
            state,
            weights=self.trainer.model.state_dict(),
            training_tensors=self.trainer.training_step.state(),
            best=best,
            previous=self.checkpoint,
        )
        self._save_time = time.monotonic()
        return state

    def has_saved(self, state: TrainingState) -> bool:
        """Return whether the latest checkpoint has this state."""
        return self.checkpoint is not None and self.checkpoint.state == state

    def publish(self, state: TrainingState, *, is_finished: bool = False) -> None:
        """Write the model folder with the best weights of the latest checkpoint."""
        assert self.checkpoint is not None
        assert self.checkpoint.best_file is not None
        publish_model(
            self.run_dir.path,
            self.job,
            weights_file=self.checkpoint.best_file,
            provenance=add_state(self.provenance, state, is_finished=is_finished),
            scores=state.best,
        )

    def finish(self, state: TrainingState) -> TrainingState:
        """Write the last line of the log and the final model, and mark the run as finished."""
        self._write_pending_line()
        if self._open_losses:
            self._end_line(state.step)
        state = self.save(state)
        self.publish(state, is_finished=True)
        self.run_dir.finish(state)
        return state

    def _show_estimate(self, step: int) -> None:
        """Show the estimated duration of the run, once.

        Without it, the first sign of progress would be the first line of the log, which may take
        long. The first update is not measured, since it is slower than the others.
        """
        now = time.monotonic()
        if self._first_update_end is None:
            self._first_update_end = now
        seconds = now - self._first_update_end
        if not self._has_estimate and seconds >= ESTIMATE_SECONDS:
            self._has_estimate = True
            seconds_per_step = seconds / (step - self._first_step - 1)
            self.display.show_estimate(seconds_per_step, self.trainer.total_steps - step)

    def _log_validation(self, validation: Validation, *, is_best: bool) -> None:
        """Write the scores of a validation to the log and the display."""
        scores = {
            name: value for name, value in asdict(validation.scores).items() if value is not None
        }
        step = scores.pop("step")
        self.log.write({"step": step, "epoch": step / self.trainer.steps_per_epoch, **scores})
        self.display.show_validation(validation.scores, validation.samples, is_best=is_best)
        if validation.warning is not None:
            self.display.warn(validation.warning)

    def _end_line(self, step: int) -> None:
        """End the current line of the log; `_write_pending_line` writes it later."""
        now = time.monotonic()
        read_losses, seconds = start_copy(self._open_losses), now - self._line_start
        self._pending_line = step, read_losses, self._open_pairs, seconds
        self._open_losses, self._line_start, self._open_pairs = [], now, 0

    def _write_pending_line(self) -> None:
        """Write the latest ended line of the log, if it has not been written yet."""
        if self._pending_line is None:
            return
        step, read_losses, num_pairs, line_seconds = self._pending_line
        self._pending_line = None
        losses = read_losses()
        self._check_losses(losses, step)
        seconds = time.monotonic() - self._start_time  # since this process started
        record = {
            "step": step,
            "epoch": step / self.trainer.steps_per_epoch,
            "loss": sum(losses) / len(losses),
            "learning_rate": self.trainer.training_step.learning_rate(step - 1),
            "pairs_per_s": num_pairs / line_seconds,
            "minutes": self._minutes_before + seconds / 60,
        }
        self.log.write(record)
        seconds_per_step = seconds / max(1, step - self._first_step)
        steps_left = self.trainer.total_steps - step
        self.display.show_update(record, seconds_left=seconds_per_step * steps_left)

    def _check_finite(self, step: int) -> list[float]:
        """Write the pending line of the log, and check that all losses and weights are finite.

        Returns:
            The losses since the latest ended line.

        Raises:
            ReadAgainError: if a loss or a weight is not finite.
        """
        self._write_pending_line()
        losses = start_copy(self._open_losses)()
        self._check_losses(losses, step)
        weights = self.trainer.model.state_dict().values()
        if not all(bool(tensor.isfinite().all()) for tensor in weights):
            raise self._divergence(step, "a weight is not finite")
        return losses

    def _check_losses(self, losses: Sequence[float], last_step: int) -> None:
        """Check that the losses of the updates up to `last_step` are finite."""
        for step, loss in enumerate(losses, start=last_step - len(losses) + 1):
            if not math.isfinite(loss):
                raise self._divergence(step, f"the loss became {loss}")

    def _divergence(self, step: int, reason: str) -> ReadAgainError:
        """Return the error of a run that has diverged."""
        advice = "nothing had been saved before; try a lower train.learning_rate"
        if self.checkpoint is not None:
            advice = (
                f"the state of step {self.checkpoint.state.step} and the best model so far are "
                f"kept in {self.run_dir.path}; try a lower train.learning_rate, or more "
                "train.warmup_steps, in another folder"
            )
        return ReadAgainError(f"training diverged at step {step}: {reason}; {advice}")
