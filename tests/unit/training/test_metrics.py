"""Losses copied from the device, and the metrics log."""

import io
import json

import pytest
import torch

from readagain.errors import ArtifactError, MissingExtraError
from readagain.training import metrics
from readagain.training.metrics import MetricsLog, read_curves, start_copy


def test_start_copy_returns_losses():
    assert start_copy([torch.tensor(3.0), torch.tensor(2.0)])() == [3.0, 2.0]
    assert start_copy([])() == []


def test_log_is_truncated_to_checkpoint(tmp_path):
    log = MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=0)
    log.write({"step": 1, "loss": 2.0})
    num_bytes = log.num_bytes
    log.write({"step": 2, "loss": 1.0})
    log.close()
    log = MetricsLog(tmp_path, checkpoint_bytes=num_bytes, checkpoint_step=1)
    log.write({"step": 2, "loss": 0.5})
    log.close()
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["loss"] for line in lines] == [2.0, 0.5]
    assert list((tmp_path / "tensorboard").iterdir())


def test_log_shorter_than_checkpoint_is_refused(tmp_path):
    with pytest.raises(
        ArtifactError, match="0 bytes, but 10 at the latest checkpoint; was it edited"
    ):
        MetricsLog(tmp_path, checkpoint_bytes=10, checkpoint_step=1)


def test_log_reports_full_disk(tmp_path):
    log = MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=0)
    log.close()
    log._file = io.FileIO("/dev/full", "w")
    with pytest.raises(ArtifactError, match="No space left on device; the latest checkpoint"):
        log.write({"step": 1, "loss": 2.0})
    log.close()


def test_tensorboard_file_is_closed_after_a_failed_write(tmp_path, monkeypatch):
    files = []

    def fail_to_write(self, **fields):
        files.append(self._records)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(metrics._EventWriter, "_write_event", fail_to_write)
    with pytest.raises(ArtifactError, match="No space left on device"):
        MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=0)
    assert files[0].closed


def test_log_is_written_without_tensorboard(tmp_path, monkeypatch):
    def require_missing(module, *, extra, purpose):
        raise MissingExtraError(f"{purpose} needs '{module}'")

    monkeypatch.setattr(metrics, "require", require_missing)
    log = MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=0)
    log.write({"step": 1, "loss": 2.0})
    log.close()
    assert log.missing_tensorboard == "a log for TensorBoard needs 'tensorboard'"
    assert (tmp_path / "metrics.jsonl").read_text() == '{"step": 1, "loss": 2.0}\n'


def test_tensorboard_reads_numbers_of_a_resumed_run(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    first = MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=0)
    for step, loss in ((1, 2.0), (2, 1.0)):
        first.write({"step": step, "loss": loss})
    first.close()
    resumed = MetricsLog(tmp_path, checkpoint_bytes=0, checkpoint_step=1)
    resumed.write({"step": 2, "loss": 0.5})
    resumed.close()
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload().Scalars("loss")
    assert [(event.step, event.value) for event in events] == [(1, 2.0), (2, 0.5)]


@pytest.mark.parametrize("name", ["metrics.jsonl", "tensorboard"])
def test_log_does_not_follow_planted_link(tmp_path, name):
    other, run = tmp_path / "other", tmp_path / "run"
    run.mkdir()
    other.mkdir()
    (run / name).symlink_to(other if name == "tensorboard" else other / "new")
    with pytest.raises(ArtifactError, match=f"{name} is a symbolic link, which is not followed"):
        MetricsLog(run, checkpoint_bytes=0, checkpoint_step=0)
    assert list(other.iterdir()) == []


LOG = '{"step": 2, "loss": 3.5}\n{"step": 4, "loss": 2.5}\n{"step": 4, "dev_loss": 2.0}\n'


def write_log(folder, text):
    (folder / "metrics.jsonl").write_text(text)
    return folder


def test_read_curves_returns_values_with_steps(tmp_path):
    curves = read_curves(write_log(tmp_path, LOG))
    assert curves == {"loss": [(2, 3.5), (4, 2.5)], "dev_loss": [(4, 2.0)]}


def test_read_curves_skips_incomplete_line(tmp_path):
    curves = read_curves(write_log(tmp_path, LOG + '{"step": 6, "lo'))
    assert curves["loss"] == [(2, 3.5), (4, 2.5)]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", "nothing has been logged yet"),
        ("{\n", r"metrics\.jsonl:1: not JSON"),
        ("[" * 100_000 + "\n", r"metrics\.jsonl:1: not JSON"),
        ('{"loss": 1.0}\n', "1: expected a JSON object with an integer 'step'"),
    ],
)
def test_read_curves_refuses_invalid_log(tmp_path, log, reason):
    with pytest.raises(ArtifactError, match=reason):
        read_curves(write_log(tmp_path, log))


def test_read_curves_refuses_folder_without_log(tmp_path):
    with pytest.raises(ArtifactError, match="no metrics.jsonl; this is not a run of 'readagain"):
        read_curves(tmp_path)
