"""`readagain curves`: plots and errors."""

import pytest


@pytest.mark.needs_extras
def test_curves_writes_image(readagain, tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 2, "loss": 3.5}\n')
    done = readagain("curves", tmp_path, "--out", tmp_path / "a.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_folder_without_log_is_refused(readagain, tmp_path):
    done = readagain("curves", tmp_path)
    assert done.returncode == 2
    assert "no metrics.jsonl; this is not a run of 'readagain train'" in done.stderr
