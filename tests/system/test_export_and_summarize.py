"""Export, check and summarize with a trained model."""

import json
import shutil
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
TEXT = "The crew of the ferry Zyx said 12 schools in the village closed after the storm."


@pytest.fixture
def trained(tmp_path):
    """Copy of the toy model without graphs, like a model folder after training."""
    folder = Path(shutil.copytree(TOY, tmp_path / "run"))
    manifest = json.loads((folder / "model.json").read_text())
    for name in list(manifest["files"]):
        if name.endswith(".onnx") or name == "export.json":
            del manifest["files"][name]
            (folder / name).unlink()
    (folder / "model.json").write_text(json.dumps(manifest))
    return folder


def test_trained_model_is_exported_and_summarizes(readagain, trained):
    refused = readagain("summarize", "--model", trained, TEXT)
    assert f"create them with: readagain export {trained}" in refused.stderr

    done = readagain("export", trained, "--check-texts", 20, "--threads", 1)
    assert done.returncode == 0, done.stderr
    assert "float32   same n-best list as the network for 100.0% of 20 texts" in done.stdout
    report = json.loads((trained / "export.json").read_text())
    assert report["check"]["same_n_best"] == 1.0

    for precision in ("int8", "float32"):
        written = readagain("summarize", "--model", trained, "--precision", precision, TEXT)
        assert written.returncode == 0, written.stderr
        assert "Zyx" in written.stdout
    assert readagain("models", trained).returncode == 0


def test_export_matches_the_stored_model(readagain, trained):
    """New graphs give the same summaries as the graphs in the repository."""
    readagain("export", trained, "--check-texts", 5, "--threads", 1)
    new = readagain("summarize", "--model", trained, "--n-best", 4, TEXT).stdout
    stored = readagain("summarize", "--model", TOY, "--n-best", 4, TEXT).stdout
    assert new == stored


def test_inference_folder_is_small_and_complete(readagain, trained, tmp_path):
    out = tmp_path / "small"
    done = readagain(
        "export", trained, "--out", out, "--precision", "int8", "--check-texts", 5, "--threads", 1
    )
    assert done.returncode == 0, done.stderr
    names = {path.name for path in out.iterdir()}
    assert {"encoder.int8.onnx", "step.int8.onnx", "export.json", "model.json"} <= names
    assert not {"weights.safetensors", "step.float32.onnx"} & names
    assert readagain("summarize", "--model", out, TEXT).stdout.strip()


@pytest.mark.slow
def test_trained_model_is_exported_with_shortlist(readagain, trained_example, tmp_path):
    work, _ = trained_example
    out = tmp_path / "short"
    before = (work / "model" / "run.json").read_bytes()
    command = ["export", work / "model", "--out", out, "--check-on", work / "prepared"]
    done = readagain(*command, "--shortlist", 100, "--threads", 1)
    assert done.returncode == 0, done.stderr
    assert "int8      same summary as without a shortlist for " in done.stdout
    check = json.loads((out / "export.json").read_text())["check"]
    assert check["same_n_best"] >= 0.995
    for precision in ("float32", "int8"):
        for measure, score in check["rouge"]["whole"].items():
            assert check["rouge"][precision][measure] >= score - 0.3

    described = json.loads(readagain("models", out, "--json").stdout)
    assert described["run"]["model"]["shortlist_size"] == 100
    assert (work / "model" / "run.json").read_bytes() == before
    text = "The town of Zyxwick sold its 212-year-old theatre on Friday to pay its debts."
    for name in ("summarize", "explain"):
        written = readagain(name, "--model", out, text)
        assert written.returncode == 0, written.stderr
        assert "Zyxwick" in written.stdout

    # A shortlist must be smaller than the vocabulary.
    refused = readagain(*command, "--shortlist", 200, "--threads", 1)
    expected = "--shortlist is 200; expected 1 to 199, fewer words than the model scores now"
    assert expected in refused.stderr
