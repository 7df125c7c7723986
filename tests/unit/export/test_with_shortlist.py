"""Export with a shortlist of a network that was trained on all words."""

from dataclasses import replace
from functools import partial

import numpy as np
import onnx
import pytest
import torch

from readagain.config.files import load_run, save_run
from readagain.config.override import override
from readagain.engine.summarizer import Summarizer
from readagain.errors import ArtifactError, ConfigError
from readagain.export import check as check_module
from readagain.export.check import CheckText, check_graphs, random_texts
from readagain.export.write import build_graphs, model_graphs, with_shortlist, write_graphs
from readagain.model_dir import RUN_FILE, ModelDir
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.storage.model_manifest import write_model_files

WITH_REFERENCES = [
    CheckText("the old bridge opens", "old bridge opens"),
    CheckText("zyx ferry sails .", "ferry sails"),
    CheckText("sails ferry opens bridge", "ferry opens bridge"),
]
SMALL = {"vocab_size": 11, "source_vocab_size": 11, "model.embedding_size": 6}


@pytest.fixture
def trained(trained):
    """Return a model that reads four words; its shortlists have eight to ten of eleven words."""
    run = override(trained.run, {"data.max_source_words": 4})
    write_model_files(trained.path, {RUN_FILE: partial(save_run, run)})
    return ModelDir.open(trained.path)


def test_shortlist_changes_only_its_setting(trained):
    before = trained.run
    short_model = with_shortlist(trained, 9)
    assert short_model == replace(trained, run=override(before, {"model.shortlist_size": 9}))
    assert trained.run == before


@pytest.mark.parametrize("size", [-1, 0, 11, 12])
def test_shortlist_rejects_invalid_size(trained, size):
    with pytest.raises(ConfigError, match=rf"run: shortlist is {size}; expected 1 to 10, fewer wo"):
        with_shortlist(trained, size)


def test_shortlist_rejects_too_long_sources(trained):
    with pytest.raises(ConfigError, match=r"run: model\.shortlist_size is 7; expected 8 or more"):
        with_shortlist(trained, 7)


def test_shortlist_must_be_shorter_than_trained_one(trained):
    short_model = with_shortlist(trained, 9)
    assert with_shortlist(short_model, 8).run.model.shortlist_size == 8
    with pytest.raises(ConfigError, match="shortlist is 9; expected 1 to 8"):
        with_shortlist(short_model, 9)


@pytest.mark.parametrize("preset", ["abs_69k", "ras_elman"])
def test_shortlist_rejects_abs_and_ras(trained, preset):
    other = replace(trained, run=override(PRESETS[preset], SMALL))
    with pytest.raises(ConfigError, match="shortlist needs an encoder-decoder network"):
        with_shortlist(other, 9)


def test_check_compares_shortlist_with_full_vocab(trained):
    short_model = with_shortlist(trained, 8)
    graphs = model_graphs(short_model, ["int8", "float32"])
    texts = [CheckText(text.text, "old bridge opens") for text in random_texts(trained, 20)]
    check = check_graphs(
        short_model, graphs, texts, origin="some", threads=1, full_vocab_model=trained
    )
    assert check.same_n_best == 1.0
    assert check.rouge.keys() == {"torch", "whole", "int8", "float32"}
    assert check.rouge["float32"] == check.rouge["torch"]
    assert check.same_as_whole.keys() == {"int8", "float32"}
    # The shortlist changes some summaries, but not all.
    assert 0 < check.same_as_whole["float32"] < 1


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_check_rejects_shortlist_with_large_rouge_drop(trained, monkeypatch, precision):
    scores = {
        "whole": {"rouge-1": 40.0, "rouge-2": 20.0},
        "torch": {"rouge-1": 39.9, "rouge-2": 19.6},
        precision: {"rouge-1": 39.8, "rouge-2": 19.5},
    }
    monkeypatch.setattr(check_module, "_rouge", lambda summaries, texts: scores)
    short_model = with_shortlist(trained, 9)
    with pytest.raises(
        ArtifactError,
        match=rf"with the shortlist, {precision} lowers ROUGE by 0\.50 points \(rouge-2\) on 3 "
        r"texts; expected at most 0\.3; nothing was written; use a larger shortlist",
    ):
        check_graphs(
            short_model,
            model_graphs(short_model, [precision]),
            WITH_REFERENCES,
            origin="three",
            threads=1,
            full_vocab_model=trained,
        )


def test_written_folder_has_shortlist_but_run_does_not(trained, tmp_path):
    short_model = with_shortlist(trained, 9)
    out = write_graphs(short_model, model_graphs(short_model, ["int8"]), {}, out=tmp_path / "short")
    assert load_run(out / RUN_FILE) == short_model.run
    assert ModelDir.open(trained.path, checksums=True).run == trained.run
    assert Summarizer.load(out, threads=1).summarize("The old ferry Zyx sails.").text


def test_output_matrix_is_stored_once():
    torch.manual_seed(4)
    run = override(PRESETS["read_again_lstm_copy_15k"], SMALL | {"vocab_size": 300})
    tensors = {name: tensor.numpy() for name, tensor in build_model(run).state_dict().items()}
    short_run = override(run, {"model.shortlist_size": 100})
    assert num_weights(short_run, tensors) == num_weights(run, tensors)


def num_weights(run, tensors):
    """Return the number of entries of the float32 constants of a network's graphs."""
    contents = build_graphs(run, tensors, ["float32"])["float32"]
    sizes = [
        int(np.prod(constant.dims))
        for content in contents
        for constant in onnx.load_from_string(content).graph.initializer
        if constant.data_type == onnx.TensorProto.FLOAT
    ]
    return sum(size for size in sizes if size > 1)
