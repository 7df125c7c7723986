"""Recovery of weights from int8 graphs."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from readagain.config.override import override
from readagain.errors import ArtifactError
from readagain.export import recover
from readagain.export.recover import recover_weights
from readagain.export.write import build_graphs
from readagain.model_dir import ModelDir, graph_names
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.storage.tensors import read_tensors

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
WIDTHS = ("embedding_size", "encoder.hidden_size", "decoder.hidden_size", "decoder.attention_size")
SIZES = {"vocab_size": 30, "source_vocab_size": 40} | {f"model.{name}": 12 for name in WIDTHS}
SHORTLIST = {"model.shortlist_size": 20, "data.max_source_words": 7}
RUNS = {
    name: override(PRESETS[preset], SIZES | {"model.encoder.bidirectional": True})
    for name, preset in {
        "LSTM": "read_again_lstm_copy_15k",
        "GRU": "read_again_gru_copy_15k",
        "several sentences": "two_sentences_option2_copy_15k",
    }.items()
}
RUNS["one importance weight per word"] = override(
    RUNS["GRU"], {"model.encoder.importance": "scalar"}
)
RUNS["shortlist"] = override(RUNS["LSTM"], SHORTLIST)


def write_graphs(folder, run, weights):
    """Write the int8 graphs of a network and return their contents."""
    (contents,) = build_graphs(run, weights, ["int8"]).values()
    for name, content in zip(graph_names("int8"), contents, strict=True):
        (folder / name).write_bytes(content)
    return contents


def new_weights(run):
    return {name: tensor.numpy() for name, tensor in build_model(run).state_dict().items()}


def shapes_of(weights):
    return {name: tuple(weight.shape) for name, weight in weights.items()}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_recover_weights_within_quantization_step(tmp_path, run):
    torch.manual_seed(1)
    weights = new_weights(run)
    write_graphs(tmp_path, run, weights)
    recovered = recover_weights(tmp_path, run, shapes_of(weights))
    assert recovered.keys() == weights.keys()
    for name, weight in weights.items():
        # At most one quantization step, 1/64 of the maximum: half by rounding, half by noise.
        atol = 0 if weight.ndim == 1 else np.abs(weight).max() / 64
        np.testing.assert_allclose(
            recovered[name], weight, rtol=1e-6, atol=atol * 1.001, err_msg=name
        )


def test_recover_weights_merges_lstm_biases(tmp_path):
    run = RUNS["LSTM"]
    weights = new_weights(run)
    first, second = (f"encoder.first.directions.1.lstm.bias_{name}_l0" for name in ("ih", "hh"))
    weights[first], weights[second] = np.full(48, 0.25, "f"), np.full(48, 0.5, "f")
    write_graphs(tmp_path, run, weights)
    recovered = recover_weights(tmp_path, run, shapes_of(weights))
    assert (recovered[first] == 0.75).all()
    assert (recovered[second] == 0).all()


def test_recovered_weights_export_to_same_codes(tmp_path):
    folder = ModelDir.open(TOY)
    shapes = shapes_of(read_tensors(TOY / "weights.safetensors"))
    contents = write_graphs(tmp_path, folder.run, recover_weights(TOY, folder.run, shapes))
    for name, content in zip(graph_names("int8"), contents, strict=True):
        new, original = onnx.load_from_string(content), onnx.load(TOY / name)
        assert codes_of(new) == codes_of(original)


def test_small_updates_survive_export(tmp_path):
    folder = ModelDir.open(TOY)
    shapes = shapes_of(read_tensors(TOY / "weights.safetensors"))
    recovered = recover_weights(TOY, folder.run, shapes)
    name = "source_embedding.weight"
    before = recovered[name]
    tenth_of_a_step = np.abs(before).max(axis=1, keepdims=True) / 1270  # a row has 127 steps
    recovered[name] = before + tenth_of_a_step
    write_graphs(tmp_path, folder.run, recovered)
    after = recover_weights(tmp_path, folder.run, shapes)[name]
    # Some entries change by a whole step, the others not at all; by a tenth of a step on average.
    mean_change = np.mean((after - before) / tenth_of_a_step)
    assert 0.5 < mean_change < 1.5


def codes_of(model):
    """Return the int8 constants of a graph."""
    initializers = model.graph.initializer
    return [array.raw_data for array in initializers if array.data_type == onnx.TensorProto.INT8]


def test_recover_weights_rejects_other_network(tmp_path):
    weights = new_weights(RUNS["GRU"])
    write_graphs(tmp_path, RUNS["GRU"], weights)
    other_weights = new_weights(RUNS["LSTM"])
    with pytest.raises(ArtifactError, match=r"encoder\.int8\.onnx: exported by another version"):
        recover_weights(tmp_path, RUNS["LSTM"], shapes_of(other_weights))


def test_recover_weights_names_missing_tensor(tmp_path):
    sizes = {"vocab_size": 30, "source_vocab_size": 40, "model.embedding_size": 12}
    run = override(PRESETS["ras_lstm"], sizes | {"model.hidden_size": 12})
    weights = new_weights(run)
    write_graphs(tmp_path, run, weights)
    with pytest.raises(
        ArtifactError, match=r"not contain all entries of 'decoder\.first'; fine-tune a model"
    ):
        recover_weights(tmp_path, run, shapes_of(weights))


def test_recover_weights_rejects_too_many_weights(monkeypatch):
    monkeypatch.setattr(recover, "MAX_ENTRIES", 3000)
    folder = ModelDir.open(TOY)
    shapes = shapes_of(read_tensors(TOY / "weights.safetensors"))
    with pytest.raises(ArtifactError, match="of up to 3,000 entries, but these have 3,424; fine"):
        recover_weights(TOY, folder.run, shapes)
