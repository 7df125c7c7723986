"""Stages and messages of `fit`, without training (see tests/system/test_fit.py)."""

import csv
from pathlib import Path

import pytest
from rich.console import Console

from readagain.corpus.manifest import CorpusManifest
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.errors import ArtifactError, ConfigError, DataError, ReadAgainError
from readagain.fitting import job as job_module
from readagain.fitting import results
from readagain.fitting.fit import fit
from readagain.fitting.job import FitResult
from readagain.fitting.pairs import describe_pairs
from readagain.fitting.results import (
    evaluate_model,
    rouge_f1,
    training_notes,
    write_model,
)
from readagain.fitting.work_dir import FitDir
from readagain.storage.output_dir import LocalDir
from readagain.training.run_dir import RunDir
from readagain.training.state import TrainingState
from readagain.training.timing import Timing

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
TOWNS = ("Arnfeld", "Bellmoor", "Corvale", "Dunwick")


@pytest.fixture
def pairs(tmp_path):
    """Return a function that writes a CSV of invented English pairs and returns its path."""

    def write(num_pairs=120):
        path = tmp_path / "pairs.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "Body", "Title"])
            for n in range(num_pairs):
                town = f"{TOWNS[n % 4]} {chr(97 + n // 4 % 26)}{chr(97 + n // 104)}"
                text = f"The bridge of {town} opens on Monday after years of repairs in the town."
                rows.writerow([n, text, f"{town} bridge opens on Monday"])
        return path

    return write


@pytest.fixture
def quiet():
    """Return a console without output."""
    return Console(quiet=True)


