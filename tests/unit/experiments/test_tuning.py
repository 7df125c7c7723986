"""Tuning of experiments with extractive features."""

from io import StringIO

import pytest
from rich.console import Console

from readagain.experiments.reproduce import run_experiments
from readagain.experiments.results import read_results
from readagain.experiments.run_experiment import has_features
from readagain.experiments.trained_model import ExperimentModel
from readagain.presets import PRESETS
from readagain.search.features import FEATURE_NAMES

ABS_PLUS = "abs_plus_69k"


@pytest.mark.slow
def test_abs_plus_is_tuned_on_duc_and_scored_with_it(small, silent, monkeypatch):
    used_weights = []
    real_system = ExperimentModel.system

    def record_weights(model, protocol, *decode, **options):
        used_weights.append([getattr(model.run.decode, f"{name}_bonus") for name in FEATURE_NAMES])
        return real_system(model, protocol, *decode, **options)

    monkeypatch.setattr(ExperimentModel, "system", record_weights)
    run_experiments(small(ABS_PLUS), silent)
    [result] = read_results(small().out)
    tuned = result.training["tuned"]
    assert tuned["set"] == "invented-duc"
    _, *scoring_weights = used_weights  # the first system is used for tuning
    # Two data sets, each with both ways of decoding, and the inputs that the paper prints.
    assert scoring_weights == [list(tuned["weights"].values())] * 5
    [value, _, _] = result.sets["invented-duc"].rouge["rouge-1"]
    # `value` is the mean of bootstrap samples, so it is not exactly equal.
    assert value == pytest.approx(max(tuned["rounds"]), abs=0.02)
    # The recorded settings are those of the preset, so the same call finds the run done.
    assert result.run["decode"]["unigram_bonus"] == 1.0
    assert run_experiments(small(ABS_PLUS), silent).existing == [f"{ABS_PLUS}/converged-seed1"]


def test_abs_plus_without_duc_keeps_the_preset_weights(small, silent):
    run_experiments(small("prefix"), silent)  # invents the corpora
    corpus = small().work / "corpora" / "invented"
    console = Console(file=StringIO(), width=200)
    run_experiments(small(ABS_PLUS, data=corpus), console)
    [result] = [result for result in read_results(small().out) if result.row == ABS_PLUS]
    assert result.training["tuned"] is None
    assert list(result.sets) == ["invented"]
    message = f"{ABS_PLUS}/converged-seed1: not tuned: no data set with several references"
    assert message in console.file.getvalue()


def test_only_abs_plus_has_features():
    assert [name for name, run in PRESETS.items() if has_features(run)] == [ABS_PLUS]
