"""Runs of experiments: existing results, interruptions, failures."""

import json
import os
import signal
from dataclasses import replace
from itertools import count

import pytest
import torch

from readagain.errors import ConfigError, DataError, ReadAgainError
from readagain.experiments.catalog import EXPERIMENTS
from readagain.experiments.corpora import DUC
from readagain.experiments.reproduce import run_experiments
from readagain.experiments.results import read_result, read_results, result_file
from readagain.experiments.run_experiment import (
    ExperimentRunner,
    InterruptedRunError,
    own_decode_settings,
)
from readagain.storage.locks import locked_dir
from readagain.training.loop import train
from readagain.training.stop_signal import StopSignal
from readagain.training.trainer import Trainer

GRU, LSTM = "gru_15k", "lstm_15k"


def done_and_existing(result):
    return result.done, result.existing


def test_experiment_is_trained_once(small, silent):
    options = small(GRU)
    assert run_experiments(options, silent).done == ["gru_15k/converged-seed1"]
    before = read_results(options.out)
    again = run_experiments(options, silent)
    assert done_and_existing(again) == ([], ["gru_15k/converged-seed1"])
    assert read_results(options.out) == before


def test_weights_are_removed_unless_kept(small, silent, tmp_path):
    run_experiments(small(GRU), silent)
    assert [path.name for path in (tmp_path / "out" / "work").iterdir()] == ["corpora"]
    options = small(GRU, out=tmp_path / "kept", keep_weights=True)
    run_experiments(options, silent)
    assert (options.work / "gru_15k-converged-seed1" / "weights.safetensors").exists()


def test_interrupted_training_is_resumed(small, silent, monkeypatch):
    options, training_results = small(GRU, epochs=2), []

    def train_without_finishing(job, **options):
        return replace(train(job, **options), is_finished=False)

    monkeypatch.setattr("readagain.experiments.run_experiment.train", train_without_finishing)
    result = run_experiments(options, silent)
    assert result.is_interrupted
    assert result.done == []
    assert read_results(options.out) == []

    def record_training(job, **options):
        training_results.append(train(job, **options))
        return training_results[-1]

    monkeypatch.setattr("readagain.experiments.run_experiment.train", record_training)
    assert run_experiments(options, silent).done == ["gru_15k/converged-seed1"]
    assert training_results == [None]  # training had been finished; only scoring was left


def test_interrupted_call_leaves_later_experiments(small, silent, monkeypatch):
    options, real = small(GRU, LSTM), ExperimentRunner.train_and_score

    def interrupted(runner, planned, *arguments):
        if planned.experiment.name == LSTM:
            raise InterruptedRunError
        return real(runner, planned, *arguments)

    monkeypatch.setattr(ExperimentRunner, "train_and_score", interrupted)
    first = run_experiments(options, silent)
    assert (first.done, first.is_interrupted) == (["gru_15k/converged-seed1"], True)
    monkeypatch.undo()
    second = run_experiments(options, silent)
    assert done_and_existing(second) == (["lstm_15k/converged-seed1"], ["gru_15k/converged-seed1"])


@pytest.mark.parametrize(
    ("error", "message"),
    [(ReadAgainError("it diverged"), "it diverged"), (ValueError("odd\nmore"), "ValueError: odd;")],
)
def test_failed_experiment_does_not_stop_others(small, silent, monkeypatch, error, message):
    options, real = small(GRU, LSTM), ExperimentRunner.train_and_score

    def failing(runner, planned, *arguments):
        if planned.experiment.name == GRU:
            raise error
        return real(runner, planned, *arguments)

    monkeypatch.setattr(ExperimentRunner, "train_and_score", failing)
    result = run_experiments(options, silent)
    assert result.done == ["lstm_15k/converged-seed1"]
    assert result.failed["gru_15k/converged-seed1"].startswith(message)
    traces = [path.read_text() for path in options.work.glob("*.failed.txt")]
    assert all("ValueError: odd" in trace for trace in traces)
    assert bool(traces) == isinstance(error, ValueError)


def test_missing_parser_skips_topiary_and_runs_the_others(small, silent, monkeypatch):
    monkeypatch.setenv("PATH", "")
    result = run_experiments(small("prefix", "topiary"), silent)
    assert result.done == ["prefix/untrained-seed1"]
    assert result.failed == {}
    assert "TOPIARY needs the parser" in result.skipped["topiary/untrained-seed1"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 1, 5])
def test_stop_signal_while_scoring_leaves_the_run_resumable(small, silent, monkeypatch, after):
    calls = 0
    real = ExperimentRunner.check_stop

    def terminate(runner):
        nonlocal calls
        if calls == after:
            os.kill(os.getpid(), signal.SIGTERM)
        calls += 1
        real(runner)

    monkeypatch.setattr(ExperimentRunner, "check_stop", terminate)
    options = small(GRU, LSTM)
    stopped = run_experiments(options, silent)
    assert stopped.is_interrupted
    assert stopped.done == []
    assert read_results(options.out) == []
    monkeypatch.undo()
    again = run_experiments(options, silent)
    assert again.done == ["gru_15k/converged-seed1", "lstm_15k/converged-seed1"]


