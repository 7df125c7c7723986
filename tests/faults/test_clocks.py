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

HOUR_S = 3_600.0
CENTURY_S = 100 * 365 * 24 * HOUR_S


@pytest.fixture
def jumping_clock(monkeypatch):
    """Make the wall clock jump each time that it is read; return the counter of its reads."""
    real_time, reads = time.time, count()
    jumps_s = (-HOUR_S, CENTURY_S, -CENTURY_S / 10)
    monkeypatch.setattr(time, "time", lambda: real_time() + jumps_s[next(reads) % 3])
    return reads


def prepare_files(path: Path, out: Path) -> dict[str, bytes]:
    """Prepare a corpus and return its files."""
    prepare(
        find_inputs([str(path)], CorpusReadOptions()), out, PrepareSettings(dev=SplitSize(pairs=9))
    )
    return {file.name: file.read_bytes() for file in out.iterdir()}


@pytest.mark.parametrize("mtime_ns", [0, -(10**18), 4_102_444_800 * 10**9], ids=str)
def test_input_timestamps_do_not_change_the_corpus(write_invented_pairs, tmp_path, mtime_ns):
    path = write_invented_pairs("pairs.jsonl", 60)
    expected = prepare_files(path, tmp_path / "before")
    os.utime(path, ns=(mtime_ns, mtime_ns))
    assert prepare_files(path, tmp_path / "after") == expected


def test_input_with_older_timestamp_is_read_again(write_invented_pairs, tmp_path, monkeypatch):
    """Saved chunks are used only if the size and the timestamp of the input are the same."""
    monkeypatch.setattr(lines, "BLOCK_RECORDS", 16)  # four chunks
    path = write_invented_pairs("pairs.jsonl", 60)
    expected = prepare_files(path, tmp_path / "uninterrupted")
    calls = []

    def save_two_chunks(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return chunks.save_chunk(*arguments)

    monkeypatch.setattr(workers, "save_chunk", save_two_chunks)
    with pytest.raises(KeyboardInterrupt):
        prepare_files(path, tmp_path / "out")
    os.utime(path, ns=(0, 0))
    assert prepare_files(path, tmp_path / "out") == expected
    assert len(calls) == 3 + 4


@pytest.mark.usefixtures("jumping_clock")
def test_prepare_does_not_use_the_clock(write_invented_pairs, tmp_path, monkeypatch):
    path = write_invented_pairs("pairs.jsonl", 60)
    files = prepare_files(path, tmp_path / "jumping")
    monkeypatch.undo()
    assert files == prepare_files(path, tmp_path / "steady")


def test_clock_jumps_change_no_weights_or_metrics(
    corpus, small_run, tmp_path, jumping_clock, monkeypatch
):
    changes = (*small_run, "train.epochs=1", "train.validate_every=5", "train.rouge_pairs=2")
    real_update, calls = Trainer.update, []

    def run_training(out):
        job = TrainingJob(preset="tiny", data=corpus, out=tmp_path / out, changes=changes)
        threads = torch.get_num_threads()
        try:
            train(job, device_name="cpu", threads=1, console=Console(file=io.StringIO()))
        finally:
            torch.set_num_threads(threads)

    def interrupt_eighth_update(trainer):
        calls.append(trainer)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return real_update(trainer)

    monkeypatch.setattr(Trainer, "update", interrupt_eighth_update)
    with pytest.raises(KeyboardInterrupt):
        run_training("jumping")
    run_training("jumping")
    assert next(jumping_clock) > 0, "the clock was not read, so nothing was tested"
    monkeypatch.undo()
    run_training("steady")

    def read_result(out):
        metrics = map(json.loads, (tmp_path / out / "metrics.jsonl").read_text().splitlines())
        time_fields = ("minutes", "pairs_per_s")
        return (
            (tmp_path / out / "weights.safetensors").read_bytes(),
            [{n: v for n, v in entry.items() if n not in time_fields} for entry in metrics],
        )

    assert read_result("jumping") == read_result("steady")
    minutes = json.loads((tmp_path / "jumping" / "provenance.json").read_text())["minutes"]
    assert 0 <= minutes < 60  # measured with a monotonic clock
