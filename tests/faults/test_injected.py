"""A failed file operation leads to a one-line error without partial output; the command resumes.

The tests make the n-th operation of a command on its files fail, for every n in `make stress` and
for some n in CI. There are three modes: only the n-th operation fails, it and all later ones fail,
or it fails for lack of memory.
"""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from folder_files import read_files
from injected_faults import Faults, injected_faults

from readagain.batch import run as batch_run
from readagain.cli.main import main

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parents[1] / "assets" / "models"
MODES = {
    "once": {},
    "lasting": {"is_lasting": True},
    "memory": {"is_memory": True},
}
"""Arguments of `Faults`."""
NUM_CI_FAULTS = 6  # for each command and mode


@dataclass(frozen=True)
class Command:
    """A command that writes into a folder.

    Args:
        arguments: returns the arguments for the folder of inputs and the output folder.
        result: reads the complete output; None if the output is not complete.
        refuses_complete_output: whether the command fails if its output is complete.
        max_faults: maximum number of faults in `make stress`, for a slow command; None for all.
    """

    arguments: Callable[[Path, Path], list[object]]
    result: Callable[[Path], object]
    refuses_complete_output: bool = False
    max_faults: int | None = None


def read_complete(folder, *, last_file, ignored_prefixes=()):
    """Return the files of a folder, or None if it does not have the file that is written last."""
    if not (folder / last_file).exists():
        return None
    return read_files(folder, ignored_prefixes=ignored_prefixes)


def read_run(out):
    """Return the files of a finished training run that do not contain times, or None."""
    if not (out / "resume" / "finished.json").exists():
        return None
    names = ("weights.safetensors", "run.json", "vocab.txt", "source_vocab.txt", "scores.json")
    return {name: (out / name).read_bytes() for name in names}


def read_graphs(out):
    """Return the graphs that the manifest of a model directory lists, or None."""
    if not (out / "model.json").exists():
        return None
    manifest = json.loads((out / "model.json").read_bytes())
    names = [name for name in manifest["files"] if name.endswith(".onnx")]
    return {name: (out / name).read_bytes() for name in names} or None


COMMANDS = {
    "summarize": Command(
        lambda inputs, out: [
            *("summarize", inputs / "texts.jsonl", "--model", inputs / "toy", "--threads", 1),
            *("--beam", 1, "--max-words", 3, "-o", out / "headlines.jsonl", "--overwrite"),
        ],
        lambda out: read_complete(out, last_file="headlines.jsonl", ignored_prefixes=(".",)),
    ),
    "batch": Command(
        lambda inputs, out: [
            *("batch", inputs / "texts.jsonl", out, "--model", inputs / "toy", "--workers", 1),
            *("--beam", 1, "--max-words", 3, "--shard-rows", 2, "--one-file-per-input"),
        ],
        lambda out: read_complete(
            out, last_file="manifest.json", ignored_prefixes=("unfinished/",)
        ),
    ),
    "prepare": Command(
        lambda inputs, out: [
            *("prepare", inputs / "pairs.jsonl", "--out", out / "data", "--dev-pairs", 4),
            *("--workers", 1),
        ],
        lambda out: read_complete(out / "data", last_file="manifest.json"),
        refuses_complete_output=True,
    ),
    "train": Command(
        lambda inputs, out: [
            *("train", "tiny", "--data", inputs / "data", "--out", out / "run"),
            *("--device", "cpu", "--threads", 1),
            *(f"--set={setting}" for setting in SMALL_RUN),
        ],
        lambda out: read_run(out / "run"),
    ),
    "export": Command(
        lambda inputs, out: [
            *("export", inputs / "format-1", "--out", out / "model", "--check-texts", 2),
            *("--threads", 1),
        ],
        lambda out: read_graphs(out / "model"),
        refuses_complete_output=True,
        max_faults=60,
    ),
}
SMALL_RUN = (
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
    """Run a command in this process; return its exit status and stderr."""
    stderr = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_run, "run_tasks", run_tasks)
        patch.setattr(sys, "stdout", io.StringIO())
        patch.setattr(sys, "stderr", stderr)
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as exit_error:
            return exit_error.code or 0, stderr.getvalue()
    raise AssertionError("main returned")


