"""The four long jobs on invented input: commands to kill, and results to compare."""

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

from readagain.corpus.manifest import unfinished_dir
from readagain.fitting.work_dir import work_dir
from readagain.storage.tensors import read_tensors

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves", "wins")
NUM_PAIRS = 24_000  # of which prepare makes three blocks
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
LONGEST_WAIT_S = 120
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


@cache
def may_mount() -> bool:
    """Return whether this process may mount file systems."""
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
    return done.returncode == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of a mounted disk where this process may not mount one."""
    on_tmpfs = [item for item in items if "-tmpfs-" in item.name]
    if on_tmpfs and not may_mount():
        config.hook.pytest_deselected(items=on_tmpfs)
        items[:] = [item for item in items if item not in on_tmpfs]


@dataclass(frozen=True)
class Job:
    """A command that takes seconds, and what to compare of what it leaves.

    Args:
        name: the command.
        arguments: what follows it, apart from the folder.
        place: how the folder is given.
        has_begun: says whether the work has left a first trace.
        result: reads what must not depend on what happened meanwhile.
        told_when_held: what a second process says while a first is at work.
        has_ended: says whether nothing is left to do, and the command would be refused.
    """

    name: str
    arguments: tuple[str, ...]
    place: Callable[[Path], tuple[str, ...]]
    has_begun: Callable[[Path], bool]
    result: Callable[[Path], object]
    told_when_held: str
    has_ended: Callable[[Path], bool] = lambda out: False

    def command(self, out: Path) -> list[str]:
        """Return the command line that writes into `out`."""
        return [sys.executable, "-m", "readagain", self.name, *self.arguments, *self.place(out)]

    def start(self, out: Path) -> "subprocess.Popen[bytes]":
        """Start the command in a process of its own; `told` says what it said."""
        with self._log(out).open("wb") as log:
            return subprocess.Popen(self.command(out), stdout=log, stderr=log, env=ONE_THREAD)

    def wait_for_trace(self, process: "subprocess.Popen[bytes]", out: Path) -> None:
        """Wait until the work has left a trace, or has ended."""
        until = time.monotonic() + LONGEST_WAIT_S
        while process.poll() is None and not self.has_begun(out):
            assert time.monotonic() < until, "nothing was begun"
            time.sleep(0.005)

    def told(self, out: Path) -> str:
        """Return what a started command has printed."""
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


def invent_pairs(number: int) -> list[dict[str, str]]:
    """Return pairs about towns of which no two share a name."""
    towns = ("".join(parts).title() for parts in product("bdfgklmn", "aeiou", "rstvz", "aeiou",
                                                          "lmnrt", "aeio"))  # fmt: skip
    pairs = []
    for index, town in zip(range(number), towns, strict=False):
        place, event = PLACES[index * 5 % 8], EVENTS[index * 7 % 6]
        text = f"The {place} of {town} {event} on Monday after {index} years of repairs ."
        pairs.append({"text": text, "headline": f"{town} {place} {event} on Monday"})
    return pairs


def write_lines(path: Path, records: list[dict[str, str]]) -> Path:
    """Write records as JSONL."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, but for locks."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def trained(out: Path) -> dict[str, object]:
    """Return the weights, bit by bit, and all logged numbers that do not tell the time."""
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    timed = ("minutes", "pairs_per_s")
    tensors = read_tensors(out / "weights.safetensors")
    return {
        "metrics": [{n: v for n, v in line.items() if n not in timed} for line in lines],
        "weights": {name: tensor.tobytes() for name, tensor in tensors.items()},
        **{name: (out / name).read_bytes() for name in ("run.json", "vocab.txt", "scores.json")},
    }


def fitted(out: Path) -> dict[str, object]:
    """Return what training left, and the files of the model that do not tell the time."""
    timed = ("provenance.json", "MODEL_CARD.md", "model.json", "report.html")
    model = {name: content for name, content in contents(out).items() if name not in timed}
    assert (out / "report.html").exists()
    return {**trained(work_dir(out) / "run"), **model}


