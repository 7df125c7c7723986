"""Graphs that are damaged, belong to another model, or refer to other files are refused."""

import json
import os
import subprocess
import sys

import pytest

from readagain.engine import sessions
from readagain.engine.onnx_model import STATE_INPUTS, STEP_INPUTS
from readagain.engine.sessions import open_session
from readagain.engine.summarizer import Summarizer
from readagain.errors import ArtifactError

STEP = "step.int8.onnx"


@pytest.fixture
def graph(toy):
    return (toy / STEP).read_bytes()


def open_graph(graph):
    return open_session(graph, threads=1, inputs=[], outputs=["ids"], where="step")


@pytest.mark.parametrize(
    "damage",
    [lambda graph: b"", lambda graph: graph[: len(graph) // 2], lambda graph: b"hi" * 99],
)
def test_damaged_graph_is_refused(graph, damage):
    with pytest.raises(ArtifactError, match=r"step: ONNX Runtime .* cannot load it \(.*protobuf"):
        open_graph(damage(graph))


def test_damaged_name_is_refused_without_output(graph, capfd):
    start = graph.index(b"QuantizeLinear")
    with pytest.raises(ArtifactError, match="cannot load it"):
        open_graph(graph[:start] + b"\xff\xff" + graph[start + 2 :])
    assert capfd.readouterr() == ("", "")


def test_graph_with_other_inputs_is_refused(toy):
    with pytest.raises(ArtifactError, match=r"step: unknown inputs or missing .* \(lengths, ids"):
        open_session(
            (toy / "encoder.int8.onnx").read_bytes(),
            threads=1,
            inputs=["source_ids"],
            outputs=["ids"],
            where="step",
        )


def test_step_without_next_state_is_refused(graph):
    open_session(graph, threads=1, inputs=STEP_INPUTS, outputs=[], state_inputs=STATE_INPUTS)
    with pytest.raises(ArtifactError, match="next_"):
        open_session(
            graph, threads=1, inputs=STEP_INPUTS, outputs=[], state_inputs=["keys", "no_input"]
        )


def test_external_data_is_refused(graph):
    with pytest.raises(ArtifactError, match="refers to external data"):
        open_graph(graph + b"\x6a\x0e\x0a\x08location\x12\x02/x")


def test_session_frees_the_content_of_its_graph(graph):
    num_references = sys.getrefcount(graph)
    session = open_session(graph, threads=1, inputs=STEP_INPUTS, outputs=[])
    assert sys.getrefcount(graph) == num_references
    assert session.get_inputs()


def test_changed_graph_is_refused(toy_copy):
    path = toy_copy / STEP
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"step\.int8\.onnx: content does not match model\.js"):
        Summarizer.load(toy_copy)


def test_truncated_graph_is_refused(toy_copy):
    path = toy_copy / STEP
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        ArtifactError, match=r"step\.int8\.onnx: 1\d,\d{3} bytes, model\.json lists"
    ):
        Summarizer.load(toy_copy)


def test_huge_graph_is_not_read(toy, monkeypatch):
    monkeypatch.setattr(sessions, "MAX_GRAPH_BYTES", 1000)
    with pytest.raises(ArtifactError, match=r"encoder\.int8\.onnx: 1.* at most 1,000"):
        Summarizer.load(toy)


def test_later_format_is_refused(toy_copy):
    manifest = json.loads((toy_copy / "model.json").read_text())
    manifest["format_version"] = 99
    (toy_copy / "model.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match=r"format 99 .*; upgrade readagain"):
        Summarizer.load(toy_copy)


def test_directory_without_model_is_refused(tmp_path):
    with pytest.raises(ArtifactError, match=r"no model\.json; this is not a model folder"):
        Summarizer.load(tmp_path)


def test_telemetry_of_onnx_runtime_is_off(toy, tmp_path):
    code = f"from readagain import Summarizer; Summarizer.load({str(toy)!r}).summarize('A text.')"
    names = ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    env = {name: value for name, value in os.environ.items() if name not in names}
    subprocess.run([sys.executable, "-c", code], env={**env, "HOME": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []  # no identifier of the device
