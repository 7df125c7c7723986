"""Training loop: update, log, validate, save, stop and resume."""

import math
import time
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from rich.console import Console

from readagain.storage.output_dir import LocalDir
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.display import Display
from readagain.training.job import TrainingJob, resolve
from readagain.training.parallel import (
    DeviceName,
    DistributedContext,
    join_process_group,
    set_threads,
)
from readagain.training.run_dir import RunDir
from readagain.training.run_writer import RunWriter
from readagain.training.state import TrainingState
from readagain.training.stop_signal import StopSignal, catch_stop_signals
from readagain.training.trainer import Trainer


@dataclass(frozen=True)
class TrainingResult:
    """Result of a call of `train`.

    Args:
        state: the last state, which was saved.
        total_steps: number of updates of the whole run.
        is_finished: False if a signal or a time limit stopped the training.
    """

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
    """Train a model, or resume its training; write the best model to the run folder.

    Args:
        job: the run to train.
        device_name: the device.
        threads: the number of CPU threads; 0 chooses it by the size of the network.
        console: where progress is printed; only the first of several processes prints.
        stop: flag that stops the training when it is set; None lets SIGTERM and Ctrl-C stop it.
        max_minutes: maximum training time of the run, including the time before a resume.

    Returns:
        The result, or None if the run had finished before the call. A finished run continues if
        `job` has more epochs.

    Raises:
        ReadAgainError: for invalid settings, and if training diverges.
    """
    with join_process_group(device_name) as (processes, device):
        # A separate function, so that the network is freed before the process group is destroyed.
        return _train(job, processes, device, threads, console, stop, max_minutes)


def _train(
    job: TrainingJob,
    processes: DistributedContext,
    device: torch.device,
    threads: int,
    console: Console,
    stop: StopSignal | None,
    max_minutes: float | None,
) -> TrainingResult | None:
    with ExitStack() as stack:
        stop = stop or stack.enter_context(catch_stop_signals())
        resolved = resolve(job)
        set_threads(resolved.run, threads)
        epochs = resolved.run.train.epochs
        run_dir = None
        if processes.is_first:  # only this process validates and writes files
            run_dir = stack.enter_context(
                RunDir.open(LocalDir(job.out), resolved.identity, overwrite=job.overwrite)
            )
        if processes.broadcast(run_dir is not None and run_dir.has_finished(epochs)):
            return None

        start_time = time.monotonic()
        checkpoint = None if run_dir is None else latest_checkpoint(run_dir.checkpoints)
        trainer = Trainer(resolved, processes, device)
        state = trainer.resume(checkpoint).for_epochs(epochs)
        minutes_left = math.inf if max_minutes is None else max_minutes - state.minutes
        stop_time = start_time + 60 * minutes_left
        writer = None
        if run_dir is not None:
            display = Display(console)
            display.show_start(resolved, state, total_steps=trainer.total_steps)
            writer = RunWriter(resolved, run_dir, display, state, checkpoint, trainer)
            stack.callback(writer.log.close)
            stack.enter_context(display.progress_line())
            if checkpoint is not None and checkpoint.best_file is not None:
                writer.publish(state)  # the previous call may have been killed while publishing

        while True:
            if state.is_validation_due(trainer.validate_every, trainer.total_steps):
                new_state = processes.broadcast(writer.validate(state, stop) if writer else None)
                if new_state is None:  # stopped during validation
                    break
                state = new_state
            trainer.training_step.num_plateaus = state.num_plateaus
            if state.has_ended(trainer.total_steps):
                break
            if _should_stop(trainer, stop, stop_time):
                break
            loss, num_pairs = trainer.update()
            state = state.after_update()
            if writer:
                state = writer.log_update(state, loss, num_pairs)

        is_finished = state.has_ended(trainer.total_steps) and state.validated_step == state.step
        if writer and is_finished:
            state = writer.finish(state)
        elif writer and not writer.has_saved(state):
            state = writer.save(state)
        return TrainingResult(state, trainer.total_steps, is_finished)


def _should_stop(trainer: Trainer, stop: StopSignal, stop_time: float) -> bool:
    """Return whether to stop before the next update.

    In distributed training, processes exchange their answers only every `log_every` updates, since
    the exchange takes time.
    """
    should_stop = stop.is_set or time.monotonic() >= stop_time
    is_distributed = trainer.processes.world_size > 1
    if is_distributed and trainer.training_step.step % trainer.spec.log_every:
        return False
    return trainer.processes.any_true(should_stop)
