"""Training curves: reading the log."""

import pytest

from readagain.errors import ArtifactError
from readagain.training.curves import read_curves

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
