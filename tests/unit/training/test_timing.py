"""Time estimates of a training run."""

import pytest
import torch

from readagain.training import timing
from readagain.training.timing import Timing, choose_threads, measure_job
from readagain.training.trainer import Trainer


class Clock:
    """Replacement for the module `time`; tests advance it."""

    seconds = 0.0

    def perf_counter(self):
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    """Return a clock: an update takes one second per thread, a validation 7 seconds."""
    clock, update = Clock(), Trainer.update
    validate = timing.Validator.validate

    def timed_update(self):
        clock.seconds += torch.get_num_threads()
        return update(self)

    def timed_validation(self, *arguments, **options):
        clock.seconds += 7
        return validate(self, *arguments, **options)

    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(timing, "num_processors", lambda: 2)
    monkeypatch.setattr(Trainer, "update", timed_update)
    monkeypatch.setattr(timing.Validator, "validate", timed_validation)
    return clock


def test_measure_chooses_threads_and_writes_nothing(make_job, clock):
    job = make_job()
    measured = measure_job(job, device_name="cpu")
    assert measured == Timing(threads=1, update_s=1.0, validation_s=7.0, steps_per_epoch=7)
    assert not job.out.exists()


@pytest.mark.parametrize(
    ("times", "threads"),
    [({1: 1.0, 2: 0.7}, 1), ({1: 1.0, 2: 0.6}, 2), ({1: 1.0, 2: 3.0}, 1), ({4: 9.0}, 4)],
)
def test_several_threads_must_be_clearly_faster(times, threads):
    assert choose_threads(times) == threads


def test_measure_keeps_given_threads(make_job, clock):
    assert measure_job(make_job(), device_name="cpu", threads=2).threads == 2


def test_run_time_adds_updates_and_validations():
    run_timing = Timing(threads=1, update_s=0.5, validation_s=3.0, steps_per_epoch=10)
    assert run_timing.run_s(4) == 4 * (10 * 0.5 + 3.0)
