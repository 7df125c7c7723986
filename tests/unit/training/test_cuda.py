"""The same story on a GPU: captured updates, losses fetched late, resume."""

import io
import json

import pytest
from rich.console import Console

from readagain.engine.folder import ModelFolder
from readagain.training.interrupt import StopWish
from readagain.training.loop import train
from readagain.training.step import TrainingStep

pytestmark = pytest.mark.gpu


def losses(job):
    lines = [json.loads(line) for line in (job.out / "metrics.jsonl").read_text().splitlines()]
    return {
        (line["step"], name): line[name]
        for line in lines
        for name in ("loss", "dev_loss")
        if name in line
    }


def run(job):
    return train(job, device_name="cuda", console=Console(file=io.StringIO()))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_stopped_run_goes_on_on_a_gpu(make_job, monkeypatch, precision):
    settings = (f"train.precision={precision}", "train.epochs=4")
    whole, parts = make_job(*settings, out="whole"), make_job(*settings, out="parts")
    assert run(whole).is_finished
    update, wish = TrainingStep.update, StopWish()

    def counted(self, given):
        wish.is_asked = self.step == 9
        return update(self, given)

    monkeypatch.setattr("readagain.training.interrupt.StopWish", lambda: wish)
    monkeypatch.setattr(TrainingStep, "update", counted)
    assert not run(parts).is_finished
    wish.is_asked = False
    assert run(parts).is_finished
    # Sums on a GPU come in any order, so equal only up to rounding.
    assert losses(parts) == pytest.approx(losses(whole), rel=0.05)
    ModelFolder.open(parts.out, checksums=True)
