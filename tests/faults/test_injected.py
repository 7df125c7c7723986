"""Each failed file operation is a one-line error without partial output; the job resumes.

The n-th operation of a command on its files fails, for every n in `make stress` and for a sample of
them in CI, in three ways: once, from then on, and with too little memory.
"""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from injected_faults import Faults, injected_faults

from readagain.batch import run as batch_run
from readagain.cli.main import main

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parents[1] / "assets" / "models"
WAYS = {
    "once": {},
    "lasting": {"is_lasting": True},
    "memory": {"is_memory": True},
}
FEW = 6  # faults of each command and way in CI


@dataclass(frozen=True)
class Command:
    """A command that writes into a folder.

    Args:
        arguments: what is typed, given the folder of inputs and the output.
        result: what must not depend on faults; None while the output is not complete.
        is_refused_when_done: whether the complete output is not written again.
        max_faults: maximum number of faults in `make stress`, for a slow command; None for all.
    """

    arguments: Callable[[Path, Path], list[object]]
    result: Callable[[Path], object]
    is_refused_when_done: bool = False
    max_faults: int | None = None


def files(folder, *, complete, ignored=()):
    """Return the files of a folder that has the file `complete`, or None."""
    if not (folder / complete).exists():
        return None
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {n: path.read_bytes() for n, path in names.items() if not n.startswith(ignored)}


def trained(out):
    """Return the weights of a finished run, and what decides them."""
    if not (out / "resume" / "finished.json").exists():
        return None
    names = ("weights.safetensors", "run.json", "vocab.txt", "source_vocab.txt", "scores.json")
    return {name: (out / name).read_bytes() for name in names}


def exported(out):
    """Return the graphs of a model folder with a manifest that lists them."""
    manifest = (
        json.loads((out / "model.json").read_bytes()) if (out / "model.json").exists() else {}
    )
    names = [name for name in manifest.get("files", ()) if name.endswith(".onnx")]
    return {name: (out / name).read_bytes() for name in names} or None


COMMANDS = {
    "summarize": Command(
        lambda inputs, out: [
            *("summarize", inputs / "texts.jsonl", "--model", inputs / "toy", "--threads", 1),
            *("--beam", 1, "--max-words", 3, "-o", out / "headlines.jsonl", "--overwrite"),
        ],
        lambda out: files(out, complete="headlines.jsonl", ignored=(".",)),
    ),
    "batch": Command(
        lambda inputs, out: [
            *("batch", inputs / "texts.jsonl", out, "--model", inputs / "toy", "--workers", 1),
            *("--beam", 1, "--max-words", 3, "--shard-rows", 2, "--one-file-per-input"),
        ],
        lambda out: files(out, complete="manifest.json", ignored=(".lock", "unfinished/")),
    ),
    "prepare": Command(
        lambda inputs, out: [
            *("prepare", inputs / "pairs.jsonl", "--out", out / "data", "--dev-pairs", 4),
            *("--workers", 1),
        ],
        lambda out: files(out / "data", complete="manifest.json"),
        is_refused_when_done=True,
    ),
    "train": Command(
        lambda inputs, out: [
            *("train", "tiny", "--data", inputs / "data", "--out", out / "run"),
            *("--device", "cpu", "--threads", 1),
            *(f"--set={each}" for each in RUN),
        ],
        lambda out: trained(out / "run"),
    ),
    "export": Command(
        lambda inputs, out: [
            *("export", inputs / "format-1", "--out", out / "model", "--check-texts", 2),
            *("--threads", 1),
        ],
        lambda out: exported(out / "model"),
        is_refused_when_done=True,
        max_faults=60,
    ),
}
RUN = (
    "model.embedding_size=4",
    "model.encoder.hidden_size=4",
    "model.decoder.hidden_size=4",
    "model.decoder.attention_size=4",
    "train.batch_size=8",
    "train.epochs=1",
    "train.rouge_pairs=0",
    "train.log_every=2",
    "train.validate_every=3",
)


