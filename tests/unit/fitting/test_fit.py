"""Stages and messages of `fit`; tests/system/test_fit.py trains."""

import csv

import pytest
from rich.console import Console

from readagain.errors import ConfigError, DataError, ReadAgainError
from readagain.fitting import fit as module
from readagain.fitting.fit import FitResult, fit
from readagain.fitting.results import training_notes
from readagain.fitting.work_dir import FitDir
from readagain.storage.output_dir import LocalDir
from readagain.training.run_dir import RunDir
from readagain.training.state import TrainingState

TOWNS = ("Arnfeld", "Bellmoor", "Corvale", "Dunwick")


@pytest.fixture
def pairs(tmp_path):
    """Write a CSV of invented English pairs."""

    def write(number=120, name="pairs.csv"):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "Body", "Title"])
            for n in range(number):
                town = f"{TOWNS[n % 4]} {chr(97 + n // 4 % 26)}{chr(97 + n // 104)}"
                text = f"The bridge of {town} opens on Monday after years of repairs in the town."
                rows.writerow([n, text, f"{town} bridge opens on Monday"])
        return path

    return write


@pytest.fixture
def quiet():
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


def test_other_folder_is_refused(pairs, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(ReadAgainError, match="out: exists already; name a new folder"):
        fit(pairs(), out=tmp_path / "out")


def test_too_few_pairs_are_refused(pairs, tmp_path, quiet):
    with pytest.raises(DataError, match=r"pairs\.csv: only \d+ pairs to train on; at least 50"):
        fit(pairs(30), out=tmp_path / "out", console=quiet)


def test_other_language_than_the_base_is_refused(tmp_path, quiet):
    path = tmp_path / "pairs.csv"
    places = [f"{a}{b}dorf" for a in "BDFGHKLMNR" for b in ("ie", "or", "al", "un", "ach", "eid")]
    lines = [
        f"Die Brücke in {each} ist nach der langen Sperre wieder offen,Brücke in {each} offen"
        for each in places
    ]
    path.write_text("\n".join(["text,headline", *lines]), encoding="utf-8")
    with pytest.raises(ConfigError, match="news is a model of English, the pairs are in German"):
        fit(path, out=tmp_path / "out", base="news", console=quiet)


def test_changed_pairs_are_refused(pairs, tmp_path, quiet):
    with pytest.raises(DataError):
        fit(pairs(30), out=tmp_path / "out", console=quiet)
    with pytest.raises(
        ConfigError,
        match=r"contains another model being fitted: .*pairs\.csv was .*, and is now|start over",
    ):
        fit(pairs(40), out=tmp_path / "out", console=quiet)


def test_note_says_that_training_stopped_while_improving(tmp_path):
    def notes_after(state):
        work = FitDir(LocalDir(tmp_path))
        RunDir(LocalDir(work.run)).finish(state)
        return training_notes(work)

    [note] = notes_after(TrainingState(epochs=6, last_gain=0.034))
    assert note == (
        "Training stopped while still improving: the last epoch lowered the dev loss by 3.4%. "
        "More epochs, such as 12, continue it."
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
    assert module._minutes(seconds) == words


def test_result_has_path_of_report(tmp_path):
    assert FitResult(out=tmp_path, is_finished=True).report == tmp_path / "report.html"
