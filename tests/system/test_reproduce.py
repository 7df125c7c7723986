"""`readagain reproduce`: everything at small scale; killed and resumed."""

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
    """Return the scores of each experiment."""
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
        assert (out / "tables" / f"{table}.csv").stat().st_size > 100, table
        assert (table in ("table5", "ablations")) != (out / "tables" / f"{table}.png").exists()
    lines = (out / "results.md").read_text().splitlines()
    unfilled = {line.split(" | ")[0].removeprefix("| ") for line in lines if "| not run |" in line}
    assert unfilled == set()
    assert (out / "examples.md").exists()


def test_small_scale_judges_every_claim(everything):
    out, _ = everything
    page = (out / "results.md").read_text()
    assert page.count("| **") == 14
    assert "not measured" not in page


def test_killed_reproduction_resumes_to_the_same_scores(tmp_path, readagain):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert readagain(*few(whole)).returncode == 0
    command = [sys.executable, "-m", "readagain", *map(str, few(killed))]
    # Once after an experiment, once during training.
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
    assert f"experiments done now: {len(FEW) - before}, done before: {before}" in done.stdout
    assert figures(killed) == figures(whole)


def test_tables_only_writes_the_same_tables(everything, tmp_path, readagain):
    out, _ = everything
    (tmp_path / "rows").symlink_to(out / "rows")
    done = readagain("reproduce", "--tables-only", "--out", tmp_path)
    assert done.returncode == 0
    written = [(folder / "tables" / "table1.csv").read_text() for folder in (tmp_path, out)]
    assert written[0] == written[1]
