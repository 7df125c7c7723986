"""A small invented corpus, and short training runs on it."""

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
    """Keep torch on one thread: faster for small networks, and the same everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """Return what is waited for until it is on the disk, and what is removed, in this order."""
    happened = []
    remove = shutil.rmtree

    def note_synced(descriptor):
        synced = os.fstat(descriptor)
        paths = (tmp_path, *tmp_path.rglob("*"))
        found = next(each for each in paths if os.path.samestat(each.stat(), synced))
        happened.append("temporary file" if found.suffix == ".part" else found.name)

    def note_removed(path, **options):
        if path.exists():
            happened.append(f"{path.name} removed")
        remove(path, **options)

    monkeypatch.setattr("os.fsync", note_synced)
    monkeypatch.setattr("shutil.rmtree", note_removed)
    return happened


def write_corpus(folder, *, num_pairs, dev_pairs):
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
    """About 100 training pairs and 20 dev pairs."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), num_pairs=120, dev_pairs=20)


@pytest.fixture(scope="session")
def corpus_without_dev(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("no_dev"), num_pairs=40, dev_pairs=0)


@pytest.fixture
def make_job(corpus, tmp_path):
    """Build a job over the corpus; changes are added to the small run's."""

    def make(*changes, out="out", **options):
        options = {"preset": "tiny", "data": corpus.folder, **options}
        return TrainingJob(out=tmp_path / out, changes=(*SMALL, *changes), **options)

    return make


@pytest.fixture
def run_job():
    """Train a job on the CPU; returns its outcome and what a person saw."""

    def run(job):
        output = io.StringIO()
        outcome = train(job, device_name="cpu", console=Console(file=output, width=200))
        return outcome, output.getvalue()

    return run


@pytest.fixture
def stop_after(monkeypatch):
    """Set the stop signal of a run after a number of updates."""

    def set_stop(num_updates):
        stops = []
        update = TrainingStep.update

        def counted(self, given):
            loss = update(self, given)
            if self.step == num_updates:
                stops[-1].is_set = True
            return loss

        class Noted(StopSignal):
            def __init__(self):
                super().__init__()
                stops.append(self)

        monkeypatch.setattr("readagain.training.stop_signal.StopSignal", Noted)
        monkeypatch.setattr(TrainingStep, "update", counted)

    return set_stop