def test_size_and_base_are_refused_together(pairs, tmp_path):
    with pytest.raises(ConfigError, match="size: conflicts with base, whose network is kept"):
        fit(pairs(), out=tmp_path / "out", size="small", base="news")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs is 0; expected 1 or more"),
        ({"size": "huge"}, "size is 'huge'; expected small, base, large"),
        ({"base": "nothing"}, "no model 'nothing'; bundled models"),
        ({"language": "xx"}, "language is 'xx'"),
    ],
)
def test_invalid_options_are_refused_before_any_work(pairs, tmp_path, options, message):
    with pytest.raises(ReadAgainError, match=message):
        fit(pairs(), out=tmp_path / "out", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.csv"]


def test_folder_with_other_files_is_refused(pairs, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(ReadAgainError, match="out: exists already; name a new folder"):
        fit(pairs(), out=tmp_path / "out")


def test_too_few_pairs_are_refused(pairs, tmp_path, quiet):
    with pytest.raises(DataError, match=r"only \d+ pairs to train on; give at least 50"):
        fit(pairs(30), out=tmp_path / "out", console=quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


@pytest.mark.parametrize("num_pairs", [0, 1, 2])
def test_empty_splits_are_refused_with_the_minimum(pairs, tmp_path, quiet, num_pairs):
    message = r"pairs\.csv: too few pairs; give at least 50, or some thousands for good headlines$"
    with pytest.raises(DataError, match=message):
        fit(pairs(num_pairs), out=tmp_path / "out", console=quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


def test_too_few_pairs_error_has_the_dropped_records(tmp_path, quiet):
    path = tmp_path / "pairs.csv"
    path.write_text("text,headline\n" + "The bridge is open.,\n" * 9)
    with pytest.raises(DataError, match=r"too few pairs \(dropped: empty 9\); give at least 50"):
        fit(path, out=tmp_path / "out", console=quiet)


def test_other_language_than_the_base_is_refused(tmp_path, quiet):
    path = tmp_path / "pairs.csv"
    places = [f"{a}{b}dorf" for a in "BDFGHKLMNR" for b in ("ie", "or", "al", "un", "ach", "eid")]
    lines = [
        f"Die Brücke in {place} ist nach der langen Sperre wieder offen,Brücke in {place} offen"
        for place in places
    ]
    path.write_text("\n".join(["text,headline", *lines]), encoding="utf-8")
    message = "news is a model for English, but the pairs are in German"
    with pytest.raises(ConfigError, match=message):
        fit(path, out=tmp_path / "out", base="news", console=quiet)


def test_changed_pairs_are_refused(pairs, tmp_path, quiet, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job_module, "prepare_pairs", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(pairs(30), out=tmp_path / "out", console=quiet)
    with pytest.raises(
        ConfigError,
        match=r"contains another model being fitted: .*pairs\.csv was .*, and is now|start over",
    ):
        fit(pairs(40), out=tmp_path / "out", console=quiet)


def test_note_if_training_stopped_while_improving(tmp_path):
    def notes_after(state):
        work = FitDir(LocalDir(tmp_path))
        RunDir(LocalDir(work.run)).finish(state)
        return training_notes(work)

    [note] = notes_after(TrainingState(epochs=6, last_gain=0.034))
    assert note == (
        "Training stopped while still improving: the last epoch lowered the dev loss by 3.4%. "
        "Train for more epochs, for example 12."
    )
    assert notes_after(TrainingState(epochs=6, last_gain=0.001)) == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "less than a minute"),
        (50, "about 1 minute"),
        (540, "about 9 minutes"),
        (12600, "about 3.5 hours"),
    ],
)
def test_durations_are_in_words(seconds, words):
    assert job_module._format_duration(seconds) == words


def test_result_has_path_of_report(tmp_path):
    assert FitResult(out=tmp_path, is_finished=True).report == tmp_path / "report.html"


@pytest.fixture
def epochs_of_fit(pairs, tmp_path, quiet, monkeypatch):
    """Return a function that calls `fit` without training and returns the planned epochs."""

    class TrainCalledError(Exception):
        pass

    def raise_epochs(job, **options):
        raise TrainCalledError(job.preset.train.epochs)

    timing = Timing(threads=1, update_s=0.5, validation_s=1.0, steps_per_epoch=6)
    monkeypatch.setattr(job_module, "measure_job", lambda job, **options: timing)
    monkeypatch.setattr(job_module, "train", raise_epochs)
    path = pairs()

    def call(console=quiet, **options):
        with pytest.raises(TrainCalledError) as raised:
            fit(path, out=tmp_path / "out", device="cpu", console=console, **options)
        return raised.value.args[0]

    return call


def test_plan_is_printed_before_training(epochs_of_fit, capsys):
    epochs_of_fit(console=Console(width=300), epochs=30)
    printed = capsys.readouterr().out
    assert "pairs.csv: csv, 'Body' and 'Title', for train" in printed
    assert "English (detected): " in printed
    assert "network of size small on " in printed
    assert (
        "at most 30 epochs of 6 updates with 16 pairs; stops early after 3 epochs without a lower "
        "dev loss"
    ) in printed
    assert "estimate: 0.5 s per update, about 2 minutes of training at most" in printed
    assert printed.index("measuring the speed") < printed.index("network of size")


def test_plan_without_early_stop_does_not_mention_it(epochs_of_fit, capsys):
    epochs_of_fit(console=Console(width=300), epochs=3)
    assert "\n3 epochs of 6 updates with 16 pairs\n" in capsys.readouterr().out


def test_more_epochs_change_the_plan_and_fewer_are_refused(epochs_of_fit, tmp_path):
    assert epochs_of_fit(epochs=5) == 5
    assert epochs_of_fit() == 5
    assert epochs_of_fit(epochs=8) == 8
    assert epochs_of_fit() == 8
    with pytest.raises(ConfigError, match=r"epochs is 5, but .*out was started with 8; use 8 or"):
        fit(tmp_path / "pairs.csv", out=tmp_path / "out", epochs=5)
    assert epochs_of_fit() == 8


def test_fit_resumes_after_a_kill_at_its_start(epochs_of_fit, tmp_path):
    (tmp_path / "out.work").mkdir()
    (tmp_path / "out.work" / ".0123.part").write_text("{")  # of an interrupted first write
    assert epochs_of_fit(epochs=5) == 5


def test_overwrite_starts_over(epochs_of_fit):
    assert epochs_of_fit(epochs=8) == 8
    assert epochs_of_fit(epochs=5, overwrite=True) == 5


@pytest.mark.parametrize(
    ("is_language_set", "start"),
    [(False, "language not detected (English rules"), (True, "an unknown language: 90 pairs to")],
)
def test_unknown_language_is_described(is_language_set, start):
    manifest = CorpusManifest(
        package_version="0",
        settings={},
        inputs=[],
        origins=[],
        splits={"train": {"pairs": 90}, "dev": {"pairs": 5}, "test": {"pairs": 5}},
        num_words=0,
        language="und",
    )
    [line] = describe_pairs(manifest, is_language_set=is_language_set)
    assert line.startswith(start)


def test_float32_graphs_replace_int8_graphs_that_fail(tmp_path, monkeypatch):
    written = []

    def write(work, out, precision):
        if precision == "int8":
            raise ArtifactError("run: int8 loses 0.42 points of rouge-1 on 9 texts")
        written.append(precision)

    monkeypatch.setattr(results, "_write_graphs", write)
    [note] = write_model(FitDir(LocalDir(tmp_path)), tmp_path)
    assert written == ["float32"]
    assert note == (
        "The model has float32 graphs, because int8 graphs failed the check: run: int8 loses 0.42 "
        "points of rouge-1 on 9 texts"
    )


def test_fine_tuned_model_is_compared_with_its_base(pairs, tmp_path):
    work = FitDir(LocalDir(tmp_path / "work"))
    settings = PrepareSettings(test=SplitSize(pairs=4))
    prepare(find_inputs([str(pairs(60))], CorpusReadOptions()), work.data, settings)
    evaluations = evaluate_model(work, TOY, TOY)
    assert list(evaluations) == [
        "model",
        "toy before fine-tuning",
        "first sentence",
        "first 12 words",
    ]
    assert rouge_f1(evaluations["model"]) == rouge_f1(evaluations["toy before fine-tuning"])
    assert list(evaluate_model(work, TOY, None)) == ["model", "first sentence", "first 12 words"]
