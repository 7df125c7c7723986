"""Running rows: what is done stays done, what was stopped goes on, what fails harms nobody."""

import json
from dataclasses import replace

import pytest

from readagain.errors import ConfigError, DataError, ReadAgainError
from readagain.experiments import runner
from readagain.experiments.budget import Budget
from readagain.experiments.results import read_result, read_results, result_file
from readagain.experiments.rows import ROWS, Experiment
from readagain.experiments.run_row import InterruptedRunError
from readagain.experiments.runner import run_rows
from readagain.storage.locks import locked_dir
from readagain.training.loop import train

FOREVER = Budget(None)
GRU, LSTM = "gru_15k", "lstm_15k"


def done_and_there(outcome):
    return outcome.done, outcome.there


def test_a_row_is_trained_once(small, silent):
    request = small(GRU)
    assert run_rows(request, FOREVER, silent).done == ["gru_15k/modern-seed1"]
    before = read_results(request.out)
    again = run_rows(request, FOREVER, silent)
    assert done_and_there(again) == ([], ["gru_15k/modern-seed1"])
    assert read_results(request.out) == before


def test_weights_go_unless_they_are_to_be_kept(small, silent, tmp_path):
    run_rows(small(GRU), FOREVER, silent)
    assert [path.name for path in (tmp_path / "out" / "work").iterdir()] == ["corpora"]
    kept = small(GRU, out=tmp_path / "kept", keep_weights=True)
    run_rows(kept, FOREVER, silent)
    assert (kept.work / "gru_15k-modern-seed1" / "weights.safetensors").exists()


def test_a_row_goes_on_where_it_was_stopped_within_its_training(small, silent, monkeypatch):
    request, steps = small(GRU, epochs=2), []

    def stopped(job, **options):
        outcome = train(replace(job, preset=job.preset), **options)
        return replace(outcome, is_finished=False)

    monkeypatch.setattr("readagain.experiments.run_row.train", stopped)
    outcome = run_rows(request, FOREVER, silent)
    assert outcome.is_interrupted
    assert outcome.left == ["gru_15k/modern-seed1"]
    assert read_results(request.out) == []

    def counted(job, **options):
        ended = train(job, **options)
        steps.append(ended)
        return ended

    monkeypatch.setattr("readagain.experiments.run_row.train", counted)
    assert run_rows(request, FOREVER, silent).done == ["gru_15k/modern-seed1"]
    assert steps == [None]  # training had been finished; only scoring was left


def test_after_an_interruption_between_rows_the_others_are_still_to_be_done(
    small, silent, monkeypatch
):
    request, real = small(GRU, LSTM), runner.run_trained

    def interrupted(planned, *arguments, **options):
        if planned.row.name == LSTM:
            raise InterruptedRunError
        return real(planned, *arguments, **options)

    monkeypatch.setattr(runner, "run_trained", interrupted)
    first = run_rows(request, FOREVER, silent)
    assert (first.done, first.left) == (["gru_15k/modern-seed1"], ["lstm_15k/modern-seed1"])
    monkeypatch.undo()
    second = run_rows(request, FOREVER, silent)
    assert done_and_there(second) == (["lstm_15k/modern-seed1"], ["gru_15k/modern-seed1"])


def test_no_row_begins_that_would_not_be_finished(small, silent):
    outcome = run_rows(small("prefix", GRU), Budget(0.001), silent)
    assert (outcome.done, outcome.left) == (["prefix/untrained-seed1"], ["gru_15k/modern-seed1"])


@pytest.mark.parametrize(
    ("error", "told"),
    [(ReadAgainError("it diverged"), "it diverged"), (ValueError("odd\nmore"), "ValueError: odd;")],
)
def test_a_row_that_fails_harms_no_other(small, silent, monkeypatch, error, told):
    request, real = small(GRU, LSTM), runner.run_trained

    def failing(planned, *arguments, **options):
        if planned.row.name == GRU:
            raise error
        return real(planned, *arguments, **options)

    monkeypatch.setattr(runner, "run_trained", failing)
    outcome = run_rows(request, FOREVER, silent)
    assert outcome.done == ["lstm_15k/modern-seed1"]
    assert outcome.failed["gru_15k/modern-seed1"].startswith(told)
    traces = [path.read_text() for path in request.work.glob("*.failed.txt")]
    assert all("ValueError: odd" in trace for trace in traces)
    assert bool(traces) == isinstance(error, ValueError)


def test_a_row_whose_preset_is_missing_is_told_of(small, silent, monkeypatch):
    future = Experiment(name="of_the_future", system="of_the_future", title="x", group="rivals")
    monkeypatch.setitem(ROWS, "of_the_future", future)
    outcome = run_rows(small("of_the_future", "prefix"), FOREVER, silent)
    assert outcome.unknown == ["of_the_future"]
    assert outcome.done == ["prefix/untrained-seed1"]


