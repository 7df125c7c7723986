"""Wall clocks that jump back or forward change only the dates in the output."""

import io
import json
import os
import time
from itertools import count
from pathlib import Path

import pytest
import torch
from rich.console import Console

from readagain.corpus import chunks, workers
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.formats import lines
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.trainer import Trainer

pytestmark = pytest.mark.slow

HOUR = 3_600.0
FAR = 100 * 365 * 24 * HOUR


@pytest.fixture
def jumping_clock(monkeypatch):
    """Let the clock of the machine go back an hour or on by a century each time it is looked at."""
    real, looks = time.time, count()
    monkeypatch.setattr(time, "time", lambda: real() + (-HOUR, FAR, -FAR / 10)[next(looks) % 3])
    return looks


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def prepared(path: Path, out: Path) -> dict[str, bytes]:
    prepare(
        find_inputs([str(path)], CorpusReadOptions()), out, PrepareSettings(dev=SplitSize(pairs=9))
    )
    return contents(out)


@pytest.mark.parametrize("moment_ns", [0, -(10**18), 4_102_444_800 * 10**9], ids=str)
def test_input_timestamps_do_not_change_the_corpus(invented, tmp_path, moment_ns):
    path = invented("pairs.jsonl", 60)
    expected = prepared(path, tmp_path / "now")
    os.utime(path, ns=(moment_ns, moment_ns))
    assert prepared(path, tmp_path / "then") == expected


def test_input_with_older_timestamp_is_read_again(invented, tmp_path, monkeypatch):
    """Chunks are kept for a file of the same size and time; another time, earlier or later, is not
    the same."""
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 16)
    path = invented("pairs.jsonl", 60)
    expected = prepared(path, tmp_path / "whole")
    made = []

    def save_some(*arguments):
        made.append(arguments)
        if len(made) == 3:
            raise KeyboardInterrupt
        return chunks.save_chunk(*arguments)

    monkeypatch.setattr(workers, "save_chunk", save_some)
    with pytest.raises(KeyboardInterrupt):
        prepared(path, tmp_path / "out")
    os.utime(path, ns=(0, 0))
    assert prepared(path, tmp_path / "out") == expected
    assert len(made) == 3 + 4


@pytest.mark.usefixtures("jumping_clock")
def test_prepare_does_not_use_the_clock(invented, tmp_path, monkeypatch):
    path = invented("pairs.jsonl", 60)
    jumped = prepared(path, tmp_path / "jumped")
    monkeypatch.undo()
    assert jumped == prepared(path, tmp_path / "steady")


def test_clock_jumps_change_no_weights_or_metrics(
    corpus, small_run, tmp_path, jumping_clock, monkeypatch
):
    changes = (*small_run, "train.epochs=1", "train.validate_every=5", "train.rouge_pairs=2")
    update, updates = Trainer.update, []

    def go(out):
        job = TrainingJob(preset="tiny", data=corpus, out=tmp_path / out, changes=changes)
        threads = torch.get_num_threads()
        try:
            train(job, device_name="cpu", threads=1, console=Console(file=io.StringIO()))
        finally:
            torch.set_num_threads(threads)

    def update_some(session):
        updates.append(session)
        if len(updates) == 8:
            raise KeyboardInterrupt
        return update(session)

    monkeypatch.setattr(Trainer, "update", update_some)
    with pytest.raises(KeyboardInterrupt):
        go("jumped")
    go("jumped")
    assert next(jumping_clock) > 0, "the clock was not read, so nothing was tested"
    monkeypatch.undo()
    go("steady")

    def result(out):
        figures = (tmp_path / out / "metrics.jsonl").read_text().splitlines()
        timed = ("minutes", "pairs_per_s")
        return (
            (tmp_path / out / "weights.safetensors").read_bytes(),
            [{n: v for n, v in json.loads(line).items() if n not in timed} for line in figures],
        )

    assert result("jumped") == result("steady")
    minutes = json.loads((tmp_path / "jumped" / "provenance.json").read_text())["minutes"]
    assert 0 <= minutes < 60  # measured with a monotonic clock
