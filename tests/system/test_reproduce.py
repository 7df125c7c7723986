"""`readagain reproduce --scale small`: all experiments, and an interrupted run."""

import signal
import subprocess
import sys

import pytest
from programs import require_programs
from self_signal import readagain_with_signal

from readagain.experiments.catalog import CLAIMS, EXPERIMENTS, TABLES
from readagain.experiments.claims import claims_markdown, judge_claims
from readagain.experiments.results import read_results, read_timing
from readagain.experiments.store import ResultStore

pytestmark = pytest.mark.slow

NAMES = ("prefix", "gru_15k", "read_again_gru_15k", "read_again_lstm_copy_15k")


def command(out):
    """Return the arguments that run four experiments."""
    return ["reproduce", *NAMES, "--scale", "small", "--out", out, "--device", "cpu"]


def rouge_scores(out):
    """Return the scores of each experiment and seed, by data set."""
    return {
        (result.row, result.seed): {name: scores.rouge for name, scores in result.sets.items()}
        for result in read_results(out)
    }


@pytest.fixture(scope="module")
def all_experiments(tmp_path_factory):
    """Output folder and finished process of a run of all experiments."""
    require_programs("link-parser")  # of TOPIARY
    out = tmp_path_factory.mktemp("all_experiments") / "out"
    command = [sys.executable, "-m", "readagain", "reproduce", "--scale", "small"]
    done = subprocess.run(
        [*command, "--out", str(out), "--device", "cpu"],
        capture_output=True,
        text=True,
        check=False,
    )
    return out, done


def test_small_scale_runs_every_experiment(all_experiments):
    out, done = all_experiments
    assert done.returncode == 0, done.stdout + done.stderr
    assert {result.row for result in read_results(out)} == set(EXPERIMENTS)


def test_small_scale_writes_every_table_and_plot(all_experiments):
    out, _ = all_experiments
    for table in TABLES:
        assert (out / "tables" / f"{table}.csv").stat().st_size > 100, table
        assert (table in ("table5", "ablations")) != (out / "tables" / f"{table}.png").exists()
    lines = (out / "results.md").read_text().splitlines()
    not_run = {line.split(" | ")[0].removeprefix("| ") for line in lines if "| not run |" in line}
    assert not_run == set()


def test_results_suffice_to_judge_every_claim(all_experiments):
    out, _ = all_experiments
    page = claims_markdown(judge_claims(ResultStore(read_results(out)), read_timing(out)))
    assert all(claim["text"] in page for claim in CLAIMS)
    # There is one seed, so losses cannot be compared, and only one data set that is scored by F1.
    unmeasured = [line for line in page.splitlines() if "not measured" in line]
    reasons = ("lower loss", "lowers the loss", "on another corpus")
    assert [line for line in unmeasured if not any(reason in line for reason in reasons)] == []


def test_killed_reproduction_resumes_to_the_same_scores(tmp_path, readagain):
    uninterrupted, killed = tmp_path / "uninterrupted", tmp_path / "killed"
    assert readagain(*command(uninterrupted)).returncode == 0
    # Kill after two of the four results, then after the first checkpoint of the third experiment.
    for function, call in (
        ("readagain.experiments.run_experiment:write_result", 2),
        ("readagain.training.run_writer:RunWriter.save", 1),
    ):
        kill = readagain_with_signal(signal.SIGKILL, after=function, call=call)
        arguments = [*kill, *map(str, command(killed))]
        process = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert process.returncode == -signal.SIGKILL, process.stderr
        assert len(read_results(killed)) == 2
    done = readagain(*command(killed))
    assert done.returncode == 0, done.stderr
    assert "experiments done now: 2, done before: 2" in done.stdout
    assert rouge_scores(killed) == rouge_scores(uninterrupted)


def test_tables_only_writes_the_same_tables(all_experiments, tmp_path, readagain):
    out, _ = all_experiments
    (tmp_path / "rows").symlink_to(out / "rows")
    done = readagain("reproduce", "--tables-only", "--out", tmp_path)
    assert done.returncode == 0
    written = [(folder / "tables" / "table1.csv").read_text() for folder in (tmp_path, out)]
    assert written[0] == written[1]
