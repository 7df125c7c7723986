"""`readagain reproduce`: what it refuses, in a line."""

import pytest


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("duc", "--test 'duc': expected NAME=FOLDER without a comma in the name, for"),
        ("=x", "--test '=x': expected NAME=FOLDER"),
        ("duc=", "--test 'duc=': expected NAME=FOLDER"),
        ("a,b=x", "--test 'a,b=x': expected NAME=FOLDER without a comma"),
    ],
)
def test_a_set_without_name_or_folder_is_refused(readagain, tmp_path, option, message):
    done = readagain("reproduce", "--out", tmp_path / "out", "--test", option)
    assert done.returncode == 2
    assert message in done.stderr


def test_two_sets_of_one_name_are_refused(readagain, tmp_path):
    done = readagain("reproduce", "--out", tmp_path, "--test", "a=x", "--test", "a=y")
    assert done.returncode == 2
    assert "--test: the name 'a' is used twice; choose another" in done.stderr


def test_tables_of_nothing_are_refused(readagain, tmp_path):
    done = readagain("reproduce", "--tables-only", "--out", tmp_path)
    assert done.returncode == 2
    assert "no results; run some experiments" in done.stderr


def test_rows_alone_and_tables_alone_exclude_each_other(readagain, tmp_path):
    done = readagain("reproduce", "--rows-only", "--tables-only", "--out", tmp_path)
    assert done.returncode == 2
    assert "--rows-only: conflicts with --tables-only and --page" in done.stderr


def test_no_texts_to_score_on_are_refused_before_anything_is_trained(readagain, tmp_path):
    done = readagain("reproduce", "table1", "--scale", "small", "--limit", 0, "--out", tmp_path)
    assert done.returncode == 2
    assert "'--limit'" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs_extras
def test_a_call_that_finished_nothing_promises_no_tables(readagain, tmp_path):
    row = ("gru_15k", "--scale", "small", "--budget", 0.0001)
    done = readagain("reproduce", *row, "--out", tmp_path, "--device", "cpu")
    assert done.returncode == 0
    assert "not run, out of time: gru_15k/modern-seed1" in done.stdout
    assert "results.md" not in done.stdout
