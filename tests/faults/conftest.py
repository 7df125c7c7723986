"""Fixtures: the four resumable commands on invented input, and their results."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from folder_files import read_files

from readagain.corpus.manifest import unfinished_dir
from readagain.fitting.work_dir import work_dir
from readagain.storage.tensors import read_tensors

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves", "wins")
NUM_PREPARE_PAIRS = 24_000  # three blocks
SMALL_RUN = (
    "model.embedding_size=16",
    "model.encoder.hidden_size=16",
    "model.decoder.hidden_size=16",
    "model.decoder.attention_size=16",
    "train.batch_size=8",
    "train.epochs=2",
    "train.warmup_steps=4",
    "train.rouge_pairs=10",
    "train.log_every=2",
    "train.validate_every=10",
    "decode.beam_size=3",
    "decode.max_words=8",
)
MAX_WAIT_S = 120
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


@cache
def may_mount() -> bool:
    """Return whether this process may mount file systems."""
    with TemporaryDirectory() as folder:
        result = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
            capture_output=True,
            check=False,
        )
        if result.returncode == 0:
            subprocess.run(["umount", folder], check=True)
    return result.returncode == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that mount a file system if this process may not mount one."""
    tmpfs_tests = [item for item in items if "-tmpfs-" in item.name]
    if tmpfs_tests and not may_mount():
        config.hook.pytest_deselected(items=tmpfs_tests)
        items[:] = [item for item in items if item not in tmpfs_tests]


@dataclass(frozen=True)
class Job:
    """A resumable command that takes seconds.

    Args:
        name: the command.
        arguments: the arguments without the output folder.
        out_arguments: returns the arguments for an output folder.
        has_started: returns whether the command has written a file.
        result: reads the output, without what may differ between runs.
        lock_message: part of the error of a second process in the same folder.
        has_ended: returns whether the output is complete and a new run would be refused.
    """

    name: str
    arguments: tuple[str, ...]
    out_arguments: Callable[[Path], tuple[str, ...]]
    has_started: Callable[[Path], bool]
    result: Callable[[Path], object]
    lock_message: str
    has_ended: Callable[[Path], bool] = lambda out: False

    def command(self, out: Path) -> list[str]:
        """Return the command line that writes into `out`."""
        arguments = (*self.arguments, *self.out_arguments(out))
        return [sys.executable, "-m", "readagain", self.name, *arguments]

    def start(self, out: Path) -> "subprocess.Popen[bytes]":
        """Start the command in a new process; it prints to a file, which `output` reads."""
        with self._log(out).open("wb") as log:
            return subprocess.Popen(self.command(out), stdout=log, stderr=log, env=ONE_THREAD)

    def wait_for_start(self, process: "subprocess.Popen[bytes]", out: Path) -> None:
        """Wait until the command has written a first file, or has ended."""
        end = time.monotonic() + MAX_WAIT_S
        while process.poll() is None and not self.has_started(out):
            assert time.monotonic() < end, "the command has not written a file in time"
            time.sleep(0.005)

    def output(self, out: Path) -> str:
        """Return what a command of `start` has printed."""
        return self._log(out).read_text()

    def _log(self, out: Path) -> Path:
        return out.with_name(f"{out.name}-{self.name}.log")

    def run(self, out: Path, **options: object) -> "subprocess.CompletedProcess[str]":
        """Run the command to its end."""
        return subprocess.run(
            self.command(out),
            capture_output=True,
            text=True,
            check=False,
            env=ONE_THREAD,
            **options,
        )


def invent_pairs(num_pairs: int) -> list[dict[str, str]]:
    """Return texts and headlines about towns with different names."""
    towns = ("".join(parts).title() for parts in product("bdfgklmn", "aeiou", "rstvz", "aeiou",
                                                          "lmnrt", "aeio"))  # fmt: skip
    pairs = []
    for index, town in zip(range(num_pairs), towns, strict=False):
        place, event = PLACES[index * 5 % 8], EVENTS[index * 7 % 6]
        text = f"The {place} of {town} {event} on Monday after {index} years of repairs ."
        pairs.append({"text": text, "headline": f"{town} {place} {event} on Monday"})
    return pairs


def write_pairs(path: Path, num_pairs: int) -> Path:
    """Write invented pairs to a JSONL file and return its path."""
    path.write_text("".join(json.dumps(pair) + "\n" for pair in invent_pairs(num_pairs)))
    return path


