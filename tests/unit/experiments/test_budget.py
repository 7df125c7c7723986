from dataclasses import replace

import pytest

from readagain.experiments.budget import Budget, Estimator, RunCost, works_of
from readagain.presets import PRESETS

GPU = RunCost("cuda", "modern", 1_000_000)


def work(preset, **options):
    defaults = {"train_pairs": 1000, "device": "cuda", "recipe": "modern"}
    return RunCost.of(PRESETS[preset], **{**defaults, **options})


def test_a_larger_vocabulary_more_sentences_and_more_pairs_are_more_work():
    base = work("read_again_lstm_15k").volume
    assert work("read_again_lstm_69k").volume > base
    assert work("two_sentences_option1_copy_15k").volume > base
    assert work("read_again_lstm_15k", train_pairs=2000).volume == 2 * base


def test_an_estimate_follows_what_was_done_before():
    estimator = Estimator()
    first = estimator.seconds(GPU)
    estimator.add(GPU, 500.0)
    assert first < 100
    assert 500 < estimator.seconds(GPU) < 600
    double = estimator.seconds(replace(GPU, volume=2 * GPU.volume))
    assert 950 < double < 1100


def test_what_another_device_or_recipe_took_says_nothing():
    estimator = Estimator([(replace(GPU, device="cpu"), 9999.0)])
    estimator.add(replace(GPU, recipe="paper"), 9999.0)
    assert estimator.seconds(GPU) == Estimator().seconds(GPU)


def test_a_budget_allows_what_fits_into_the_time_left():
    now = [0.0]
    budget = Budget(2, clock=lambda: now[0])
    assert budget.allows(120)
    now[0] = 61.0
    assert budget.allows(59)
    assert not budget.allows(60)


def test_without_a_budget_everything_is_allowed():
    assert Budget(None).allows(1e9)


def test_results_that_are_there_become_experience(result):
    run = PRESETS["gru_15k"]
    results = [result("gru_15k"), result("prefix")]
    [(done, seconds)] = works_of(results, lambda each: run if each.row == "gru_15k" else None)
    assert (done.device, done.recipe, seconds) == ("cuda", "modern", 60.0)
    assert done.volume == pytest.approx(work("gru_15k").volume)
