"""Averages over seeds and comparisons of experiments, on invented results."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.errors import DataError
from readagain.experiments.results import pack_scores
from readagain.experiments.store import Effect, ResultStore


def test_scores_of_one_seed_equal_those_of_evaluate(result):
    store = ResultStore([result("gru_15k", 0.3)])
    score = store.find("gru_15k", "modern").scores("news")["rouge-1"]
    assert (score.value, score.low, score.high) == pytest.approx((30.0, 29.0, 31.0))


def test_scores_of_several_seeds_are_averaged_by_text(result):
    store = ResultStore([result("gru_15k", 0.3), result("gru_15k", 0.4, seed=2)])
    results = store.find("gru_15k", "modern")
    score = results.scores("news")["rouge-1"]
    assert score.value == pytest.approx(35.0)
    assert score.low < 35.0 < score.high
    assert results.text_scores("news")[:, 0].mean() == pytest.approx(0.35, abs=0.01)


def test_find_separates_recipes_and_shares_baselines(result):
    store = ResultStore(
        [
            result("gru_15k", 0.3),
            result("gru_15k", 0.2, recipe="paper"),
            result("prefix", recipe="untrained"),
        ]
    )
    assert store.recipes == ["modern", "paper"]
    assert store.find("gru_15k", "paper").scores("news")["rouge-1"].value == pytest.approx(20.0)
    assert store.find("prefix", "paper") is store.find("prefix", "modern")
    assert store.find("gru_69k", "paper") is None


def test_contrast_uses_a_shared_data_set(result, scored):
    one = result("gru_15k", sets={"part": scored(0.3), "duc": scored(0.5)})
    other = result("gru_69k", sets={"news": scored(0.3), "duc": scored(0.4)})
    store = ResultStore([one, other])
    found = store.contrast(("gru_15k", "gru_69k"), "modern")
    assert found["rouge-1"].difference == pytest.approx(0.1, abs=1e-3)
    assert found["rouge-1"].mark == "▲"
    assert store.contrast(("gru_15k", "gru_69k"), "modern", "news") is None
    assert store.contrast(("gru_15k", "lstm_15k"), "modern") is None


def test_effect_has_the_direction_of_its_interval():
    intervals = ((0.05, 0.15), (-0.05, 0.25), (-0.2, -0.1))
    effects = [Effect(difference=0.1, low=low, high=high) for low, high in intervals]
    assert [effect.mark for effect in effects] == ["▲", "", "▼"]
    assert str(effects[1]) == "+10.00 (-5.00 to +25.00)"


def test_interval_over_seeds_follows_student(result):
    """All texts have the same difference, so only the seeds vary."""
    means = {"gru_15k": (0.30, 0.31, 0.32), "gru_69k": (0.32, 0.33, 0.34)}
    store = ResultStore(
        [
            result(row, mean, seed=seed)
            for row, seed_means in means.items()
            for seed, mean in enumerate(seed_means)
        ]
    )
    found = store.contrast(("gru_69k", "gru_15k"), "modern")["rouge-1"]
    assert found.difference == pytest.approx(0.02, abs=1e-4)
    # Variance 0.01² between seeds, three of each, four degrees of freedom: 2.776.
    assert found.high - found.difference == pytest.approx(2.776 * 0.01 * (2 / 3) ** 0.5, rel=0.02)
    assert store.seed_variance("modern", "news").values[0] == pytest.approx(1e-4, rel=0.02)
    assert store.seed_variance("modern", "news").dof == 4


def test_one_seed_has_the_pooled_variance(result):
    pair = [result("gru_69k", 0.30, seed=1), result("gru_69k", 0.31, seed=2)]
    one = ResultStore([result("gru_15k", 0.3), result("lstm_15k", 0.31)])
    pooled = ResultStore([result("gru_15k", 0.3), result("lstm_15k", 0.31), *pair])
    assert one.contrast(("lstm_15k", "gru_15k"), "modern")["rouge-1"].mark == "▲"
    assert pooled.contrast(("lstm_15k", "gru_15k"), "modern")["rouge-1"].mark == ""


def test_diverged_experiment_has_its_own_variance(result):
    diverged = [
        result("read_again_gru_15k", mean, seed=seed) for seed, mean in enumerate((0.1, 0.3))
    ]
    others = [result("gru_15k", mean, seed=seed) for seed, mean in enumerate((0.33, 0.34))]
    store = ResultStore([*diverged, *others, result("gru_69k", 0.30)])
    assert store.seed_variance("modern", "news").values[0] ** 0.5 == pytest.approx(0.0071, abs=1e-4)
    narrow = store.contrast(("gru_69k", "gru_15k"), "modern")["rouge-1"]
    wide = store.contrast(("gru_69k", "read_again_gru_15k"), "modern")["rouge-1"]
    assert wide.high - wide.low > 5 * (narrow.high - narrow.low)


def test_own_variance_has_the_degrees_of_freedom_of_its_seeds(result):
    diverged = [
        result("read_again_gru_15k", mean, seed=seed) for seed, mean in enumerate((0.2, 0.4))
    ]
    others = [
        result(row, mean, seed=seed)
        for row in ("gru_15k", "gru_69k")
        for seed, mean in enumerate((0.33, 0.34, 0.35))
    ]
    store = ResultStore([*diverged, *others])
    assert store.seed_variance("modern", "news").dof == 4
    found = store.contrast(("gru_15k", "read_again_gru_15k"), "modern")["rouge-1"]
    # Variance 0.02 of two seeds, one degree of freedom: 12.71.
    assert found.high - found.difference == pytest.approx(12.71 * 0.1, rel=0.02)


def test_diverged_experiment_with_one_seed_has_no_interval(result):
    seeds = [result("gru_15k", mean, seed=seed) for seed, mean in enumerate((0.33, 0.34))]
    healthy = [*seeds, result("gru_69k", 0.32)]
    store = ResultStore([*healthy, result("read_again_gru_15k", 0.1)])
    found = store.contrast(("read_again_gru_15k", "gru_15k"), "modern")["rouge-1"]
    assert str(found) == "-23.50 (no interval: a diverged row has only one seed)"
    assert found.mark == ""
    assert store.contrast(("gru_69k", "gru_15k"), "modern")["rouge-1"].high < 1
    twice = [result("read_again_gru_15k", 0.1, seed=seed) for seed in (1, 2)]
    found = ResultStore([*healthy, *twice]).contrast(("read_again_gru_15k", "gru_15k"), "modern")
    assert found["rouge-1"].mark == "▼"


def test_subset_of_texts_has_the_variance_of_the_corpus(result, scored):
    seeds = [result("gru_15k", 0.30, seed=1), result("gru_15k", 0.31, seed=2)]
    sets = {"news, 2 sentences": scored(0.3)}
    store = ResultStore([*seeds, result("one_sentence_copy_15k", sets=sets)])
    assert store.seed_variance("modern", "news, 2 sentences").dof == 1


def test_baseline_has_no_variance_between_seeds(result):
    baseline = replace(result("prefix", 0.3, recipe="untrained"), training={})
    seeds = [result("gru_15k", 0.40), result("gru_15k", 0.41, seed=2)]
    found = ResultStore([baseline, *seeds]).contrast(("gru_15k", "prefix"), "modern")["rouge-1"]
    assert found.difference == pytest.approx(0.105, abs=1e-3)
    # One degree of freedom: 12.71. The standard error of two seeds is 0.005.
    assert found.high - found.difference == pytest.approx(12.71 * 0.005, rel=0.02)


def test_contrast_uses_own_decoding(result, scored):
    own = {"item_scores": pack_scores(np.full((200, 3), 0.1))}
    sets = {"news": replace(scored(0.3, spread=0), own=own)}
    store = ResultStore([result("gru_15k", sets=sets), result("gru_69k", 0.3)])
    names = ("gru_69k", "gru_15k")
    found = store.contrast(names, "modern", use_own_decoding=True)["rouge-1"]
    assert found.difference == pytest.approx(0.2, abs=1e-2)


def test_store_rejects_mixed_scales(result):
    with pytest.raises(DataError, match="results of the scales paper and small in one directory"):
        ResultStore([result("gru_15k"), result("gru_69k", scale="small")])


def test_store_rejects_different_texts_under_one_name(result, scored):
    other = result("gru_69k", sets={"news": scored(0.3, fingerprint="others")})
    with pytest.raises(DataError, match="data set 'news': not the same texts in all results"):
        ResultStore([result("gru_15k"), other])


def test_compare_pairs_scores_by_text(result):
    store = ResultStore([result("gru_15k", 0.30), result("gru_69k", 0.31)])
    assert store.contrast(("gru_69k", "gru_15k"), "modern")["rouge-1"].mark == "▲"
