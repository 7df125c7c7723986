"""Tuning of the toy model."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.evaluation import tuning
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.systems import load_system
from readagain.evaluation.tuning import Round, _SummaryPool, tune
from readagain.rouge.options import find_protocol


@pytest.fixture
def network(toy):
    return load_system(str(toy), "gigaword", decoding={"beam": 4, "max_words": 6}, threads=1)


def tuned(network, data, **options):
    return list(tune(network, data, "gigaword", **{"max_rounds": 4, **options}))


@pytest.mark.parametrize("layout", ["gigaword", "jsonl"])
def test_first_round_has_no_features(network, read, request, layout):
    data = read(request.getfixturevalue(layout))
    first = tuned(network, data, max_rounds=1)[0]
    without_mbr = network.summarizer.with_decode(consensus=0.0)
    plain = evaluate(replace(network, summarizer=without_mbr), data, "gigaword")
    assert first.weights.tolist() == [0, 0, 0, 0]
    assert first.settings["consensus"] == 0.0
    assert first.value == pytest.approx(plain.rouge.item_scores[:, 0, 2].mean())


def test_base_score_does_not_depend_on_the_weights(network, read, gigaword):
    base_scores = []
    for weights in ([0.0, 0.0, 0.0, 0.0], [0.2, 0.1, -0.1, 0.1]):
        pool = _SummaryPool(network, read(gigaword), find_protocol("gigaword"))
        pool.search(np.array(weights), lambda: None)
        base_scores.append(
            {
                (row, words): candidate.base_score
                for row, candidates in enumerate(pool._candidates)
                for words, candidate in candidates.items()
            }
        )
    shared = base_scores[0].keys() & base_scores[1].keys()
    assert shared
    for key in shared:
        assert base_scores[0][key] == pytest.approx(base_scores[1][key], abs=1e-4)


def test_rounds_end_when_nothing_new_is_found(network, read, gigaword):
    rounds = tuned(network, read(gigaword), max_rounds=12)
    assert rounds[-1].num_new == 0 or len(rounds) == 12
    assert all(result.num_new > 0 for result in rounds[:-1])


def test_round_value_is_that_of_its_search(network, read, parallel):
    # The reference is an extract of the text, so weights that favour extracts improve the metric.
    text, title = "heavy rain fell on ghent and lund today .", "rain fell on ghent"
    data = read(parallel([text] * 2, [title] * 2))
    first, *others = tuned(network, data, max_rounds=8)
    best = max(others, key=lambda result: result.value)
    summarizer = network.summarizer.with_decode(**best.settings)
    found = evaluate(replace(network, summarizer=summarizer), data, "gigaword")
    assert best.value > first.value
    assert best.value == pytest.approx(found.rouge.item_scores[:, 0, 2].mean())


def test_rounds_start_from_best_and_halve_max_change(network, read, gigaword, monkeypatch):
    values = iter([0.1, 0.3, 0.2, 0.25, 0.4])
    calls = []

    def search(pool, weights, on_summary):
        return Round(weights=weights, value=next(values), num_new=1)

    def best_weights(lists, start, *, max_change, seed):
        calls.append((float(start[0]), max_change))
        return np.full(4, float(len(calls))), 1.0

    monkeypatch.setattr(tuning._SummaryPool, "search", search)
    monkeypatch.setattr(tuning._SummaryPool, "n_best_lists", lambda pool: None)
    monkeypatch.setattr(tuning, "best_weights", best_weights)
    rounds = tuned(network, read(gigaword), max_rounds=5)
    assert [result.weights[0] for result in rounds] == [0, 1, 2, 3, 4]
    assert calls == [(0, 4), (1, 4), (1, 2), (1, 1)]


def test_tuning_is_repeatable(network, read, gigaword):
    first, second = (tuned(network, read(gigaword)) for _ in range(2))
    assert [result.weights.tolist() for result in first] == [
        result.weights.tolist() for result in second
    ]