def training_result(out: Path) -> dict[str, object]:
    """Return the weights, the settings and the metrics of a training run, without times."""
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    time_fields = ("minutes", "pairs_per_s")
    tensors = read_tensors(out / "weights.safetensors")
    return {
        "metrics": [
            {name: value for name, value in line.items() if name not in time_fields}
            for line in lines
        ],
        "weights": {name: tensor.tobytes() for name, tensor in tensors.items()},
        **{name: (out / name).read_bytes() for name in ("run.json", "vocab.txt", "scores.json")},
    }


def fit_result(out: Path) -> dict[str, object]:
    """Return the result of the training, and the files of the model that have no times."""
    timed_files = ("provenance.json", "MODEL_CARD.md", "model.json", "report.html")
    model = read_files(out, ignored_prefixes=timed_files)
    assert (out / "report.html").exists()
    return {**training_result(work_dir(out) / "run"), **model}


@pytest.fixture(scope="session")
def small_run() -> tuple[str, ...]:
    """Settings of a run that takes seconds."""
    return SMALL_RUN


@pytest.fixture(scope="session")
def write_invented_pairs(tmp_path_factory) -> Callable[[str, int], Path]:
    """Function that writes a number of invented pairs to a new JSONL file."""
    return lambda name, num_pairs: write_pairs(
        tmp_path_factory.mktemp("invented") / name, num_pairs
    )


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """A small prepared corpus."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = write_pairs(folder / "pairs.jsonl", 140)
    arguments = ["prepare", pairs, "--out", folder / "data", "--dev-pairs", 20, "--workers", 1]
    subprocess.run([sys.executable, "-m", "readagain", *map(str, arguments)], check=True)
    return folder / "data"


@pytest.fixture(scope="session")
def jobs(tmp_path_factory, corpus) -> dict[str, Job]:
    """The resumable commands by name."""
    folder = tmp_path_factory.mktemp("inputs")
    prepare_input = write_pairs(folder / "pairs.jsonl", NUM_PREPARE_PAIRS)
    batch_input = write_pairs(folder / "texts.jsonl", 1_500)
    fit_input = write_pairs(folder / "few.jsonl", 120)
    set_options = tuple(f"--set={setting}" for setting in SMALL_RUN)
    return {
        "prepare": Job(
            name="prepare",
            arguments=(str(prepare_input), "--dev-pairs", "500", "--workers", "2"),
            out_arguments=lambda out: ("--out", str(out)),
            # The folder itself is created before it is locked, so it does not show a start.
            has_started=lambda out: any(unfinished_dir(out).glob("*")),
            result=read_files,
            lock_message="another process is preparing into this folder",
            has_ended=lambda out: out.exists(),
        ),
        "train": Job(
            name="train",
            arguments=("tiny", "--device", "cpu", "--data", str(corpus), *set_options),
            out_arguments=lambda out: ("--out", str(out)),
            has_started=lambda out: (out / "metrics.jsonl").exists(),
            result=training_result,
            lock_message="is training into this folder",
        ),
        "batch": Job(
            name="batch",
            arguments=(
                *(str(batch_input), "--model", str(TOY), "--workers", "2", "--shard-rows", "50"),
                "--one-file-per-input",
            ),
            out_arguments=lambda out: (str(out),),
            has_started=lambda out: (out / "unfinished" / "notes").exists(),
            result=read_files,
            lock_message="is writing into this folder",
        ),
        "fit": Job(
            name="fit",
            arguments=(
                str(fit_input),
                *("--epochs", "2", "--threads", "1", "--device", "cpu"),
            ),
            out_arguments=lambda out: ("--out", str(out)),
            has_started=lambda out: (work_dir(out) / "identity.json").exists(),
            result=fit_result,
            lock_message="another process is fitting a model in this folder",
        ),
    }


class ExpectedResults:
    """Results of uninterrupted jobs; a job is run when its result is first needed."""

    def __init__(self, jobs: dict[str, Job], folder: Path) -> None:
        self._jobs = jobs
        self._folder = folder
        self._results: dict[str, object] = {}
        self.work_s: dict[str, float] = {}
        """Seconds from the first file of each job to its end."""

    def __call__(self, name: str) -> object:
        """Return the result of a job."""
        if name not in self._results:
            job, out = self._jobs[name], self._folder / name
            process = job.start(out)
            job.wait_for_start(process, out)
            start = time.monotonic()
            assert process.wait() == 0, job.output(out)
            self.work_s[name] = time.monotonic() - start
            self._results[name] = job.result(out)
        return self._results[name]


@pytest.fixture(scope="session")
def expected_results(jobs, tmp_path_factory) -> ExpectedResults:
    """Function from the name of a job to its result without an interruption."""
    return ExpectedResults(jobs, tmp_path_factory.mktemp("expected"))
