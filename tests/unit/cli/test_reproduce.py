"""`readagain reproduce`: errors, skipped experiments and stop signals."""

import os
import re
import signal

import pytest

from readagain.cli.main import main


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("duc", "--test 'duc': expected NAME=PATH without a comma in the name, for"),
        ("=x", "--test '=x': expected NAME=PATH"),
        ("duc=", "--test 'duc=': expected NAME=PATH"),
        ("a,b=x", "--test 'a,b=x': expected NAME=PATH without a comma"),
    ],
)
def test_test_option_without_name_or_folder_is_an_error(readagain, tmp_path, option, message):
    done = readagain("reproduce", "--out", tmp_path / "out", "--test", option)
    assert done.returncode == 2
    assert message in done.stderr


def test_test_option_with_a_name_twice_is_an_error(readagain, tmp_path):
    done = readagain("reproduce", "--out", tmp_path, "--test", "a=x", "--test", "a=y")
    assert done.returncode == 2
    assert "--test: the name 'a' is used twice; choose another" in done.stderr


def test_tables_only_without_results_is_an_error(readagain, tmp_path):
    done = readagain("reproduce", "--tables-only", "--out", tmp_path)
    assert done.returncode == 2
    assert "no results; run some experiments" in done.stderr


@pytest.mark.needs_extras
def test_unknown_recipe_is_an_error(readagain, tmp_path):
    done = readagain("reproduce", "--scale", "small", "--recipe", "old", "--out", tmp_path)
    assert done.returncode == 2
    assert "--recipe is 'old'; expected converged, modern or paper" in done.stderr


def test_limit_zero_is_an_error_before_training(readagain, tmp_path):
    done = readagain("reproduce", "table1", "--scale", "small", "--limit", 0, "--out", tmp_path)
    assert done.returncode == 2
    assert "readagain: --limit: expected" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def reproduce(tmp_path, capsys):
    """Run the command in process; return its exit status and output lines."""

    def run(*names):
        options = ("--scale", "small", "--epochs", "1", "--device", "cpu")
        with pytest.raises(SystemExit) as end:
            main(["reproduce", *names, *options, "--out", str(tmp_path)])
        return end.value.code or 0, capsys.readouterr().out.splitlines()

    return run


@pytest.mark.needs_extras
def test_reproduce_without_parser_skips_topiary(reproduce, monkeypatch):
    monkeypatch.setenv("PATH", "")
    status, lines = reproduce("prefix", "topiary")
    assert status == 0
    [skipped] = [line for line in lines if line.startswith("skipped topiary/untrained-seed1: ")]
    assert "Link Grammar" in skipped


@pytest.mark.needs_extras
def test_reproduce_prints_number_of_run_and_names_of_scores(reproduce):
    _, lines = reproduce("prefix", "lead")
    assert "run 1 of 2: prefix/untrained-seed1" in lines
    assert "run 2 of 2: lead/untrained-seed1" in lines
    [scores] = [line for line in lines if line.startswith("lead/untrained-seed1: ")]
    assert re.search(r"; ROUGE-1 / 2 / L: invented [\d.]+ / [\d.]+ / [\d.]+; invented-duc ", scores)


@pytest.mark.needs_extras
def test_reproduce_stops_at_sigterm_and_resumes(reproduce, monkeypatch):
    from readagain.experiments.run_experiment import ExperimentRunner

    real = ExperimentRunner.score_baseline

    def terminate(runner, planned):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(runner, planned)

    monkeypatch.setattr(ExperimentRunner, "score_baseline", terminate)
    status, lines = reproduce("prefix")
    assert (status, lines[-1]) == (0, "stopped and saved; to resume, run the same command again")
    monkeypatch.undo()
    status, lines = reproduce("prefix")
    assert (status, lines[-2]) == (0, "experiments done now: 1, done before: 0")
