"""Damaged files (truncated, changed, emptied, removed, swapped) are rejected or have no effect.

The tests damage every file of every artifact in every way, then use the artifact. Damage of a file
that the result depends on must lead to a one-line error. Damage of another file may also have no
effect.
"""

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from folder_files import read_files
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
from readagain.formats.texts import TextReadOptions
from readagain.model_dir import ModelDir
from readagain.training.job import TrainingJob
from readagain.training.loop import train
from readagain.training.trainer import Trainer

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parents[1] / "assets" / "models"
ALL_FILES = ("",)  # prefix of the names of all files
TEXT = "The harbour of Norrvik opened on Monday after a storm."


def _flip_bit(content: bytes, index: int) -> bytes:
    return content[:index] + bytes([content[index] ^ 4]) + content[index + 1 :]


# Functions from the content of a file to its damaged content, or None for a removed file.
DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "emptied": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "bit in first byte": lambda content: _flip_bit(content, 0),
    "bit in middle byte": lambda content: _flip_bit(content, len(content) // 2),
    "bit in last byte": lambda content: _flip_bit(content, len(content) - 1),
    "removed": lambda content: None,
}
SWAPPED = "swapped with the next file"


@dataclass(frozen=True)
class Artifact:
    """A folder that a command reads or resumes.

    Args:
        folder: the undamaged folder.
        use: reads or resumes a copy of the folder and returns the result.
        expected: the result for the undamaged folder.
        harmless_prefixes: starts of the names of files that the result does not depend on.
    """

    folder: Path
    use: Callable[[Path], object]
    expected: object
    harmless_prefixes: tuple[str, ...]

    def names(self) -> list[str]:
        """Return the names of all files below the folder."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return [str(path.relative_to(self.folder)) for path in files]

    def use_damaged(self, folder: Path) -> str:
        """Use a damaged copy and describe the outcome."""
        try:
            result = self.use(folder)
        except ReadAgainError as error:
            return "rejected" if "\n" not in str(error) else f"several lines: {error}"
        except Exception as error:  # described, so that the test reports all failures at once
            return f"{type(error).__name__}: {error}"
        return "no effect" if result == self.expected else "another result"


@pytest.fixture(scope="module")
def corpus_artifact(corpus):
    def read_pairs(split):
        pairs = (split[index] for index in range(len(split)))
        return [
            [segment.tolist() for segment in (*sentences, summary)] for sentences, summary in pairs
        ]

    def use(folder):
        opened = PreparedCorpus.open(folder, checksums=True)
        pairs = [read_pairs(opened.split(name)) for name in ("train", "dev", "test")]
        return pairs, opened.lexicon.words, list(opened.texts("dev")), opened.manifest.fingerprint

    return Artifact(corpus, use, use(corpus), harmless_prefixes=("manifest.json",))


@pytest.fixture(scope="module")
def model_artifact():
    model = MODELS / "toy"

    def use(folder):
        return Summarizer.load(folder, threads=1).summarize(TEXT, beam=2, max_words=5)

    harmless = ("weights", "export.json", "encoder.float32", "step.float32", "model.json")
    return Artifact(model, use, use(model), harmless_prefixes=harmless)


@pytest.fixture(scope="module")
def model_dir_artifact():
    """A model directory of which all files are read, not only those for summarizing."""
    model = MODELS / "format-1"

    def use(folder):
        opened = ModelDir.open(folder, checksums=True)
        return opened.run, opened.vocab, opened.source_vocab, opened.tensors, opened.scores

    return Artifact(model, use, use(model), harmless_prefixes=("model.json",))


@pytest.fixture(scope="module")
def unfinished_corpus_artifact(tmp_path_factory, write_invented_pairs):
    """The working directory of a preparation that was interrupted after two chunks."""
    home = tmp_path_factory.mktemp("unfinished")
    sources = find_inputs([str(write_invented_pairs("pairs.jsonl", 60))], CorpusReadOptions())
    settings = PrepareSettings(dev=SplitSize(pairs=9))
    saved = []

    def save_two_chunks(*arguments):
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(arguments)
        return chunks.save_chunk(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_RECORDS", 16)
        prepare(sources, home / "uninterrupted", settings)
        patch.setattr(workers, "save_chunk", save_two_chunks)
        with pytest.raises(KeyboardInterrupt):
            prepare(sources, home / "out", settings)

    def use(folder):
        out = folder.with_name("out")
        shutil.rmtree(out, ignore_errors=True)
        folder.rename(unfinished_dir(out))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "BLOCK_RECORDS", 16)
            prepare(sources, out, settings)
        return read_files(out)

    expected = read_files(home / "uninterrupted")
    return Artifact(unfinished_dir(home / "out"), use, expected, harmless_prefixes=ALL_FILES)


@pytest.fixture(scope="module")
def run_artifact(tmp_path_factory, corpus, small_run):
    """The directory of a training run that was interrupted between two checkpoints."""
    home = tmp_path_factory.mktemp("run")
    changes = (*small_run, "train.epochs=1", "train.validate_every=5", "train.rouge_pairs=2")
    real_update, calls = Trainer.update, []

    def interrupt_after_12_updates(trainer):
        calls.append(trainer)
        if len(calls) > 12:
            raise KeyboardInterrupt
        return real_update(trainer)

    def run_training(out):
        threads = torch.get_num_threads()
        job = TrainingJob(preset="tiny", data=corpus, out=out, changes=changes)
        try:
            train(job, device_name="cpu", threads=1, console=Console(file=io.StringIO()))
        finally:
            torch.set_num_threads(threads)
        return (out / "weights.safetensors").read_bytes(), (out / "scores.json").read_bytes()

    expected = run_training(home / "uninterrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "update", interrupt_after_12_updates)
        with pytest.raises(KeyboardInterrupt):
            run_training(home / "out")
    # Logs do not change the weights, and the resumed run writes the files of the model again.
    harmless = (
        "metrics", "tensorboard", ".lock", "MODEL_CARD", "cases", "model.json", "provenance",
        "run.json", "scores", "source_vocab", "vocab", "weights",
    )  # fmt: skip
    return Artifact(home / "out", run_training, expected, harmless_prefixes=harmless)


@pytest.fixture(scope="module")
def batch_folders(tmp_path_factory, write_invented_pairs):
    """The folder of a finished batch job, and that of a job that was interrupted after two shards.

    Also returns the function that runs the job, and the expected files.
    """
    home = tmp_path_factory.mktemp("batch")
    read_options = TextReadOptions()
    texts = write_invented_pairs("texts.jsonl", 20)
    with texts.open("a") as file:
        file.write('{"text": 3}\n')

    def run_job(out, max_shards=100):
        config = ShardConfig(
            out=str(out), model=str(MODELS / "toy"), options={"beam": 1, "max_words": 4}
        )
        job = BatchJob(
            inputs=tuple(group_inputs(find_files([str(texts)]), read_options)),
            split=SplitOptions(read=read_options, shard_rows=7, added_fields=config.added_fields),
            config=config,
        )

        def run_shards(job, finished_shards):
            """Summarize the shards in this process."""
            worker, num_done = ShardWorker(job.config), 0
            for source in job.inputs:
                for item in job.split_input(source, finished_shards):
                    if hasattr(item, "pieces"):  # a shard that is not finished
                        if num_done == max_shards:
                            raise KeyboardInterrupt
                        num_done += 1
                        item = worker.run(item)
                    yield item

        run_batch(job, run_shards)
        return read_files(out)

    expected = run_job(home / "finished")
    with pytest.raises(KeyboardInterrupt):
        run_job(home / "unfinished", max_shards=2)
    return home, run_job, expected


@pytest.fixture(scope="module")
def batch_artifact(batch_folders):
    home, run_job, expected = batch_folders
    return Artifact(home / "finished", run_job, expected, harmless_prefixes=ALL_FILES)


@pytest.fixture(scope="module")
def unfinished_batch_artifact(batch_folders):
    home, run_job, expected = batch_folders
    return Artifact(home / "unfinished", run_job, expected, harmless_prefixes=ALL_FILES)


ARTIFACTS = (
    "corpus_artifact",
    "unfinished_corpus_artifact",
    "model_artifact",
    "model_dir_artifact",
    "run_artifact",
    "batch_artifact",
    "unfinished_batch_artifact",
)


@pytest.mark.parametrize("damage", [*DAMAGES, SWAPPED])
@pytest.mark.parametrize("artifact", ARTIFACTS)
def test_damage_is_rejected_or_has_no_effect(artifact, damage, request, tmp_path):
    artifact = request.getfixturevalue(artifact)
    names, failures = artifact.names(), []
    assert names
    for index, name in enumerate(names):
        copy = Path(shutil.copytree(artifact.folder, tmp_path / "damaged" / "copy"))
        content = (copy / name).read_bytes()
        if damage == SWAPPED:
            next_file = copy / names[(index + 1) % len(names)]
            damaged = next_file.read_bytes()
            next_file.write_bytes(content)
        else:
            damaged = DAMAGES[damage](content) if content else b"?"
        if damaged is None:
            (copy / name).unlink()
        else:
            (copy / name).write_bytes(damaged)
        is_harmless = name.startswith(artifact.harmless_prefixes) or damaged == content
        outcome = artifact.use_damaged(copy)
        if outcome != "rejected" and not (outcome == "no effect" and is_harmless):
            failures.append(f"{name}: {outcome}")
        shutil.rmtree(tmp_path / "damaged")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("num_positions", [12, pytest.param(150, marks=pytest.mark.stress)])
@pytest.mark.parametrize(
    ("artifact", "name"),
    [
        ("corpus_artifact", "manifest.json"),
        ("model_artifact", "model.json"),
        ("model_artifact", "run.json"),
        ("batch_artifact", "manifest.json"),
        ("unfinished_batch_artifact", "unfinished/plan.json"),
    ],
)
def test_changed_byte_is_rejected_or_has_no_effect(
    artifact, name, num_positions, request, tmp_path
):
    artifact = request.getfixturevalue(artifact)
    content = (artifact.folder / name).read_bytes()
    failures = []
    for position in range(0, len(content), max(1, len(content) // num_positions)):
        copy = Path(shutil.copytree(artifact.folder, tmp_path / "damaged" / "copy"))
        changed_byte = content[position] ^ 1 << position % 7
        changed = content[:position] + bytes([changed_byte]) + content[position + 1 :]
        (copy / name).write_bytes(changed)
        outcome = artifact.use_damaged(copy)
        if outcome not in ("rejected", "no effect"):
            failures.append(f"{changed[max(0, position - 40) : position + 20]!r}: {outcome}")
        shutil.rmtree(tmp_path / "damaged")
    assert not failures, "\n".join(failures)
