"""Tuning of experiments with extractive features."""

from io import StringIO

import pytest
from rich.console import Console

from readagain.experiments.reproduce import run_experiments
from readagain.experiments.results import read_results
from readagain.experiments.run_experiment import has_features
from readagain.experiments.trained_model import ExperimentModel
from readagain.presets import PRESETS
from readagain.search.features import FEATURES

ROW = "abs_plus_69k"


@pytest.mark.slow
def test_abs_plus_is_tuned_on_duc_and_scored_with_it(small, silent, monkeypatch):
    searched = []
    real = ExperimentModel.system

    def noted(row, protocol, *decode, **options):
        searched.append([getattr(row.run.decode, f"{name}_bonus") for name in FEATURES])
        return real(row, protocol, *decode, **options)

    monkeypatch.setattr(ExperimentModel, "system", noted)
    run_experiments(small(ROW), silent)
    [result] = read_results(small().out)
    facts = result.training["tuned"]
    assert facts["set"] == "invented-duc"
    found = list(facts["weights"].values())
    _, *scored = searched  # the first is that of tuning
    # Two data sets, each with both ways of decoding, and the inputs that the paper prints.
    assert scored == [found] * 5
    [value, _, _] = result.sets["invented-duc"].rouge["rouge-1"]
    assert value == pytest.approx(max(facts["rounds"]), abs=0.02)  # one is of resampled texts
    # The settings of the row stay the preset's, so that the same request finds it done.
    assert result.run["decode"]["unigram_bonus"] == 1.0
    assert run_experiments(small(ROW), silent).existing == [f"{ROW}/converged-seed1"]


def test_abs_plus_without_duc_keeps_the_preset_weights(small, silent):
    run_experiments(small("prefix"), silent)  # invents the corpora
    corpus = small().work / "corpora" / "invented"
    console = Console(file=StringIO(), width=200)
    run_experiments(small(ROW, data=corpus), console)
    [result] = [each for each in read_results(small().out) if each.row == ROW]
    assert result.training["tuned"] is None
    assert list(result.sets) == ["invented"]
    message = f"{ROW}/converged-seed1: not tuned: no data set with several references"
    assert message in console.file.getvalue()


def test_only_abs_plus_has_features():
    assert [name for name, run in PRESETS.items() if has_features(run)] == [ROW]
