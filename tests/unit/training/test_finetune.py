"""Weights of words that are added to a trained model."""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.errors import ArtifactError, ConfigError
from readagain.export.recover import recover_weights
from readagain.model_dir import RUN_FILE, ModelDir
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch
from readagain.storage.bundled import find_model
from readagain.storage.model_manifest import write_model_files
from readagain.text.vocab import UNK, Vocab, extended_source_ids
from readagain.training.finetune import TrainedModel
from readagain.training.job import TrainingJob
from readagain.training.vocabs import Vocabs

MODELS = Path(__file__).parents[2] / "assets" / "models"


@pytest.fixture
def trained(make_job, run_job):
    job = make_job("train.epochs=1")
    run_job(job)
    return TrainedModel.open(job.out)


def add_words(vocabs):
    """Return vocabularies with one more source word and two more summary words."""
    return Vocabs(
        source=Vocab([*vocabs.source.words, "newsource"]),
        summary=Vocab([*vocabs.summary.words, "newone", "newtwo"]),
    )


def test_weights_without_new_words_are_unchanged(trained):
    weights = trained.weights(trained.vocabs)
    model = build_model(trained.model_dir.run)
    model.load_state_dict(weights)
    assert weights.keys() == trained.model_dir.tensors.keys()


def test_new_words_start_as_unk(trained):
    vocabs = add_words(trained.vocabs)
    before, after = trained.weights(trained.vocabs), trained.weights(vocabs)
    model = build_model(vocabs.apply_sizes(trained.model_dir.run))
    model.load_state_dict(after)
    for name, num_added in (("source_embedding.weight", 1), ("previous_words.embedding.weight", 2)):
        torch.testing.assert_close(after[name][:-num_added], before[name])
        torch.testing.assert_close(after[name][-num_added:], before[name][[UNK] * num_added])


@pytest.mark.parametrize("preset", ["abs_69k", "ras_lstm"])
def test_every_network_gets_rows_for_new_words(corpus, run_job, tmp_path, preset):
    small = (
        "model.embedding_size=4",
        "model.hidden_size=4",
        "train.epochs=1",
        "decode.beam_size=1",
    )
    job = TrainingJob(out=tmp_path / "out", preset=preset, data=corpus.folder, changes=small)
    run_job(job)
    trained = TrainedModel.open(job.out)
    vocabs = add_words(trained.vocabs)
    weights = trained.weights(vocabs)
    build_model(vocabs.apply_sizes(trained.model_dir.run)).load_state_dict(weights)
    tables = [name for name in weights if name.endswith("embedding.weight")]
    assert len(tables) == (3 if preset == "abs_69k" else 2)
    for name in tables:
        torch.testing.assert_close(weights[name][-1], weights[name][UNK])


def test_new_words_share_the_probability_of_unk(trained):
    name = "output.project.bias"
    before = trained.weights(trained.vocabs)[name]
    after = trained.weights(add_words(trained.vocabs))[name]
    torch.testing.assert_close(after[-2:].logsumexp(0), before[UNK])
    torch.testing.assert_close(after[-1], before[UNK] - math.log(2))


@pytest.mark.parametrize("path", sorted(MODELS.glob("format-*")), ids=lambda path: path.name)
def test_every_model_format_keeps_its_headline(path):
    trained = TrainedModel.open(path)
    model = build_model(trained.model_dir.run)
    model.load_state_dict(trained.weights(trained.vocabs))
    text = "the quiet bakery of sipano moves on thursday after ## years"
    source = text.split()
    sources = SourceBatch(
        source_ids=np.array([[trained.vocabs.source.ids(source)]]),
        lengths=np.array([[len(source)]]),
        source_ext_ids=np.array([extended_source_ids(source, trained.vocabs.summary)]),
    )
    ((best,),) = beam_search(
        TorchStepModel(model.eval()), sources, beam_size=4, length=LengthConstraint(maximum=12)
    )
    words = [[*trained.vocabs.summary.words, *source][id] for id in best.ids.tolist()]
    assert words == ["sipano", "bakery", "moves", "after", "long", "wait", "on", "thursday"]


@pytest.mark.parametrize(
    ("hidden_size", "error", "message"),
    [
        (100_000, ArtifactError, "parameters, the int8 graphs have .* bytes; was run.json edited"),
        (10**12, ConfigError, "larger than any tensor; use smaller sizes"),
    ],
)
def test_open_refuses_sizes_beyond_the_graphs(tmp_path, hidden_size, error, message):
    model = shutil.copytree(find_model("news"), tmp_path / "model")
    run = override(ModelDir.open(model).run, {"model.decoder.hidden_size": hidden_size})
    write_model_files(model, {RUN_FILE: lambda path: save_run(run, path)})
    with pytest.raises(error, match=message):
        TrainedModel.open(model, recover_weights)
