"""Estimate of the duration of a training run from a few updates."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from readagain.processors import num_processors
from readagain.training.job import TrainingJob, resolve
from readagain.training.parallel import DeviceName, join_process_group
from readagain.training.stop_signal import StopSignal
from readagain.training.trainer import Trainer
from readagain.training.validate import Validator

MIN_SPEEDUP = 1.5
"""Minimum speedup at which all CPU cores are used instead of one, see `choose_threads`."""
_MIN_UPDATES = 2
"""Minimum number of measured updates."""
_MAX_UPDATES = 10
"""Maximum number of measured updates."""
_MAX_SECONDS = 3.0
"""Time after which no more updates are measured."""
_WARMUP_UPDATES = 12
"""Number of updates before the measurement on a GPU; the first update of each batch shape is slow,
since it is captured as a CUDA graph."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Measured times of a run on this machine.

    `threads` is the number of CPU threads. `validation_s` was measured with initial weights;
    trained weights often take less, since their summaries are shorter.
    """

    threads: int
    update_s: float
    validation_s: float
    steps_per_epoch: int

    def run_s(self, epochs: int) -> float:
        """Return the duration of a run that validates after each epoch and does not stop early."""
        return epochs * (self.steps_per_epoch * self.update_s + self.validation_s)


def measure_job(job: TrainingJob, *, device_name: DeviceName, threads: int = 0) -> Timing:
    """Measure a few updates and a validation of a run with dev pairs; nothing is written.

    With 0 `threads`, one thread and one thread per core are measured, and one of them is chosen.
    """
    with join_process_group(device_name) as (processes, device):
        resolved = resolve(job)
        trainer = Trainer(resolved, processes, device)
        if device.type == "cuda":
            for _ in range(min(_WARMUP_UPDATES, trainer.steps_per_epoch)):
                trainer.update()
            update_s = _measure(lambda: float(trainer.update()[0]))
        else:
            times = {}
            for num_threads in [threads] if threads else sorted({1, num_processors()}):
                torch.set_num_threads(num_threads)
                trainer.update()  # not measured: the first update is slower
                times[num_threads] = _measure(trainer.update)
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

    The largest number is chosen only if it is clearly faster than the smallest. Threads wait for
    each other: when other programs used the same cores, a run with two threads became up to ten
    times as slow, a run with one thread only twice as slow. `times` has the seconds per update by
    number of threads.

    >>> choose_threads({1: 1.0, 2: 0.8}), choose_threads({1: 1.0, 16: 0.3})
    (1, 16)
    """
    fewest, most = min(times), max(times)
    return most if times[most] * MIN_SPEEDUP <= times[fewest] else fewest


def _measure(update: Callable[[], object]) -> float:
    """Return the mean duration of an update in seconds."""
    start = time.perf_counter()
    for count in range(1, _MAX_UPDATES + 1):
        update()
        seconds = time.perf_counter() - start
        if count >= _MIN_UPDATES and seconds >= _MAX_SECONDS:
            break
    return seconds / count
