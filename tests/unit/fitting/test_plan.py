"""Settings that `fit` chooses by number of pairs, their lengths and the machine."""

import pytest

from readagain.config.override import override
from readagain.fitting.plan import (
    PATIENCE,
    SIZES,
    choose_fine_tuning_settings,
    choose_settings,
    choose_size,
)
from readagain.networks.build import count_parameters
from readagain.presets import PRESETS


def run_for(
    num_pairs, *, size="small", sentences=3, words=64, headline=18, is_spaced=True, has_gpu=False
):
    statistics = {
        "sentences_per_text": {"p90": sentences, "p99": 9},
        "words_per_text": {"p90": words, "p99": 5000},
        "words_per_summary": {"p90": 7, "p99": headline},
    }
    return choose_settings(size, num_pairs, statistics, is_spaced=is_spaced, has_gpu=has_gpu)


def updates(run, num_pairs):
    return run.train.epochs * num_pairs / run.train.batch_size


@pytest.mark.parametrize(
    ("num_pairs", "on_cpu", "on_gpu"),
    [
        (60, "small", "small"),
        (9_999, "small", "small"),
        (10_000, "small", "base"),
        (100_000, "base", "base"),
        (200_000, "base", "large"),
        (5_000_000, "base", "large"),
    ],
)
def test_size_follows_pairs_and_machine(num_pairs, on_cpu, on_gpu):
    assert choose_size(num_pairs, has_gpu=False) == on_cpu
    assert choose_size(num_pairs, has_gpu=True) == on_gpu


def test_sizes_rise():
    parameters = [count_parameters(run_for(5000, size=size)) for size in SIZES]
    assert parameters == sorted(parameters)


def test_few_pairs_train_more_epochs():
    few, many = run_for(300), run_for(50_000)
    assert few.train.epochs > many.train.epochs
    assert updates(few, 300) >= 500
    assert few.train.batch_size < many.train.batch_size


def test_five_thousand_pairs_take_some_thousand_updates_on_a_cpu():
    assert 1000 <= updates(run_for(4500), 4500) <= 2500


def test_gpu_gets_larger_batches():
    on_cpu, on_gpu = run_for(200_000, has_gpu=False), run_for(200_000, has_gpu=True)
    assert on_gpu.train.batch_size > on_cpu.train.batch_size


def test_run_stops_early_by_dev_loss():
    train = run_for(5000).train
    assert (train.patience, train.best_by, train.validate_every) == (PATIENCE, "loss", 0)


def test_lengths_follow_the_pairs():
    run = run_for(5000)
    assert (run.data.num_sentences, run.data.max_source_words) == (3, 64)
    assert (run.data.max_summary_words, run.decode.max_words) == (18, 18)


@pytest.mark.parametrize(("is_spaced", "expected"), [(True, (80, 32)), (False, (160, 48))])
def test_lengths_are_limited(is_spaced, expected):
    run = run_for(5000, words=4000, headline=90, is_spaced=is_spaced)
    assert (run.data.max_source_words, run.decode.max_words) == expected


def test_fine_tuning_keeps_network_and_search():
    news = PRESETS["news"]
    run = choose_fine_tuning_settings(news, 1000, has_gpu=False)
    assert (run.model, run.data, run.decode) == (news.model, news.data, news.decode)
    assert run.train.batch_size <= 32  # a stop signal waits for the end of an update
    assert run.train.patience == PATIENCE
    assert run.train.learning_rate < news.train.learning_rate


def test_fine_tuning_ignores_training_settings_of_the_model():
    news = override(PRESETS["news"], {"train.objective": "likelihood", "train.batch_size": 2048})
    assert choose_fine_tuning_settings(news, 1000, has_gpu=False) == choose_fine_tuning_settings(
        PRESETS["news"], 1000, has_gpu=False
    )