def run_tasks(build, tasks, num_workers):
    """Run the tasks of a batch job in this process, where faults are injected."""
    run_task = build()
    for task in tasks:
        yield run_task(task)


@pytest.fixture(autouse=True)
def quick_fsync(monkeypatch):
    """Replace fsync, because it takes half of the time; its calls are still counted."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, write_invented_pairs):
    """A folder with texts, pairs, a prepared corpus and models."""
    folder = tmp_path_factory.mktemp("faults")
    shutil.copyfile(write_invented_pairs("texts.jsonl", 4), folder / "texts.jsonl")
    shutil.copyfile(write_invented_pairs("pairs.jsonl", 24), folder / "pairs.jsonl")
    for name in ("toy", "format-1"):
        shutil.copytree(MODELS / name, folder / name)
    pairs, data = folder / "pairs.jsonl", folder / "data"
    assert run(["prepare", pairs, "--out", data, "--workers", 1, "--dev-pairs", 4])[0] == 0
    return folder


@pytest.fixture(scope="module")
def run_without_faults(inputs):
    """Function that runs a command and returns its number of file operations and its result."""

    @cache
    def run_command(name, mode):
        for number in range(2):  # the first run may import modules, which is not counted
            out = inputs / f"{name}-{mode}-{number}"
            out.mkdir()
            with injected_faults(Faults(inputs, **MODES[mode])) as faults:
                status, stderr = run(COMMANDS[name].arguments(inputs, out))
            assert status == 0, stderr
        return len(faults.operations), COMMANDS[name].result(out)

    return run_command


def run_with_fault(name, faults, inputs, expected):
    """Run a command with a fault, then without; return a description of a problem, or ""."""
    command, out = COMMANDS[name], inputs / "out"
    out.mkdir()
    arguments = command.arguments(inputs, out)
    try:
        with injected_faults(faults):
            status, stderr = run(arguments)
    except Exception as error:  # returned, so that the test reports all problems at once
        return f"{type(error).__name__}: {error}"
    result = command.result(out)
    if result not in (None, expected):
        return "partial output"
    if status == 0 and result is None:
        return "status 0 without a result"
    if status:
        lines = [line for line in stderr.splitlines() if line.startswith("readagain: ")]
        if status != 2 or len(lines) != 1 or not stderr.endswith(f"{lines[0]}\n"):
            return f"status {status}, {stderr!r}"
        if str(inputs) not in lines[0] and "memory" not in lines[0]:
            return f"no path in {lines[0]!r}"
    if result is None or not command.refuses_complete_output:
        status, stderr = run(arguments)
        if status:
            return f"not resumed: {stderr!r}"
        if command.result(out) != expected:
            return "resumed to another result"
    return ""


@pytest.mark.parametrize(
    "num_faults", [NUM_CI_FAULTS, pytest.param(None, marks=pytest.mark.stress)]
)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", COMMANDS)
def test_failed_operation_is_reported_and_loses_nothing(
    name, mode, num_faults, inputs, run_without_faults
):
    num_operations, expected = run_without_faults(name, mode)
    num_faults = num_faults or COMMANDS[name].max_faults or num_operations
    step = max(1, num_operations // num_faults)
    first = 1 + list(MODES).index(mode) % step  # modes test different operations
    problems = []
    for number in range(first, num_operations + 1, step):
        faults = Faults(inputs, fail_at=number, **MODES[mode])
        problem = run_with_fault(name, faults, inputs, expected)
        if problem:
            problems.append(f"{faults.failed}: {problem}")
        shutil.rmtree(inputs / "out")
    assert not problems, "\n".join(problems)