def run(arguments):
    """Run a command in this process; return its status and what it prints on stderr."""
    stderr = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_run, "run_tasks", run_tasks)
        patch.setattr(sys, "stdout", io.StringIO())
        patch.setattr(sys, "stderr", stderr)
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            return end.code or 0, stderr.getvalue()
    raise AssertionError("main returned")


def run_tasks(build, tasks, num_workers):
    """Run the tasks of a batch job in this process, where faults are injected."""
    run_task = build()
    for task in tasks:
        yield run_task(task)


@pytest.fixture(autouse=True)
def quick_fsync(monkeypatch):
    """Count calls of fsync, but do not wait for the disk, which takes half of the time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, invented):
    """Return a folder with texts, pairs, a prepared corpus and models."""
    folder = tmp_path_factory.mktemp("faults")
    shutil.copyfile(invented("texts.jsonl", 4), folder / "texts.jsonl")
    shutil.copyfile(invented("pairs.jsonl", 24), folder / "pairs.jsonl")
    for name in ("toy", "format-1"):
        shutil.copytree(MODELS / name, folder / name)
    pairs, data = folder / "pairs.jsonl", folder / "data"
    assert run(["prepare", pairs, "--out", data, "--workers", 1, "--dev-pairs", 4])[0] == 0
    return folder


class Undisturbed:
    """Number of operations and result of each command without faults."""

    def __init__(self):
        self._found = {}

    def of(self, name, way, inputs):
        """Run a command twice, since the first run imports modules."""
        if (name, way) not in self._found:
            for number in range(2):
                out = inputs / f"{name}-{way}-{number}"
                out.mkdir()
                with injected_faults(Faults(inputs, **WAYS[way])) as faults:
                    status, stderr = run(COMMANDS[name].arguments(inputs, out))
                assert status == 0, stderr
                self._found[name, way] = len(faults.operations), COMMANDS[name].result(out)
        return self._found[name, way]


@pytest.fixture(scope="module")
def undisturbed():
    return Undisturbed()


def check_fault(name, faults, inputs, expected):
    """Return what is wrong after a fault, or an empty string."""
    command, out = COMMANDS[name], inputs / "out"
    out.mkdir()
    arguments = command.arguments(inputs, out)
    try:
        with injected_faults(faults):
            status, stderr = run(arguments)
    except Exception as error:  # collected, so that all of them are seen at once
        return f"{type(error).__name__}: {error}"
    found = command.result(out)
    if found not in (None, expected):
        return "half-written"
    if status == 0 and found is None:
        return "status 0 without a result"
    lines = [line for line in stderr.splitlines() if line.startswith("readagain: ")]
    if status and (status != 2 or len(lines) != 1 or not stderr.endswith(f"{lines[-1]}\n")):
        return f"status {status}, {stderr!r}"
    if status and str(inputs) not in lines[0] and "memory" not in lines[0]:
        return f"no path in {lines[0]!r}"
    if found is None or not command.is_refused_when_done:
        status, stderr = run(arguments)
        if status:
            return f"not resumed: {stderr!r}"
        if command.result(out) != expected:
            return "resumed to another result"
    return ""


@pytest.mark.parametrize("most", [FEW, pytest.param(None, marks=pytest.mark.stress)])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", COMMANDS)
def test_failed_operation_is_reported_and_loses_nothing(name, way, most, inputs, undisturbed):
    num_operations, expected = undisturbed.of(name, way, inputs)
    most = most or COMMANDS[name].max_faults or num_operations
    step = max(1, num_operations // most)
    wrong = []
    for number in range(1 + list(WAYS).index(way) % step, num_operations + 1, step):
        faults = Faults(inputs, fail_at=number, **WAYS[way])
        problem = check_fault(name, faults, inputs, expected)
        if problem:
            wrong.append(f"{faults.failed}: {problem}")
        shutil.rmtree(inputs / "out")
    assert not wrong, "\n".join(wrong)