def test_a_result_of_other_settings_is_refused_and_kept_and_other_rows_are_run(small, silent):
    run_rows(small(GRU), FOREVER, silent)
    path = result_file(small().out, GRU, "modern", 1)
    before = path.read_bytes()
    outcome = run_rows(small(GRU, "prefix", epochs=2), FOREVER, silent)
    assert outcome.done == ["prefix/untrained-seed1"]
    assert outcome.failed["gru_15k/modern-seed1"] == (
        f"{path}: a result of another run: train.epochs was 1 and is now 2; choose another --out, "
        "or remove the result"
    )
    assert path.read_bytes() == before


def test_a_result_of_another_corpus_is_refused(small, silent):
    request = small("prefix")
    run_rows(request, FOREVER, silent)
    path = result_file(request.out, "prefix", "untrained", 1)
    content = json.loads(path.read_text())
    content["corpus"]["fingerprint"] = "another"
    path.write_text(json.dumps(content))
    outcome = run_rows(request, FOREVER, silent)
    assert "corpus was 'another' and is now" in outcome.failed["prefix/untrained-seed1"]


def test_a_result_on_other_texts_is_refused(small, silent):
    run_rows(small("prefix", limit=3), FOREVER, silent)
    outcome = run_rows(small("prefix"), FOREVER, silent)
    assert "the set 'invented' was '" in outcome.failed["prefix/untrained-seed1"]


def test_a_set_that_is_not_asked_for_again_stays_in_the_result(small, silent, tmp_path):
    run_rows(small("prefix"), FOREVER, silent)
    data = small().work / "corpora" / "invented"
    again = run_rows(small("prefix", data=data), FOREVER, silent)
    assert again.there == ["prefix/untrained-seed1"]


def test_a_recipe_that_is_named_twice_is_run_once(small, silent):
    outcome = run_rows(small(GRU, recipes=("modern", "modern")), FOREVER, silent)
    assert (outcome.done, outcome.failed) == (["gru_15k/modern-seed1"], {})


def test_how_often_one_looks_at_a_run_may_change(small, silent):
    request = small(GRU)
    run_rows(request, FOREVER, silent)
    path = result_file(request.out, GRU, "modern", 1)
    content = json.loads(path.read_text())
    content["run"]["train"]["validate_every"] = 3
    path.write_text(json.dumps(content))
    assert run_rows(request, FOREVER, silent).there == ["gru_15k/modern-seed1"]


def test_a_title_may_change(small, silent, monkeypatch):
    run_rows(small(GRU), FOREVER, silent)
    monkeypatch.setitem(ROWS, GRU, replace(ROWS[GRU], title="Another title"))
    assert run_rows(small(GRU), FOREVER, silent).there == ["gru_15k/modern-seed1"]


def test_the_papers_scale_needs_a_corpus(small, silent):
    with pytest.raises(ConfigError, match="no corpus to train on; name one with --data"):
        run_rows(small(GRU, scale="paper"), FOREVER, silent)


def test_a_corpus_without_dev_pairs_is_refused(small, silent, tmp_path):
    request = small("prefix")
    run_rows(request, FOREVER, silent)
    duc = request.work / "corpora" / "invented-duc"
    with pytest.raises(DataError, match=r"invented-duc: no train pairs; rows are trained"):
        run_rows(small("prefix", data=duc, out=tmp_path / "other"), FOREVER, silent)


def test_a_set_must_not_be_called_as_the_corpus(small, silent, tmp_path):
    request = small("prefix")
    run_rows(request, FOREVER, silent)
    data = request.work / "corpora" / "invented"
    other = small("prefix", data=data, tests={"invented": data}, out=tmp_path / "other")
    with pytest.raises(ConfigError, match="--test invented: the corpus of --data has that name"):
        run_rows(other, FOREVER, silent)


def test_two_calls_do_not_run_into_one_folder(small, silent):
    request = small("prefix")
    with (
        locked_dir(request.out, action="reading"),
        pytest.raises(ConfigError, match="is running experiments into this folder; wait for it"),
    ):
        run_rows(request, FOREVER, silent)


def test_a_folder_that_cannot_be_made_is_told_of(small, silent, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file/out: cannot be written to"):
        run_rows(small("prefix", out=tmp_path / "file" / "out"), FOREVER, silent)


def test_seeds_and_recipes_are_results_of_their_own(small, silent):
    request = small(GRU, seeds=2, recipes=("modern", "paper"))
    assert len(run_rows(request, FOREVER, silent).done) == 4
    found = {(each.recipe, each.seed): each for each in read_results(request.out)}
    assert set(found) == {("modern", 1), ("modern", 2), ("paper", 1), ("paper", 2)}
    assert found["modern", 1].training != found["modern", 2].training
    assert found["paper", 1].run["train"]["optimizer"] == "sgd"


def test_only_the_first_texts_are_scored_when_asked(small, silent):
    request = small("prefix", limit=3)
    run_rows(request, FOREVER, silent)
    result = read_result(result_file(request.out, "prefix", "untrained", 1))
    assert [len(each.items()) for each in result.sets.values()] == [3, 3]
