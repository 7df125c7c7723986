"""The training loop: update, log, validate, save; stop when asked to, go on where it stopped."""

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace

import torch
from rich.console import Console

from readagain.errors import ReadAgainError
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.display import Display
from readagain.training.interrupt import StopSignal, listening
from readagain.training.job import ResolvedJob, TrainingJob, settle
from readagain.training.metrics import DivergedError
from readagain.training.parallel import DeviceName, Processes, joined_processes, set_threads
from readagain.training.progress import TrainingState
from readagain.training.record import RunWriter
from readagain.training.run_dir import RunDir, open_run_dir
from readagain.training.session import Trainer
from readagain.training.validate import Validator


@dataclass(frozen=True)
class TrainingResult:
    """How a call of `train` ended."""

    progress: TrainingState
    total_steps: int
    is_finished: bool


def train(
    job: TrainingJob,
    *,
    device_name: DeviceName,
    threads: int = 0,
    console: Console,
    stop: StopSignal | None = None,
) -> TrainingResult | None:
    """Train what a job asks for, or go on with it; leave the best model in its folder.

    Args:
        job: the request.
        device_name: where to compute.
        threads: how many on a CPU; 0 chooses.
        console: where to tell how it goes; only the first of several processes does.
        stop: stops the training when set; None to set it by SIGTERM and Ctrl-C.

    Returns:
        How it ended; None when the run had been finished before.

    Raises:
        ReadAgainError: for requests that cannot be met, and for training that diverges.
    """
    with ExitStack() as stack:
        processes, device = stack.enter_context(joined_processes(device_name))
        wish = stack.enter_context(listening()) if stop is None else stop
        settled = settle(job)
        set_threads(settled.run, threads)
        folder = None
        if processes.is_first:
            claim = open_run_dir(job.out, settled.identity, overwrite=job.overwrite)
            folder = stack.enter_context(claim)
        if processes.from_first(folder is not None and folder.finished_state() is not None):
            return None
        display = Display(console if processes.is_first else Console(quiet=True))
        try:
            return _train(settled, folder, processes, device, wish, display)
        except DivergedError as error:
            raise ReadAgainError(f"{error}; {_what_is_kept(folder)}") from error


def _train(
    job: ResolvedJob,
    folder: RunDir | None,
    processes: Processes,
    device: torch.device,
    wish: StopSignal,
    display: Display,
) -> TrainingResult:
    """Tell the story of a run; the first of its processes has a folder and writes it down."""
    checkpoint = None if folder is None else latest_checkpoint(folder.checkpoints)
    session = Trainer(job, processes, device)
    session.resume(checkpoint)
    progress = processes.from_first(TrainingState() if checkpoint is None else checkpoint.progress)
    total_steps, every = session.total_steps, session.validate_every
    display.begin(job, progress, total_steps=total_steps)
    with (
        RunWriter(job, folder, session, display, progress).shown() if folder else nullcontext()
    ) as record:
        keeper = None if record is None else _Keeper(job, session, record, wish)
        if record is not None and checkpoint is not None and checkpoint.best_file is not None:
            record.publish(progress, is_finished=False)  # in case it was killed while doing so
        while True:
            if progress.is_validation_due(every=every, total_steps=total_steps):
                validated = processes.from_first(
                    None if keeper is None else keeper.validate(progress)
                )
                if validated is None:
                    break
                progress = validated
            if progress.has_ended(total_steps) or _should_stop(session, wish, progress):
                break
            loss, num_pairs = session.update()
            progress = progress.after_update()
            if record is not None:
                record.updated(progress.step, loss, num_pairs)
                progress = record.save_if_due(progress)
        is_finished = progress.has_ended(total_steps) and progress.validated_step == progress.step
        if record is not None:
            progress = record.finish(progress) if is_finished else record.save(progress, best=None)
    return TrainingResult(progress, total_steps, is_finished)


class _Keeper:
    """Validate on the first process, and keep the weights that are the best so far."""

    def __init__(
        self, job: ResolvedJob, session: Trainer, record: RunWriter, wish: StopSignal
    ) -> None:
        dev = job.corpus.split("dev")
        self.validator = (
            Validator(dev, job.corpus.lexicon, job.words, job.run, session.device)
            if len(dev)
            else None
        )
        self.session = session
        self.record = record
        self.wish = wish

    def validate(self, progress: TrainingState) -> TrainingState | None:
        """Return the progress after a validation; None when asked to stop meanwhile."""
        with self.record.paused():
            return self._validate(progress)

    def _validate(self, progress: TrainingState) -> TrainingState | None:
        self.record.check(progress)
        with self.session.keepable():
            if self.validator is None:
                found, is_best = None, True
                progress = replace(progress, validated_step=progress.step)
            else:
                found = self.validator.validate(
                    self.session.model, step=progress.step, wish=self.wish
                )
                if found is None:
                    return None
                progress = progress.after_validation(found.scores, self.session.spec)
                is_best = progress.best == found.scores
            best = self.session.weights() if is_best else None
        self.session.note_validated()
        if found is not None:
            self.record.validated(found, is_best=is_best)
        progress = self.record.save(progress, best=best)
        if is_best:
            self.record.publish(progress, is_finished=False)
        return progress


def _should_stop(session: Trainer, wish: StopSignal, progress: TrainingState) -> bool:
    """Say whether somebody asked to stop; several processes agree on it now and then."""
    if session.processes.world_size == 1:
        return wish.is_asked
    if progress.step % session.spec.log_every:
        return False
    return session.processes.any_says(wish.is_asked)


def _what_is_kept(folder: RunDir | None) -> str:
    checkpoint = None if folder is None else latest_checkpoint(folder.checkpoints)
    if folder is None or checkpoint is None:
        return "nothing had been saved before; try a lower train.learning_rate"
    return (
        f"the state of step {checkpoint.progress.step} and the best model so far are kept in "
        f"{folder.path}; try a lower train.learning_rate, or more train.warmup_steps, in "
        "another --out"
    )
