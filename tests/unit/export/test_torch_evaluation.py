"""Evaluation of a run directory without graphs: PyTorch gives the same summaries."""

import pytest

from readagain.api import _load_weights
from readagain.errors import ArtifactError
from readagain.evaluation.systems import load_system
from readagain.export.write import model_graphs, write_graphs

TEXTS = ["the old bridge opens .", "the ferry sails the old bridge ."]


def test_weights_give_the_summaries_of_float32_graphs(trained):
    def summaries():
        system = load_system(str(trained.path), "gigaword", threads=1, load_weights=_load_weights)
        assert system.describe()["precision"] == "float32"
        return list(system.summarize(TEXTS, is_tokenized=True))

    by_torch = summaries()
    write_graphs(trained, model_graphs(trained, ["float32"]), {})
    assert summaries() == by_torch
    assert all(summary.text for summary in by_torch)


def test_folder_without_graphs_needs_load_weights(trained):
    with pytest.raises(ArtifactError, match="no int8 graphs"):
        load_system(str(trained.path), "gigaword", threads=1)