@pytest.fixture(scope="session")
def small_run() -> tuple[str, ...]:
    """Settings of a run that takes seconds."""
    return SMALL_RUN


@pytest.fixture(scope="session")
def invented(tmp_path_factory) -> Callable[[str, int], Path]:
    """Write some invented pairs to a file."""
    return lambda name, number: write_lines(
        tmp_path_factory.mktemp("invented") / name, invent_pairs(number)
    )


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """A small prepared corpus."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = write_lines(folder / "pairs.jsonl", invent_pairs(140))
    arguments = ["prepare", pairs, "--out", folder / "data", "--dev-pairs", 20, "--workers", 1]
    subprocess.run([sys.executable, "-m", "readagain", *map(str, arguments)], check=True)
    return folder / "data"


@pytest.fixture(scope="session")
def jobs(tmp_path_factory, corpus) -> dict[str, Job]:
    """The jobs that people leave alone for hours."""
    folder = tmp_path_factory.mktemp("inputs")
    many = write_lines(folder / "pairs.jsonl", invent_pairs(NUM_PAIRS))
    some = write_lines(folder / "texts.jsonl", invent_pairs(1_500))
    sets = tuple(f"--set={setting}" for setting in SMALL_RUN)
    return {
        "prepare": Job(
            name="prepare",
            arguments=(str(many), "--dev-pairs", "500", "--workers", "2"),
            place=lambda out: ("--out", str(out)),
            # The folder itself is made before it is locked; what stands in it, after.
            has_begun=lambda out: any(unfinished_dir(out).glob("*")),
            result=contents,
            told_when_held="another process is preparing into this folder",
            has_ended=lambda out: out.exists(),
        ),
        "train": Job(
            name="train",
            arguments=("tiny", "--device", "cpu", "--data", str(corpus), *sets),
            place=lambda out: ("--out", str(out)),
            has_begun=lambda out: (out / "metrics.jsonl").exists(),
            result=trained,
            told_when_held="is training into this folder",
        ),
        "batch": Job(
            name="batch",
            arguments=(str(some), "--model", str(TOY), "--workers", "2", "--shard-rows", "50"),
            place=lambda out: (str(out),),
            has_begun=lambda out: (out / "unfinished" / "notes").exists(),
            result=contents,
            told_when_held="is writing into this folder",
        ),
        "fit": Job(
            name="fit",
            arguments=(
                str(write_lines(folder / "few.jsonl", invent_pairs(120))),
                *("--epochs", "2", "--threads", "1", "--device", "cpu"),
            ),
            place=lambda out: ("--out", str(out)),
            has_begun=lambda out: (work_dir(out) / "identity.json").exists(),
            result=fitted,
            told_when_held="another process is fitting a model in this folder",
        ),
    }


class Undisturbed:
    """What jobs leave when nothing happens to them; each is run once, when it is asked for."""

    def __init__(self, jobs: dict[str, Job], folder: Path) -> None:
        self._jobs = jobs
        self._folder = folder
        self._results: dict[str, object] = {}
        self.work_s: dict[str, float] = {}
        """How long each job worked, from its first trace to its end."""

    def __call__(self, name: str) -> object:
        """Return the result of a job."""
        if name not in self._results:
            job, out = self._jobs[name], self._folder / name
            process = job.start(out)
            job.wait_for_trace(process, out)
            begun = time.monotonic()
            assert process.wait() == 0, job.told(out)
            self.work_s[name] = time.monotonic() - begun
            self._results[name] = job.result(out)
        return self._results[name]


@pytest.fixture(scope="session")
def undisturbed(jobs, tmp_path_factory) -> Undisturbed:
    """Return what a job leaves when nothing happens to it."""
    return Undisturbed(jobs, tmp_path_factory.mktemp("undisturbed"))
