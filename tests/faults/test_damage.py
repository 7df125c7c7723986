"""Damaged files (truncated, changed, emptied, removed, exchanged) are refused or ignored.

Every file of every artefact is damaged in every way. What comes of it is either an error in one
line, or exactly what comes of the whole artefact; for the files that decide a result, an error.
"""

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from rich.console import Console

from readagain.batch.job import BatchJob, group_inputs
from readagain.batch.locations import find_files
from readagain.batch.run import run_batch
from readagain.batch.shard_worker import ShardConfig, ShardWorker
from readagain.batch.shards import SplitOptions
from readagain.corpus import chunks, workers
from readagain.corpus.manifest import unfinished_dir
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.corpus.shards import PreparedCorpus
from readagain.engine.summarizer import Summarizer
from readagain.errors import ReadAgainError
from readagain.formats import lines
from readagain.formats.texts import TextReadOptions as RowOptions
from readagain.model_dir import ModelDir
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.trainer import Trainer

pytestmark = pytest.mark.slow

TEXT = "The harbour of Norrvik opened on Monday after a storm."


def _flipped(content: bytes, place: float) -> bytes:
    index = min(int(place * len(content)), len(content) - 1)
    return content[:index] + bytes([content[index] ^ 4]) + content[index + 1 :]


FAULTS: dict[str, Callable[[bytes], bytes | None]] = {
    "emptied": lambda content: b"",
    "cut short": lambda content: content[: len(content) // 2],
    "first bit": lambda content: _flipped(content, 0),
    "middle bit": lambda content: _flipped(content, 0.5),
    "last bit": lambda content: _flipped(content, 1),
    "removed": lambda content: None,
}
SWAPPED = "exchanged with the next"


@dataclass(frozen=True)
class Artefact:
    """A file or folder that a command reads.

    Args:
        folder: where the whole one lies.
        use: what is done with it; returns what must not change.
        expected: what that gives for the whole one.
        harmless: beginnings of the names of files that do not decide the result.
    """

    folder: Path
    use: Callable[[Path], object]
    expected: object
    harmless: tuple[str, ...] = field(default=())

    def names(self) -> list[str]:
        """Name every file below the folder."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return [str(path.relative_to(self.folder)) for path in files]

    def outcome(self, damaged: Path) -> str:
        """Return the result of reading a damaged copy."""
        try:
            found = self.use(damaged)
        except ReadAgainError as error:
            return "refused" if "\n" not in str(error) else f"several lines: {error}"
        except Exception as error:  # collected, so that all of them are seen at once
            return f"{type(error).__name__}: {error}"
        return "no effect" if found == self.expected else "another result"


@pytest.fixture(scope="module")
def corpus_artefact(corpus):
    def use(folder):
        opened = PreparedCorpus.open(folder, checksums=True)
        pairs = {
            split: [
                [part.tolist() for part in (*sentences, summary)]
                for sentences, summary in map(
                    opened.split(split).__getitem__, range(len(opened.split(split)))
                )
            ]
            for split in ("train", "dev", "test")
        }
        return pairs, opened.lexicon.words, list(opened.texts("dev")), opened.manifest.fingerprint

    return Artefact(corpus, use, use(corpus), harmless=("manifest.json",))


@pytest.fixture(scope="module")
def model_artefact(tmp_path_factory):
    whole = Path(__file__).parents[1] / "assets" / "models" / "toy"

    def use(folder):
        return Summarizer.load(folder, threads=1).summarize(TEXT, beam=2, max_words=5)

    unread = ("weights", "export.json", "encoder.float32", "step.float32", "model.json")
    return Artefact(whole, use, use(whole), harmless=unread)


@pytest.fixture(scope="module")
def inspected_artefact():
    whole = Path(__file__).parents[1] / "assets" / "models" / "format-1"

    def use(folder):
        opened = ModelDir.open(folder, checksums=True)
        return opened.run, opened.vocab, opened.source_vocab, opened.tensors, opened.scores

    return Artefact(whole, use, use(whole), harmless=("model.json",))


@pytest.fixture(scope="module")
def unfinished_corpus_artefact(tmp_path_factory, invented):
    """Interrupt a preparation after two of its chunks."""
    home = tmp_path_factory.mktemp("unfinished")
    sources = find_inputs([str(invented("pairs.jsonl", 60))], CorpusReadOptions())
    settings = PrepareSettings(dev=SplitSize(pairs=9))
    made = []

    def save_some(*arguments):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(arguments)
        return chunks.save_chunk(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_RECORDS", 16)
        prepare(sources, home / "whole", settings)
        patch.setattr(workers, "save_chunk", save_some)
        with pytest.raises(KeyboardInterrupt):
            prepare(sources, home / "out", settings)

    def use(folder):
        out = folder.with_name("out")
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(unfinished_dir(out))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "BLOCK_RECORDS", 16)
            prepare(sources, out, settings)
        return _contents(out)

    return Artefact(unfinished_dir(home / "out"), use, _contents(home / "whole"), harmless=("",))


@pytest.fixture(scope="module")
def run_artefact(tmp_path_factory, corpus, small_run):
    """Cut a run off between two checkpoints."""
    home = tmp_path_factory.mktemp("run")
    changes = (*small_run, "train.epochs=1", "train.validate_every=5", "train.rouge_pairs=2")
    updates = []

    def update_some(session):
        updates.append(session)
        if len(updates) > 12:
            raise KeyboardInterrupt
        return update(session)

    update = Trainer.update

    def go(out):
        threads = torch.get_num_threads()
        job = TrainingJob(preset="tiny", data=corpus, out=out, changes=changes)
        try:
            train(job, device_name="cpu", threads=1, console=Console(file=io.StringIO()))
        finally:
            torch.set_num_threads(threads)
        return (out / "weights.safetensors").read_bytes(), (out / "scores.json").read_bytes()

    expected = go(home / "whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "update", update_some)
        with pytest.raises(KeyboardInterrupt):
            go(home / "out")
    # The model so far is written anew from the checkpoint; logs do not decide weights.
    remade = (
        "metrics", "tensorboard", ".lock", "MODEL_CARD", "cases", "model.json", "provenance",
        "run.json", "scores", "source_vocab", "vocab", "weights",
    )  # fmt: skip
    return Artefact(home / "out", go, expected, harmless=remade)


@pytest.fixture(scope="module")
def batch_folders(tmp_path_factory, invented):
    """Run a job in this process: once to its end, once until two of its shards are done."""
    home = tmp_path_factory.mktemp("batch")
    reading = RowOptions()
    texts = invented("texts.jsonl", 20)
    with texts.open("a") as file:
        file.write('{"text": 3}\n')

    def go(out, most=100):
        model = str(Path(__file__).parents[1] / "assets" / "models" / "toy")
        work = ShardConfig(out=str(out), model=model, options={"beam": 1, "max_words": 4})
        job = BatchJob(
            inputs=tuple(group_inputs(find_files([str(texts)]), reading)),
            split=SplitOptions(read=reading, shard_rows=7, added_fields=work.added_fields),
            config=work,
        )

        def here(job, done):
            worker, made = ShardWorker(job.config), 0
            for source in job.inputs:
                for item in job.split_input(source, done):
                    if hasattr(item, "pieces"):
                        if made == most:
                            raise KeyboardInterrupt
                        made += 1
                        item = worker.run(item)
                    yield item

        run_batch(job, here)
        return _contents(out)

    expected = go(home / "whole")
    with pytest.raises(KeyboardInterrupt):
        go(home / "part", most=2)
    return home, go, expected


@pytest.fixture(scope="module")
def batch_artefact(batch_folders):
    home, go, expected = batch_folders
    return Artefact(home / "whole", go, expected, harmless=("",))


@pytest.fixture(scope="module")
def unfinished_batch_artefact(batch_folders):
    home, go, expected = batch_folders
    return Artefact(home / "part", go, expected, harmless=("",))


def _contents(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


ARTEFACTS = (
    "corpus_artefact",
    "unfinished_corpus_artefact",
    "model_artefact",
    "inspected_artefact",
    "run_artefact",
    "batch_artefact",
    "unfinished_batch_artefact",
)


@pytest.mark.parametrize("fault", [*FAULTS, SWAPPED])
@pytest.mark.parametrize("artefact", ARTEFACTS)
def test_damage_is_refused_or_has_no_effect(artefact, fault, request, tmp_path):
    artefact = request.getfixturevalue(artefact)
    names, wrong = artefact.names(), []
    assert names
    for number, name in enumerate(names):
        copy = Path(shutil.copytree(artefact.folder, tmp_path / "damaged" / "copy"))
        content = (copy / name).read_bytes()
        if fault == SWAPPED:
            other = copy / names[(number + 1) % len(names)]
            damaged = other.read_bytes()
            other.write_bytes(content)
        else:
            damaged = FAULTS[fault](content) if content else b"?"
        if damaged is None:
            (copy / name).unlink()
        else:
            (copy / name).write_bytes(damaged)
        outcome = artefact.outcome(copy)
        is_fine = outcome == "refused" or (
            outcome == "no effect" and name.startswith(artefact.harmless)
        )
        if not is_fine and damaged != content:
            wrong.append(f"{name}: {outcome}")
        shutil.rmtree(tmp_path / "damaged")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("num_places", [12, pytest.param(150, marks=pytest.mark.stress)])
@pytest.mark.parametrize(
    ("artefact", "name"),
    [
        ("corpus_artefact", "manifest.json"),
        ("model_artefact", "model.json"),
        ("model_artefact", "run.json"),
        ("batch_artefact", "manifest.json"),
        ("unfinished_batch_artefact", "unfinished/plan.json"),
    ],
)
def test_changed_byte_is_refused_or_has_no_effect(artefact, name, num_places, request, tmp_path):
    artefact = request.getfixturevalue(artefact)
    whole = (artefact.folder / name).read_bytes()
    step = max(1, len(whole) // num_places)
    wrong = []
    for place in range(0, len(whole), step):
        copy = Path(shutil.copytree(artefact.folder, tmp_path / "damaged" / "copy"))
        changed = whole[:place] + bytes([whole[place] ^ 1 << place % 7]) + whole[place + 1 :]
        (copy / name).write_bytes(changed)
        outcome = artefact.outcome(copy)
        if outcome not in ("refused", "no effect"):
            wrong.append(f"{changed[max(0, place - 40) : place + 20]!r}: {outcome}")
        shutil.rmtree(tmp_path / "damaged")
    assert not wrong, "\n".join(wrong)
