"""Fixtures: a small invented corpus, and short training runs on it."""

import io
import json
import os
import shutil

import pytest
import torch
from rich.console import Console

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.shards import PreparedCorpus
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.step import TrainingStep
from readagain.training.stop_signal import StopSignal

PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves", "wins")
TOWNS = ("Arnfeld", "Bellmoor", "Corvale", "Dunwick", "Elmsea", "Farholt", "Glenrow", "Harmoor")

# Small enough that a whole run takes about a second.
SMALL = (
    "model.embedding_size=8",
    "model.encoder.hidden_size=8",
    "model.decoder.hidden_size=8",
    "model.decoder.attention_size=8",
    "train.batch_size=16",
    "train.epochs=2",
    "train.warmup_steps=2",
    "train.learning_rate=0.01",
    "train.rouge_pairs=6",
    "train.log_every=3",
    "decode.beam_size=2",
    "decode.max_words=6",
)


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread: faster for small networks, and the same result on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def disk_events(tmp_path, monkeypatch):
    """Return a list that records fsync calls and removed directories, in order."""
    events = []
    remove = shutil.rmtree

    def record_fsync(descriptor):
        status = os.fstat(descriptor)
        paths = (tmp_path, *tmp_path.rglob("*"))
        [path] = [path for path in paths if os.path.samestat(path.stat(), status)]
        events.append("temporary file" if path.suffix == ".part" else path.name)

    def record_removal(path, **options):
        if path.exists():
            events.append(f"{path.name} removed")
        remove(path, **options)

    monkeypatch.setattr("os.fsync", record_fsync)
    monkeypatch.setattr("shutil.rmtree", record_removal)
    return events


def write_corpus(folder, *, num_pairs, dev_pairs):
    """Write invented pairs to a file, prepare them, and return the prepared corpus."""
    lines = []
    for number in range(num_pairs):
        town = TOWNS[number % len(TOWNS)] + "abcdefghij"[number // 8 % 10]
        place, event = PLACES[number * 5 % 8], EVENTS[number * 7 % 6]
        text = f"The {place} of {town} {event} on Monday after {number} years of repairs ."
        lines.append(json.dumps({"text": text, "headline": f"{town} {place} {event} on Monday"}))
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n")
    sources = find_inputs([str(folder / "pairs.jsonl")], CorpusReadOptions())
    prepare(sources, folder / "data", PrepareSettings(dev=SplitSize(pairs=dev_pairs)))
    return PreparedCorpus.open(folder / "data")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """Return a corpus with about 100 training pairs and 20 dev pairs."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), num_pairs=120, dev_pairs=20)


@pytest.fixture(scope="session")
def corpus_without_dev(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("no_dev"), num_pairs=40, dev_pairs=0)


@pytest.fixture
def make_job(corpus, tmp_path):
    """Return a function that builds a job for the corpus; changes are added to `SMALL`."""

    def make(*changes, out="out", **options):
        options = {"preset": "tiny", "data": corpus.folder, **options}
        return TrainingJob(out=tmp_path / out, changes=(*SMALL, *changes), **options)

    return make


@pytest.fixture
def run_job():
    """Return a function that trains a job on the CPU and returns its result and console output."""

    def run(job, stop=None):
        output = io.StringIO()
        console = Console(file=output, width=200)
        result = train(job, device_name="cpu", console=console, stop=stop)
        return result, output.getvalue()

    return run


@pytest.fixture
def stop_after(monkeypatch):
    """Return a function that makes runs stop after a number of updates."""

    def set_stop(num_updates):
        signals = []  # of all runs; the last run is the current one
        original_update = TrainingStep.update

        def update_and_stop(self, batch):
            loss = original_update(self, batch)
            if self.step == num_updates:
                signals[-1].is_set = True
            return loss

        class RecordedStopSignal(StopSignal):
            def __init__(self):
                super().__init__()
                signals.append(self)

        monkeypatch.setattr("readagain.training.stop_signal.StopSignal", RecordedStopSignal)
        monkeypatch.setattr(TrainingStep, "update", update_and_stop)

    return set_stop
