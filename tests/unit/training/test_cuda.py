"""Training on a GPU: CUDA graphs, delayed losses, resuming."""

import io
import json

import pytest
import torch
from rich.console import Console

from readagain.config.override import override
from readagain.config.schema import TrainSpec
from readagain.model_dir import ModelDir
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.text.vocab import BOS, EOS
from readagain.training import step as training_step
from readagain.training.batch import Batch
from readagain.training.loop import train
from readagain.training.step import TrainingStep
from readagain.training.stop_signal import StopSignal

pytestmark = pytest.mark.gpu


def read_losses(job):
    """Return training losses and dev losses by step and name."""
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
def test_stopped_run_resumes_on_gpu(make_job, monkeypatch, precision):
    settings = (f"train.precision={precision}", "train.epochs=4")
    uninterrupted = make_job(*settings, out="uninterrupted")
    interrupted = make_job(*settings, out="interrupted")
    assert run(uninterrupted).is_finished
    original_update, stop = TrainingStep.update, StopSignal()

    def update_and_stop(self, batch):
        stop.is_set = self.step == 9
        return original_update(self, batch)

    monkeypatch.setattr("readagain.training.stop_signal.StopSignal", lambda: stop)
    monkeypatch.setattr(TrainingStep, "update", update_and_stop)
    assert not run(interrupted).is_finished
    stop.is_set = False
    assert run(interrupted).is_finished
    # The order of sums on a GPU varies, so results are equal only up to rounding.
    assert read_losses(interrupted) == pytest.approx(read_losses(uninterrupted), rel=0.05)
    ModelDir.open(interrupted.out, checksums=True)


WIDTHS = ("embedding_size", "encoder.hidden_size", "decoder.hidden_size", "decoder.attention_size")
RUN = override(
    PRESETS["read_again_lstm_copy_15k"],
    {"vocab_size": 12, "source_vocab_size": 9, "model.dropout": 0.0}
    | {f"model.{name}": 32 for name in WIDTHS},
)
BATCH = Batch(
    source_ids=torch.tensor([[[4, 5, 4, 1, 4]], [[6, 4, 1, 0, 0]]]),
    source_lengths=torch.tensor([[5], [3]]),
    source_ext_ids=torch.tensor([[4, 5, 4, 15, 4], [6, 4, 14, 0, 0]]),
    previous_ids=torch.tensor([[BOS, 15, 4, 4], [BOS, 6, 14, 0]]),
    target_ids=torch.tensor([[15, 4, 4, EOS], [6, 14, EOS, 0]]),
    target_valid=torch.tensor([[True] * 4, [True, True, True, False]]),
)
TOLERANCES = {"float32": 1e-3, "bfloat16": 3e-2}


@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("max_norm", [0.1, 100.0], ids=["clipped", "not clipped"])
def test_graph_row_updates_equal_plain_updates(monkeypatch, precision, max_norm):
    spec = TrainSpec(learning_rate=0.1, schedule="constant", precision=precision, max_norm=max_norm)
    device = torch.device("cuda")

    def train_model(*, uses_graphs):
        torch.manual_seed(3)
        model = build_model(RUN).to(device)
        step = TrainingStep(model, spec, total_steps=10, steps_per_epoch=5)
        assert step.uses_graphs
        assert len(step.lookups) == 2 * uses_graphs
        step.uses_graphs = uses_graphs
        losses = [step.update(BATCH.to(device)).item() for _ in range(5)]
        return losses, model.state_dict()

    losses_by_rows, weights_by_rows = train_model(uses_graphs=True)
    monkeypatch.setattr(training_step, "supports_row_updates", lambda *_, **__: False)
    monkeypatch.setattr(
        training_step, "call_in_precision", lambda _, model, *inputs: model(*inputs)
    )
    losses_plain, weights_plain = train_model(uses_graphs=False)
    tolerance = TOLERANCES[precision]
    assert losses_by_rows == pytest.approx(losses_plain, rel=tolerance)
    torch.testing.assert_close(weights_by_rows, weights_plain, rtol=tolerance, atol=tolerance / 10)