def test_stop_signal_while_training_leaves_the_run_resumable(small, silent, monkeypatch):
    real = Trainer.update

    def terminate(trainer):
        if trainer.training_step.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(trainer)

    monkeypatch.setattr(Trainer, "update", terminate)
    options = small(GRU, epochs=2)
    assert run_experiments(options, silent).is_interrupted
    monkeypatch.undo()
    assert run_experiments(options, silent).done == ["gru_15k/converged-seed1"]


def test_gpu_is_idle_before_graphs_are_destroyed(small, silent, monkeypatch):
    calls = []
    monkeypatch.setattr("torch.cuda.synchronize", lambda: calls.append("synchronize"))
    monkeypatch.setattr("gc.collect", lambda: calls.append("collect"))
    monkeypatch.setattr("torch.cuda.empty_cache", lambda: calls.append("empty cache"))
    runner = ExperimentRunner(small(), silent, StopSignal())
    runner.device, runner.stop.is_set = torch.device("cuda"), True
    calls.clear()
    with pytest.raises(InterruptedRunError):
        runner.check_stop()
    assert calls == ["synchronize", "collect", "empty cache"]


def test_run_scores_its_best_checkpoint_at_the_time_limit(small, silent, monkeypatch):
    options = small(GRU, epochs=3, changes=["train.validate_every=1"], max_minutes=1)
    monkeypatch.setattr("readagain.training.loop.time.monotonic", count(step=11).__next__)
    assert run_experiments(options, silent).done == ["gru_15k/converged-seed1"]
    [result] = read_results(options.out)
    assert result.training["ended_by"] == "time limit"
    assert 0 < result.training["best"]["step"] <= result.training["updates"] < 10


def test_time_limit_before_the_first_validation_is_an_error(small, silent):
    options = small(GRU, max_minutes=0)
    message = run_experiments(options, silent).failed["gru_15k/converged-seed1"]
    assert "no validation within the 0 minutes of training; choose a larger max_minutes" in message
    resumed = run_experiments(replace(options, max_minutes=None), silent)
    assert resumed.done == ["gru_15k/converged-seed1"]


def test_own_decoding_allows_unk_without_copying(small, silent):
    run_experiments(small(GRU, "read_again_lstm_copy_15k"), silent)
    plain, copying = read_results(small().out)
    scored = plain.sets["invented"]
    assert (scored.own["decode"], scored.own["allow_unk"]) == ({}, True)
    assert scored.text_scores(use_own_decoding=True).shape == scored.text_scores().shape
    assert copying.sets["invented"].own is None


def test_own_decoding_of_abs_has_no_unk(small, silent):
    run_experiments(small("abs_69k"), silent)
    [result] = read_results(small().out)
    assert {scored.own["allow_unk"] for scored in result.sets.values()} == {False}
    assert (
        result.sets["invented"].own["words"] == result.sets["invented"].own["decode"]["max_words"]
    )


def test_own_decoding_of_baselines_has_their_length():
    def own_settings(name, protocol):
        return own_decode_settings(EXPERIMENTS[name], protocol, reference_words=3.7)

    search = {"beam_size": 50, "no_repeat_ngram": 1}
    assert own_settings("abs_69k", "gigaword") == {**search, "min_words": 4, "max_words": 4}
    assert own_settings("abs_69k", DUC) == search
    assert own_settings("lvt2k_1sent", "gigaword")["max_words"] == 30
    assert own_settings(GRU, "gigaword") == {}


def test_converged_run_selects_on_pairs_it_is_not_scored_on(small, silent):
    run_experiments(small(GRU, epochs=8), silent)
    [result] = read_results(small().out)
    assert result.training["ended_by"] in ("patience", "epochs")
    assert result.corpus["name"] == "invented-selection"
    assert list(result.sets)[0] == "invented"


def test_stop_signal_between_runs_starts_no_training(small, silent, monkeypatch):
    real = ExperimentRunner.score_baseline

    def terminate(runner, planned):
        result = real(runner, planned)
        os.kill(os.getpid(), signal.SIGTERM)
        return result

    monkeypatch.setattr(ExperimentRunner, "score_baseline", terminate)
    result = run_experiments(small("prefix", GRU), silent)
    assert (result.done, result.is_interrupted) == (["prefix/untrained-seed1"], True)
    assert not (small().work / "gru_15k-converged-seed1").exists()


