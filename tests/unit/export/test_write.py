"""Graphs written to a model directory, or to a new directory for inference only."""

import json

import pytest

from readagain.engine.summarizer import Summarizer
from readagain.errors import ArtifactError
from readagain.export.write import model_graphs, write_graphs
from readagain.model_dir import WEIGHTS_FILE, ModelDir

TEXT = "The old ferry Zyx sails."


def test_write_adds_graphs_and_keeps_weights(trained):
    graphs = model_graphs(trained, ["int8", "float32"])
    path = write_graphs(trained, graphs, {"texts": 3})
    folder = ModelDir.open(path, checksums=True)
    assert folder.has(WEIGHTS_FILE)
    assert json.loads((path / "export.json").read_text())["check"] == {"texts": 3}
    assert Summarizer.load(path, threads=1).summarize(TEXT).text


def test_inference_folder_has_no_weights(trained, tmp_path):
    graphs = model_graphs(trained, ["int8"])
    path = write_graphs(trained, graphs, {}, out=tmp_path / "small")
    folder = ModelDir.open(path, checksums=True)
    assert not folder.has(WEIGHTS_FILE)
    assert not folder.has("step.float32.onnx")
    assert Summarizer.load(path, threads=1).summarize(TEXT).text
    assert not trained.has("step.int8.onnx")


def test_write_does_not_replace_model_with_weights(trained):
    graphs = model_graphs(trained, ["int8"])
    with pytest.raises(ArtifactError, match="contains a model with weights, which would be rep"):
        write_graphs(trained, graphs, {}, out=trained.path)
    assert (trained.path / WEIGHTS_FILE).exists()


def test_write_replaces_inference_folder(trained, tmp_path):
    for precision in ("int8", "float32"):
        out = write_graphs(trained, model_graphs(trained, [precision]), {}, out=tmp_path / "small")
    assert {path.name for path in out.glob("*.onnx")} == {
        "encoder.float32.onnx",
        "step.float32.onnx",
    }


def test_export_needs_weights(trained, tmp_path):
    path = write_graphs(trained, model_graphs(trained, ["int8"]), {}, out=tmp_path / "small")
    with pytest.raises(ArtifactError, match=r"exporting needs weights\.safetensors, which this"):
        model_graphs(ModelDir.open(path), ["int8"])
