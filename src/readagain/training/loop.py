"""Training loop: update, log, validate, save, stop and resume."""

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import torch
from rich.console import Console

from readagain.errors import ReadAgainError
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.display import Display
from readagain.training.job import ResolvedJob, TrainingJob, resolve
from readagain.training.metrics import DivergedError
from readagain.training.parallel import (
    DeviceName,
    DistributedContext,
    join_process_group,
    set_threads,
)
from readagain.training.run_dir import RunDir, open_run_dir
from readagain.training.run_writer import RunWriter
from readagain.training.state import TrainingState
from readagain.training.stop_signal import StopSignal, catch_stop_signals
from readagain.training.trainer import Trainer
from readagain.training.validate import Validator


@dataclass(frozen=True)
class TrainingResult:
    """Result of a call of `train`."""

    state: TrainingState
    total_steps: int
    is_finished: bool


def train(
    job: TrainingJob,
    *,
    device_name: DeviceName,
    threads: int = 0,
    console: Console,
    stop: StopSignal | None = None,
    max_minutes: float | None = None,
) -> TrainingResult | None:
    """Train a model, or resume its training; write the best model to the run directory.

    Args:
        job: the run to train.
        device_name: the device.
        threads: the number of CPU threads; 0 to choose automatically.
        console: where progress is printed; only the first of several processes prints.
        stop: stops the training when set; by default SIGTERM and Ctrl-C set it.
        max_minutes: stops the training after this time, which includes the time before a resume.

    Returns:
        The result, or None if the run had finished before. A finished run continues if `job` has
        more epochs.

    Raises:
        ReadAgainError: for invalid settings, and if training diverges.
    """
    with ExitStack() as stack:
        processes, device = stack.enter_context(join_process_group(device_name))
        stop = stop or stack.enter_context(catch_stop_signals())
        resolved = resolve(job)
        set_threads(resolved.run, threads)
        run_dir = None
        if processes.is_first:
            run_dir = stack.enter_context(
                open_run_dir(job.out, resolved.identity, overwrite=job.overwrite)
            )
        if processes.broadcast(run_dir is not None and _has_finished(run_dir, resolved)):
            return None
        display = Display(console if processes.is_first else Console(quiet=True))
        try:
            return _run(resolved, run_dir, processes, device, stop, display, max_minutes)
        except DivergedError as error:
            raise ReadAgainError(f"{error}; {_advice_after_divergence(run_dir)}") from error


def _has_finished(run_dir: RunDir, job: ResolvedJob) -> bool:
    finished = run_dir.finished_state()
    # Runs of older versions have `epochs` 0; `run_dir` refuses to continue them.
    return finished is not None and finished.epochs in (0, job.run.train.epochs)


def _run(
    job: ResolvedJob,
    run_dir: RunDir | None,
    processes: DistributedContext,
    device: torch.device,
    stop: StopSignal,
    display: Display,
    max_minutes: float | None,
) -> TrainingResult:
    """Run the training loop; only the first process has a `run_dir`, validates and writes."""
    start_time = time.monotonic()
    checkpoint = None if run_dir is None else latest_checkpoint(run_dir.checkpoints)
    trainer = Trainer(job, processes, device)
    trainer.resume(checkpoint)
    state = processes.broadcast(TrainingState() if checkpoint is None else checkpoint.state)
    state = state.for_epochs(job.run.train.epochs)
    minutes_left = math.inf if max_minutes is None else max_minutes - state.minutes
    stop_time = start_time + 60 * minutes_left
    display.show_start(job, state, total_steps=trainer.total_steps)
    with _open_writer(job, run_dir, trainer, display, state) as writer:
        has_dev = len(job.corpus.split("dev")) > 0
        validator = Validator(job, device) if writer and has_dev else None
        if writer and checkpoint is not None and checkpoint.best_file is not None:
            writer.publish(state)  # the last process may have been killed while publishing
        while True:
            if state.is_validation_due(trainer.validate_every, trainer.total_steps):
                validated = processes.broadcast(
                    _validate(trainer, validator, writer, state, stop) if writer else None
                )
                if validated is None:  # stopped during validation
                    break
                state = validated
            trainer.step.num_plateaus = state.num_plateaus
            if state.has_ended(trainer.total_steps):
                break
            if _should_stop(trainer, stop, stop_time, state.step):
                break
            loss, num_pairs = trainer.update()
            state = state.after_update()
            if writer:
                writer.log_update(state.step, loss, num_pairs)
                if writer.is_save_due:
                    state = writer.save(state, trainer.state())
        is_finished = state.has_ended(trainer.total_steps) and state.validated_step == state.step
        if writer:
            end = writer.finish if is_finished else writer.save
            state = end(state, trainer.state())
    return TrainingResult(state, trainer.total_steps, is_finished)


@contextmanager
def _open_writer(
    job: ResolvedJob,
    run_dir: RunDir | None,
    trainer: Trainer,
    display: Display,
    state: TrainingState,
) -> Iterator[RunWriter | None]:
    """Open the log and the display of the first process; yield None on the others."""
    if run_dir is None:
        yield None
        return
    writer = RunWriter(job, run_dir, display, state, trainer)
    try:
        with display.live():
            yield writer
    finally:
        writer.close()


def _validate(
    trainer: Trainer,
    validator: Validator | None,
    writer: RunWriter,
    state: TrainingState,
    stop: StopSignal,
) -> TrainingState | None:
    """Validate the network and keep its weights if they are the best so far.

    Args:
        trainer: the network.
        validator: validates on the dev split; if None, the latest weights count as the best.
        writer: writes scores and checkpoints.
        state: the state before the validation.
        stop: interrupts the validation.

    Returns:
        The state after the validation, or None if it was interrupted.
    """
    with writer.pause_timer():
        writer.check_finite(state, trainer.state())
        validation = None
        with trainer.averaged_weights():
            if validator is None:
                state, is_best = replace(state, validated_step=state.step), True
            else:
                validation = validator.validate(trainer.model, step=state.step, stop=stop)
                if validation is None:
                    return None
                state = state.after_validation(validation.scores, trainer.spec)
                is_best = state.best == validation.scores
            best = trainer.copy_weights() if is_best else None
        if validation is not None:
            writer.log_validation(validation, is_best=is_best)
        state = writer.save(state, trainer.state(), best=best)
        if is_best:
            writer.publish(state)
        return state


def _should_stop(trainer: Trainer, stop: StopSignal, stop_time: float, step: int) -> bool:
    """Return whether to stop; in distributed training, checked every `log_every` updates."""
    is_due = stop.is_set or time.monotonic() >= stop_time
    if trainer.processes.world_size == 1:
        return is_due
    if step % trainer.spec.log_every:
        return False
    return trainer.processes.any_true(is_due)


def _advice_after_divergence(run_dir: RunDir | None) -> str:
    checkpoint = None if run_dir is None else latest_checkpoint(run_dir.checkpoints)
    if run_dir is None or checkpoint is None:
        return "nothing had been saved before; try a lower train.learning_rate"
    return (
        f"the state of step {checkpoint.state.step} and the best model so far are kept in "
        f"{run_dir.path}; try a lower train.learning_rate, or more train.warmup_steps, in "
        "another folder"
    )