def test_result_with_other_settings_is_kept_and_reported(small, silent):
    run_experiments(small(GRU), silent)
    path = result_file(small().out, "gru_15k/converged-seed1")
    before = path.read_bytes()
    result = run_experiments(small(GRU, "prefix", epochs=2), silent)
    assert result.done == ["prefix/untrained-seed1"]
    assert result.failed["gru_15k/converged-seed1"] == (
        f"{path}: a result of another run: train.epochs was 1 and is now 2; choose another out, "
        "or remove the result"
    )
    assert path.read_bytes() == before


def test_result_of_another_corpus_is_reported(small, silent):
    options = small("prefix")
    run_experiments(options, silent)
    path = result_file(options.out, "prefix/untrained-seed1")
    content = json.loads(path.read_text())
    content["corpus"]["fingerprint"] = "another"
    path.write_text(json.dumps(content))
    result = run_experiments(options, silent)
    assert "corpus was 'another' and is now" in result.failed["prefix/untrained-seed1"]


def test_result_on_other_texts_is_reported(small, silent):
    run_experiments(small("prefix", limit=3), silent)
    result = run_experiments(small("prefix"), silent)
    assert "the set 'invented' was '" in result.failed["prefix/untrained-seed1"]


def test_result_keeps_data_sets_of_earlier_calls(small, silent, tmp_path):
    run_experiments(small("prefix"), silent)
    data = small().work / "corpora" / "invented"
    again = run_experiments(small("prefix", data=data), silent)
    assert again.existing == ["prefix/untrained-seed1"]


def test_unknown_recipe_is_an_error(small):
    with pytest.raises(ConfigError, match="recipes is 'old'; expected converged, modern or paper"):
        small(GRU, recipes=("old",))


def test_repeated_recipe_is_run_once(small, silent):
    result = run_experiments(small(GRU, recipes=("converged", "converged")), silent)
    assert (result.done, result.failed) == (["gru_15k/converged-seed1"], {})


def test_validation_interval_may_change(small, silent):
    options = small(GRU)
    run_experiments(options, silent)
    path = result_file(options.out, "gru_15k/converged-seed1")
    content = json.loads(path.read_text())
    content["run"]["train"]["validate_every"] = 3
    path.write_text(json.dumps(content))
    assert run_experiments(options, silent).existing == ["gru_15k/converged-seed1"]


def test_title_may_change(small, silent, monkeypatch):
    run_experiments(small(GRU), silent)
    monkeypatch.setitem(EXPERIMENTS, GRU, replace(EXPERIMENTS[GRU], title="Another title"))
    assert run_experiments(small(GRU), silent).existing == ["gru_15k/converged-seed1"]


def test_paper_scale_needs_a_corpus(small, silent):
    with pytest.raises(ConfigError, match="data: no corpus to train on; give a prepared"):
        run_experiments(small(GRU, scale="paper"), silent)


def test_corpus_without_train_pairs_is_an_error(small, silent, tmp_path):
    options = small("prefix")
    run_experiments(options, silent)
    duc = options.work / "corpora" / "invented-duc"
    with pytest.raises(DataError, match=r"invented-duc: no train pairs; prepare a corpus"):
        run_experiments(small("prefix", data=duc, out=tmp_path / "other"), silent)


def test_data_set_with_the_name_of_the_corpus_is_an_error(small, silent, tmp_path):
    options = small("prefix")
    run_experiments(options, silent)
    data = options.work / "corpora" / "invented"
    other = small("prefix", data=data, tests={"invented": data}, out=tmp_path / "other")
    with pytest.raises(ConfigError, match="tests invented: the corpus of data has that name"):
        run_experiments(other, silent)


def test_output_directory_is_locked(small, silent):
    options = small("prefix")
    with (
        locked_dir(options.out, action="reading"),
        pytest.raises(ConfigError, match="is writing experiments to this folder; wait for it"),
    ):
        run_experiments(options, silent)


def test_unwritable_output_directory_is_an_error(small, silent, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file/out: cannot be written to"):
        run_experiments(small("prefix", out=tmp_path / "file" / "out"), silent)


@pytest.mark.slow
def test_each_seed_and_recipe_has_a_result(small, silent):
    options = small(GRU, seeds=2, recipes=("modern", "paper"))
    assert len(run_experiments(options, silent).done) == 4
    found = {(result.recipe, result.seed): result for result in read_results(options.out)}
    assert set(found) == {("modern", 1), ("modern", 2), ("paper", 1), ("paper", 2)}
    assert found["modern", 1].training != found["modern", 2].training
    assert found["paper", 1].run["train"]["optimizer"] == "sgd"


def test_limit_scores_only_the_first_texts(small, silent):
    options = small("prefix", limit=3)
    run_experiments(options, silent)
    result = read_result(result_file(options.out, "prefix/untrained-seed1"))
    assert [len(scored.text_scores()) for scored in result.sets.values()] == [3, 3]
