"""`readagain reproduce` as a person types it: all of it at small scale, killed and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from readagain.experiments.catalog import EXPERIMENTS, TABLES
from readagain.experiments.results import read_results

pytestmark = pytest.mark.slow

FEW = ("prefix", "gru_15k", "read_again_gru_15k", "read_again_lstm_copy_15k")


def few(out):
    return ["reproduce", *FEW, "--scale", "small", "--out", out, "--device", "cpu"]


def figures(out):
    """What a reader of tables sees of each row."""
    return {
        (result.row, result.seed): {name: each.rouge for name, each in result.sets.items()}
        for result in read_results(out)
    }


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    out = tmp_path_factory.mktemp("everything") / "out"
    command = [sys.executable, "-m", "readagain", "reproduce", "--scale", "small"]
    done = subprocess.run(
        [*command, "--out", str(out), "--device", "cpu"],
        capture_output=True,
        text=True,
        check=False,
    )
    return out, done


def test_small_scale_runs_every_experiment(everything):
    out, done = everything
    assert done.returncode == 0, done.stdout + done.stderr
    assert {result.row for result in read_results(out)} == set(EXPERIMENTS)


def test_small_scale_writes_every_table_and_plot(everything):
    out, _ = everything
    for table in TABLES:
        for suffix in ("md", "csv", "json", "png"):
            assert (out / "tables" / f"{table}.{suffix}").stat().st_size > 100, (table, suffix)
    lines = (out / "results.md").read_text().splitlines()
    unfilled = {line.split(" | ")[0].removeprefix("| ") for line in lines if "| not run |" in line}
    assert unfilled == set()
    assert (out / "claims.md").exists()
    assert (out / "examples.md").exists()


def test_small_scale_judges_every_claim(everything):
    out, _ = everything
    claims = json.loads((out / "tables" / "claims.json").read_text())["modern"]
    assert len(claims) == 14
    assert "not measured" not in {claim["verdict"] for claim in claims}


def test_killed_reproduction_resumes_to_the_same_scores(tmp_path, readagain):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert readagain(*few(whole)).returncode == 0
    command = [sys.executable, "-m", "readagain", *map(str, few(killed))]
    # Once when a row has just been finished, once in the middle of a training.
    for sign in ("rows/gru_15k/*.json", "work/read_again_*/resume/checkpoint-*"):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not list(killed.glob(sign)):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(read_results(killed)) < len(FEW)
    before = len(read_results(killed))
    done = readagain(*few(killed))
    assert done.returncode == 0, done.stderr
    assert f"rows done now: {len(FEW) - before}, done before: {before}" in done.stdout
    assert figures(killed) == figures(whole)


def test_budget_lists_what_was_not_run(tmp_path, readagain):
    done = readagain(*few(tmp_path / "out"), "--budget", "0.01")
    assert done.returncode == 0
    assert "rows done now: 1, done before: 0" in done.stdout
    assert "not run, out of time: " in done.stdout
    assert "to resume, run the same command again" in done.stdout


def test_tables_only_writes_the_same_tables(everything, tmp_path, readagain):
    out, _ = everything
    (tmp_path / "rows").symlink_to(out / "rows")
    done = readagain("reproduce", "--tables-only", "--out", tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "tables" / "table1.md").read_text() == (
        out / "tables" / "table1.md"
    ).read_text()
