"""What the first process writes down: the log, checkpoints, the model folder, lines for people."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from torch import Tensor

from readagain.training.checkpoint import latest_checkpoint, save_checkpoint
from readagain.training.display import Display
from readagain.training.job import ResolvedJob
from readagain.training.metrics import DivergedError, LossBuffer, MetricsLog, Window
from readagain.training.optim import learning_rate
from readagain.training.progress import TrainingState
from readagain.training.provenance import provenance_of, with_progress
from readagain.training.publish import publish_model
from readagain.training.run_dir import RunDir
from readagain.training.session import Trainer
from readagain.training.validate import Validation

SAVE_SECONDS = 600.0
"""The most work that a killed run loses, where validations are further apart."""


@dataclass(frozen=True)
class _Line:
    """A line of the log whose losses are on their way from the device."""

    window: Window
    num_pairs: int
    seconds: float


class RunWriter:
    """Write down how a run goes.

    Args:
        job: what is trained.
        folder: where to.
        session: the network and its optimizer.
        display: what a person sees.
        progress: where the run stands when this begins.
    """

    def __init__(
        self,
        job: ResolvedJob,
        folder: RunDir,
        session: Trainer,
        display: Display,
        progress: TrainingState,
    ) -> None:
        self.job = job
        self.folder = folder
        self.session = session
        self.display = display
        self.log = MetricsLog(folder.path, at_bytes=progress.metrics_bytes, at_step=progress.step)
        if self.log.missing_tensorboard:
            display.say(self.log.missing_tensorboard)
        self.origin = provenance_of(
            job.run, job.corpus, job.trained, session.processes, session.device
        )
        self._losses = LossBuffer(progress.open_losses, session.device)
        self._unread: _Line | None = None
        self._pairs = 0
        self._minutes_before = progress.minutes
        self._first_step = progress.step
        self._began = self._line_began = self._saved = time.monotonic()

    @contextmanager
    def shown(self) -> Iterator[Self]:
        """Show the run to a person until it ends, and close the log then."""
        try:
            with self.display.shown():
                yield self
        finally:
            self.log.close()

    def updated(self, step: int, loss: Tensor, num_pairs: int) -> None:
        """Take note of an update; every so often the losses of some updates become a line.

        The line is written when the next one is due: by then the device has long computed it, so
        nothing waits.
        """
        self._losses.add(loss)
        self._pairs += num_pairs
        if step % self.session.spec.log_every == 0:
            self._write_unread()
            self._close_line(step)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Keep what is done meanwhile out of the rate at which pairs are trained on."""
        start = time.monotonic()
        yield
        self._line_began += time.monotonic() - start

    def save_if_due(self, progress: TrainingState) -> TrainingState:
        """Save when the last time is long ago; return the progress with what was saved."""
        if time.monotonic() - self._saved < SAVE_SECONDS:
            return progress
        return self.save(progress, best=None)

    def save(self, progress: TrainingState, *, best: Mapping[str, Tensor] | None) -> TrainingState:
        """Write a checkpoint; return the progress with what was saved.

        Raises:
            DivergedError: when a loss or a weight is no number; nothing is written then.
            ArtifactError: when the disk is full or fails.
        """
        losses = self.check(progress)
        progress = replace(
            progress,
            open_losses=tuple(losses),
            metrics_bytes=self.log.num_bytes,
            minutes=self._minutes_before + (time.monotonic() - self._began) / 60,
        )
        save_checkpoint(
            self.folder.checkpoints,
            progress,
            weights=self.session.model.state_dict(),
            training=self.session.training_state(),
            best=best,
        )
        self._saved = time.monotonic()
        return progress

    def check(self, progress: TrainingState) -> list[float]:
        """Look whether training is still sane; return the losses since the last line of the log.

        Raises:
            DivergedError: when a loss or a weight is no number.
        """
        self._write_unread()
        losses = self._losses.peek(progress.step).read()
        if not self.session.is_finite():
            raise DivergedError(progress.step, "a weight is no longer a number")
        return losses

    def validated(self, found: Validation, *, is_best: bool) -> None:
        """Write down what a validation found."""
        scores = {name: value for name, value in asdict(found.scores).items() if value is not None}
        epoch = found.scores.step / self.session.steps_per_epoch
        self.log.write({"step": scores.pop("step"), "epoch": epoch, **scores})
        self.display.validated(found.scores, found.samples, is_best=is_best)
        if found.warning is not None:
            self.display.warn(found.warning)

    def publish(self, progress: TrainingState, *, is_finished: bool) -> None:
        """Make the folder a model folder with the weights that the checkpoint keeps."""
        publish_model(
            self.folder.path,
            run=self.job.run,
            words=self.job.words,
            cases=self.job.cases,
            weights_file=self._best_file(),
            provenance=with_progress(self.origin, progress, is_finished=is_finished),
            scores=progress.best,
        )

    def finish(self, progress: TrainingState) -> TrainingState:
        """Write the last line of the log, the finished model, and that the run has ended."""
        self._write_unread()
        if len(self._losses):
            self._close_line(progress.step)
        progress = self.save(progress, best=None)
        self.publish(progress, is_finished=True)
        self.folder.finish(progress)
        return progress

    def _best_file(self) -> Path:
        checkpoint = latest_checkpoint(self.folder.checkpoints, checksums=False)
        assert checkpoint is not None
        assert checkpoint.best_file is not None
        return checkpoint.best_file

    def _close_line(self, step: int) -> None:
        now = time.monotonic()
        self._unread = _Line(self._losses.close(step), self._pairs, now - self._line_began)
        self._line_began, self._pairs = now, 0

    def _write_unread(self) -> None:
        """Write the line of the log that waits for its losses."""
        if self._unread is None:
            return
        line, self._unread = self._unread, None
        losses, step = line.window.read(), line.window.last_step
        session, seconds = self.session, time.monotonic() - self._began
        record = {
            "step": step,
            "epoch": step / session.steps_per_epoch,
            "loss": sum(losses) / len(losses),
            "learning_rate": learning_rate(
                session.spec,
                step=step - 1,
                total_steps=session.total_steps,
                steps_per_epoch=session.steps_per_epoch,
            ),
            "pairs_per_s": line.num_pairs / line.seconds,
            "minutes": self._minutes_before + seconds / 60,
        }
        self.log.write(record)
        seconds_per_step = seconds / max(1, step - self._first_step)
        self.display.logged(record, seconds_left=seconds_per_step * (session.total_steps - step))
