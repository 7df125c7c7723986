"""Duration of a training, estimated from a few updates before it starts."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from readagain.processors import num_processors
from readagain.training.job import TrainingJob, resolve
from readagain.training.parallel import DeviceName, joined_processes
from readagain.training.stop_signal import StopSignal
from readagain.training.trainer import Trainer
from readagain.training.validate import Validator

MIN_SPEEDUP = 1.5
"""How many times as fast a run on all processors must be to be chosen."""
_MIN_UPDATES = 2
_MAX_UPDATES = 10
_MAX_SECONDS = 3.0
"""Time after which no more updates are measured."""
_CAPTURES = 12
"""Updates before the measurement on a GPU, where the first of each shape is captured."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Measured times of a run on this machine.

    Args:
        threads: number of CPU threads.
        update_s: seconds of an update.
        validation_s: seconds of a validation; a trained network is often faster.
        steps_per_epoch: updates of an epoch.
    """

    threads: int
    update_s: float
    validation_s: float
    steps_per_epoch: int

    def run_s(self, epochs: int) -> float:
        """Return the seconds of a run that validates after each epoch and does not stop early."""
        return epochs * (self.steps_per_epoch * self.update_s + self.validation_s)


def measure_job(job: TrainingJob, *, device_name: DeviceName, threads: int = 0) -> Timing:
    """Measure a few updates and a validation of a run; nothing is written.

    Args:
        job: the run, with dev pairs.
        device_name: the device.
        threads: the number of CPU threads; 0 measures one and all, and chooses.

    Raises:
        ReadAgainError: as `train` does.
    """
    with joined_processes(device_name) as (processes, device):
        resolved = resolve(job)
        trainer = Trainer(resolved, processes, device)
        if device.type == "cuda":
            for _ in range(min(_CAPTURES, trainer.steps_per_epoch)):
                trainer.update()
            update_s = _measure(lambda: float(trainer.update()[0]))
        else:
            times = {}
            for number in (threads,) if threads else sorted({1, num_processors()}):
                torch.set_num_threads(number)
                trainer.update()  # the first one is slower
                times[number] = _measure(trainer.update)
            threads = choose_threads(times)
            torch.set_num_threads(threads)
            update_s = times[threads]
        validator = Validator(resolved, device)
        start = time.perf_counter()
        validator.validate(trainer.model, step=0, stop=StopSignal())
        validation_s = time.perf_counter() - start
    return Timing(
        threads=threads,
        update_s=update_s,
        validation_s=validation_s,
        steps_per_epoch=trainer.steps_per_epoch,
    )


def choose_threads(times: dict[int, float]) -> int:
    """Return the number of threads for a run.

    Several threads wait for each other, so other programs on the same processors made a run on two
    threads up to ten times as slow, and one on one thread half as fast. More than one are therefore
    chosen only if they are clearly faster.

    Args:
        times: seconds of an update by number of threads, one of them 1 unless it is the only one.

    >>> choose_threads({1: 1.0, 2: 0.8}), choose_threads({1: 1.0, 16: 0.3})
    (1, 16)
    """
    fewest, most = min(times), max(times)
    return most if times[most] * MIN_SPEEDUP <= times[fewest] else fewest


def _measure(update: Callable[[], object]) -> float:
    """Return the mean seconds of at least `_MIN_UPDATES` updates."""
    start, count = time.perf_counter(), 0
    while count < _MIN_UPDATES or time.perf_counter() - start < _MAX_SECONDS:
        update()
        count += 1
        if count >= _MAX_UPDATES:
            break
    return (time.perf_counter() - start) / count
