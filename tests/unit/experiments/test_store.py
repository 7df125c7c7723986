from dataclasses import replace

import numpy as np
import pytest

from readagain.errors import DataError
from readagain.experiments.store import ResultStore, SeedComparison
from readagain.rouge.significance import Comparison


def test_scores_of_one_seed_equal_those_of_evaluate(result):
    figure = (
        ResultStore([result("gru_15k", 0.3)]).find("gru_15k", "modern").scores("news")["rouge-1"]
    )
    assert (figure.value, figure.low, figure.high) == pytest.approx((30.0, 29.0, 31.0))


def test_scores_of_several_seeds_are_averaged_by_text(result):
    store = ResultStore([result("gru_15k", 0.3), result("gru_15k", 0.4, seed=2)])
    entry = store.find("gru_15k", "modern")
    figure = entry.scores("news")["rouge-1"]
    assert figure.value == pytest.approx(35.0)
    assert figure.low < 35.0 < figure.high
    assert entry.items("news")[:, 0].mean() == pytest.approx(0.35, abs=0.01)


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


def test_compare_uses_a_shared_data_set(result, scored):
    one = result("gru_15k", sets={"part": scored(0.3), "duc": scored(0.5)})
    other = result("gru_69k", sets={"news": scored(0.3), "duc": scored(0.4)})
    store = ResultStore([one, other])
    found = store.compare("gru_15k", "gru_69k", "modern")
    assert found["rouge-1"].difference == pytest.approx(0.1, abs=1e-3)
    assert found["rouge-1"].direction == 1
    assert store.compare("gru_15k", "gru_69k", "modern", "news") is None
    assert store.compare("gru_15k", "lstm_15k", "modern") is None


def test_comparison_with_disagreeing_seeds_has_no_direction():
    sure = Comparison(difference=0.1, low=0.05, high=0.15, p_bootstrap=0.001, p_randomization=0.001)
    assert SeedComparison(**vars(sure), by_seed=(0.15, 0.05)).direction == 1
    assert SeedComparison(**vars(sure), by_seed=(0.25, -0.05)).direction == 0
    assert SeedComparison(**vars(sure), by_seed=(0.25, -0.05)).mark == ""
    assert "by seed +25.00, -5.00" in str(SeedComparison(**vars(sure), by_seed=(0.25, -0.05)))


def test_baseline_is_compared_with_every_seed(result):
    floor = replace(result("prefix", 0.3, recipe="untrained"), training={})
    seeds = [result("gru_15k", 0.4), result("gru_15k", 0.28, seed=2)]
    found = ResultStore([floor, *seeds]).compare("gru_15k", "prefix", "modern")["rouge-1"]
    assert found.by_seed == pytest.approx((0.1, -0.02), abs=1e-3)
    assert found.difference == pytest.approx(0.04, abs=1e-3)
    assert found.direction == 0


def test_comparison_needs_both_tests():
    found = Comparison(difference=-0.1, low=-0.2, high=-0.01, p_bootstrap=0.01, p_randomization=0.2)
    assert SeedComparison(**vars(found)).direction == 0
    sure = Comparison(difference=-0.1, low=-0.2, high=-0.01, p_bootstrap=0.01, p_randomization=0.02)
    assert SeedComparison(**vars(sure)).mark == "▼"


def test_store_rejects_mixed_scales(result):
    with pytest.raises(DataError, match="results of the scales paper and small in one directory"):
        ResultStore([result("gru_15k"), result("gru_69k", scale="small")])


def test_store_rejects_different_texts_under_one_name(result, scored):
    other = result("gru_69k", sets={"news": scored(0.3, fingerprint="others")})
    with pytest.raises(DataError, match="data set 'news': not the same texts in all results"):
        ResultStore([result("gru_15k"), other])


def test_compare_pairs_scores_by_text(result):
    store = ResultStore([result("gru_15k", 0.30), result("gru_69k", 0.31)])
    assert store.compare("gru_69k", "gru_15k", "modern")["rouge-1"].direction == 1
    assert np.isclose(store.find("gru_15k", "modern").minutes, 1.5)
