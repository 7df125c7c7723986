"""Fuzz targets: each function of the package that reads untrusted bytes."""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from fuzzing import seeds
from fuzzing.messages import check_message
from readagain.batch.job import BatchJob, group_inputs
from readagain.batch.job_dir import JobDir
from readagain.batch.locations import find_files, open_directory
from readagain.batch.shard_worker import ShardConfig
from readagain.batch.shards import SplitOptions
from readagain.config.files import load_run, read_run_file
from readagain.corpus.lexicon import Lexicon
from readagain.corpus.manifest import FILE_NAME
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import CorpusShard, PreparedCorpus, shard_file
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.summarizer import Summarizer
from readagain.errors import DataError, ReadAgainError
from readagain.formats import texts
from readagain.formats.records import InvalidRecord
from readagain.model_dir import ModelDir
from readagain.presets import PRESETS
from readagain.rouge.files import read_texts
from readagain.storage.checksums import add_checksum
from readagain.storage.files import write_output
from readagain.storage.model_manifest import MANIFEST_FILE, write_model_files
from readagain.storage.output_dir import LocalDir
from readagain.storage.tensors import read_header, read_tensors
from readagain.text.document import read_document
from readagain.text.vocab import Vocab

Reader = Callable[[bytes], object]
RUN_IDENTITY = {"corpus fingerprint": "00", "train": {"seed": 1}}
SIDES = b"\x1e"
"""Cuts an input in two where a format has two files."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A parser with valid examples and a function that calls it with bytes.

    Args:
        seeds: what inputs are made from.
        begin: given an empty folder, returns the function that reads one input.
        weight: how many inputs it gets in a long run, beside the others.
    """

    seeds: Callable[[], list[bytes]]
    begin: Callable[[Path], Reader]
    weight: int = 4


def _reading(name: str, **options: object) -> Callable[[Path], Reader]:
    """Read a file as `readagain prepare` does: recognise it, cut it, parse every record."""

    def begin(folder: Path) -> Reader:
        path = folder / name

        def read(data: bytes) -> None:
            path.write_bytes(data)
            _exhaust([str(path)], CorpusReadOptions(**options))

        return read

    return begin


def _exhaust(arguments: list[str], options: CorpusReadOptions) -> None:
    for source in find_inputs(arguments, options):
        for block in FORMATS[source.format].read_blocks(source):
            for record in FORMATS[source.format].parse_block(source, block):
                if isinstance(record, InvalidRecord):
                    check_message(str(DataError(f"{record.where}: {record.reason}")))


def _reading_beside(texts: str, *headlines: str) -> Callable[[Path], Reader]:
    """Read parallel files; an input is cut in two, and all headline files get the second half."""

    def begin(folder: Path) -> Reader:
        def read(data: bytes) -> None:
            first, _, second = data.partition(SIDES)
            (folder / texts).write_bytes(first)
            for name in headlines:
                (folder / name).write_bytes(second)
            named = folder / headlines[0] if texts == "texts.txt" else None
            _exhaust([str(folder / texts)], CorpusReadOptions(headlines=named))

        return read

    return begin


def _reading_duc(folder: Path) -> Reader:
    """Read a document of DUC from NIST; its references are the input too."""
    document = folder / "docs" / "d30001t" / "APW19981016.0240"
    document.parent.mkdir(parents=True)

    def read(data: bytes) -> None:
        document.write_bytes(data)
        for author in "ABCD":
            (folder / f"D30001.P.10.T.{author}.{document.name}").write_bytes(data)
        _exhaust([str(folder)], CorpusReadOptions())

    return read


def _hugging_face(folder: Path) -> Reader:
    """Replace the package `datasets` by one that returns the rows of a JSON document."""
    library = ModuleType("datasets")
    sys.modules["datasets"] = library

    def read(data: bytes) -> None:
        try:
            rows = json.loads(data)
        except (ValueError, RecursionError):
            return
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        library.load_dataset = lambda *_, **__: iter(rows)
        _exhaust(["hf:anything"], CorpusReadOptions())

    return read


def _of_file(name: str, read: Callable[[Path], object]) -> Callable[[Path], Reader]:
    def begin(folder: Path) -> Reader:
        path = folder / name

        def read_bytes(data: bytes) -> None:
            path.write_bytes(data)
            read(path)

        return read_bytes

    return begin


def _records(name: str, format: texts.TextFormat) -> Callable[[Path], Reader]:
    options = texts.TextReadOptions(format=format)
    return _of_file(name, lambda path: [None for _ in texts.read_texts(path, options)])


def _streams(folder: Path) -> Reader:
    def read(data: bytes) -> None:
        for format in texts.STREAM_FORMATS:
            with _refusals():
                list(
                    texts.read_stream(
                        io.BytesIO(data), "pipe", texts.TextReadOptions(format=format)
                    )
                )

    return read


@contextmanager
def _refusals() -> Iterator[None]:
    """Check the message of a refusal, and continue."""
    try:
        yield
    except ReadAgainError as error:
        check_message(str(error))


def _shards(folder: Path) -> Reader:
    seeds.corpus(folder)

    def read(data: bytes) -> None:
        (folder / shard_file("train", 0, "words")).write_bytes(data)
        CorpusShard.open(folder, "train", 0)

    return read


def _corpus(folder: Path) -> Reader:
    seeds.corpus(folder)

    def read(data: bytes) -> None:
        (folder / FILE_NAME).write_bytes(data)
        opened = PreparedCorpus.open(folder, checksums=True)
        for split in ("train", "dev"):
            for index in range(len(opened.split(split))):
                opened.split(split)[index]
        assert opened.lexicon.words

    return read


def _model_with(name: str) -> Callable[[Path], Reader]:
    """Replace one file of a model folder, with a matching checksum in the manifest."""

    def begin(folder: Path) -> Reader:
        model = Path(shutil.copytree(seeds.MODELS / "toy", folder / "toy"))
        manifest = json.loads((model / MANIFEST_FILE).read_bytes())

        def read(data: bytes) -> None:
            (model / name).write_bytes(data)
            if name in manifest["files"]:
                facts = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
                manifest["files"][name] = facts
                (model / MANIFEST_FILE).write_text(json.dumps(manifest))
            opened = ModelDir.open(model, checksums=True)
            assert opened.scores is not None
            assert opened.provenance is not None

        return read

    return begin


def _described(name: str) -> Callable[[Path], Reader]:
    """Exchange a file of a model folder and describe the model, as `readagain models` does."""
    from readagain.cli import models

    def begin(folder: Path) -> Reader:
        model = Path(shutil.copytree(seeds.MODELS / "format-1", folder / "model"))
        manifest = json.loads((model / MANIFEST_FILE).read_bytes())

        def read(data: bytes) -> None:
            (model / name).write_bytes(data)
            facts = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
            manifest["files"][name] = facts
            (model / MANIFEST_FILE).write_text(json.dumps(manifest))
            with redirect_stdout(io.StringIO()) as printed:
                models.command(str(model))
            assert all(line.isprintable() for line in printed.getvalue().split("\n"))

        return read

    return begin


def _curves(folder: Path) -> Reader:
    from readagain.training.curves import read_curves

    def read(data: bytes) -> None:
        (folder / "metrics.jsonl").write_bytes(data)
        read_curves(folder)

    return read


def _checkpoint(folder: Path) -> Reader:
    from readagain.training.checkpoint import latest_checkpoint

    path = seeds.save_checkpoint(folder)

    def read(data: bytes) -> None:
        (path / "progress.json").write_bytes(data)
        latest_checkpoint(folder)

    return read


def _identity(folder: Path) -> Reader:
    (folder / "resume").mkdir()

    def read(data: bytes) -> None:
        (folder / "resume" / "identity.json").write_bytes(data)
        _open_run(folder, overwrite=False)

    return read


def _graph(folder: Path) -> Reader:
    encoder = (seeds.MODELS / "toy" / "encoder.int8.onnx").read_bytes()
    return lambda data: OnnxStepModel.open(encoder, data, threads=1)


def _summaries(folder: Path) -> Reader:
    summarizer = Summarizer.load(seeds.MODELS / "toy", threads=1)
    return lambda data: summarizer.summarize(
        data.decode("utf-8", "surrogateescape"), beam=2, max_words=4
    )


def _server(folder: Path) -> Reader:
    from fuzzing.server import Server

    return Server()


def _words(folder: Path) -> Reader:
    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        for word in (word for sentence in read_document(text).sentences for word in sentence):
            assert 0 <= word.start <= word.end <= len(text)

    return read


def _names(folder: Path) -> Reader:
    """Prepare files with the names that an input lists, and plan a batch job over them."""
    line = seeds.JSONL[0].partition(b"\n")[0] + b"\n"

    def read(data: bytes) -> None:
        inputs = Path(tempfile.mkdtemp(dir=folder))
        try:
            paths = []
            for name in data.split(b"\0")[:4]:
                path = inputs / os.fsdecode(name.replace(b"/", b"_")[:200] or b"_")
                with suppress(OSError):
                    path.write_bytes(line)
                    paths.append(str(path))
            with _refusals():
                sources = find_inputs(paths, CorpusReadOptions())
                prepare(sources, inputs / "corpus", PrepareSettings())
                PreparedCorpus.open(inputs / "corpus")
            with _refusals():
                _plan_batch(paths, inputs / "headlines")
        finally:
            shutil.rmtree(inputs)

    return read


def _plan_batch(paths: list[str], out: Path) -> None:
    """Read all rows of a batch job and write its identity, without summarizing."""
    reading = texts.TextReadOptions()
    work = ShardConfig(out=str(out), model=str(seeds.MODELS / "toy"))
    job = BatchJob(
        inputs=tuple(group_inputs(find_files(paths), reading)),
        split=SplitOptions(read=reading, shard_rows=2, added_fields=work.added_fields),
        config=work,
    )
    with JobDir.open(open_directory(str(out)), job.identity(), overwrite=False) as job_dir:
        assert job_dir.finished_shards() == {}
        for source in job.inputs:
            for shard in job.split_input(source, {}):
                assert len(list(shard.records())) >= 1


PLANTED = (
    ".lock", "headlines.txt.part", "unfinished", "unfinished/plan.json", "unfinished/notes", "bad",
    "resume", "resume/identity.json", "resume/unfinished", "metrics.jsonl", "tensorboard",
    ".writing", "vocab.txt", "model.json", "manifest.json", "part-00000-000000.jsonl",
    "../corpus.lock", "../corpus.unfinished", "../corpus.unfinished/corpus",
    "../corpus.unfinished/chunks",
)  # fmt: skip
"""Names in an output folder at which an input plants links."""


def _links(folder: Path) -> Reader:
    """Write outputs into a folder with symbolic links; their targets must not change.

    Each pair of bytes of an input plants a link: its name, and what it points to.
    """
    from readagain.training.metrics import MetricsLog

    pairs = folder / "pairs.jsonl"
    pairs.write_bytes(seeds.JSONL[0])
    sources = find_inputs([str(pairs)], CorpusReadOptions())

    def read(data: bytes) -> None:
        place = Path(tempfile.mkdtemp(dir=folder))
        victim, out = place / "victim", place / "out"
        (victim / "folder").mkdir(parents=True)
        out.mkdir()
        for path in (victim / "file", victim / "folder" / "plan.json"):
            path.write_bytes(b"precious")
        targets = (victim / "file", victim / "folder", victim / "new", out, Path("/dev/null"))
        for name, target in zip(data[:16:2], data[1:16:2], strict=False):
            with suppress(OSError):
                path = out / PLANTED[name % len(PLANTED)]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(targets[target % len(targets)])
        before = _tree(victim)
        writers = (
            lambda: _write_headlines(out / "headlines.txt"),
            lambda: _plan_batch([str(pairs)], out),
            lambda: _write_shard(out, overwrite=bool(data[-1:] > b"\x80")),
            lambda: _open_run(out, overwrite=True),
            lambda: MetricsLog(out, checkpoint_bytes=0, checkpoint_step=0).close(),
            lambda: write_model_files(out, {"vocab.txt": lambda path: path.write_bytes(b"new")}),
            lambda: prepare(sources, place / "corpus", PrepareSettings(), overwrite=True),
        )
        try:
            for write in writers:
                with _refusals():
                    write()
                assert _tree(victim) == before
        finally:
            shutil.rmtree(place)

    return read


def _tree(folder: Path) -> dict[str, bytes | None]:
    """Return the files and folders below a folder, with the content of files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def _write_headlines(path: Path) -> None:
    with write_output(path) as temporary:
        temporary.write_text("a headline")


def _write_shard(out: Path, *, overwrite: bool) -> None:
    identity: dict[str, Any] = {"settings": {}, "inputs": []}
    with JobDir.open(open_directory(str(out)), identity, overwrite=overwrite) as job_dir:
        for name in ("part-00000-000000.jsonl", "bad/part-00000-000000.jsonl"):
            with _refusals():
                job_dir.directory.write(name, b"{}")
        job_dir.finish([], **identity, joined_files={})


def _open_run(out: Path, *, overwrite: bool) -> None:
    from readagain.training.run_dir import RunDir

    with RunDir.open(LocalDir(out), RUN_IDENTITY, overwrite=overwrite):
        pass


TARGETS: dict[str, Target] = {
    "reader-jsonl": Target(
        seeds=lambda: seeds.JSONL, begin=_reading("pairs.jsonl", format="jsonl")
    ),
    "reader-arxiv": Target(
        seeds=lambda: seeds.JSONL[1:2], begin=_reading("a.json", format="arxiv")
    ),
    "reader-csv": Target(seeds=lambda: seeds.CSV, begin=_reading("pairs.csv")),
    "reader-tsv": Target(seeds=lambda: seeds.CSV[-1:], begin=_reading("pairs.tsv")),
    "reader-parquet": Target(seeds=seeds.parquet, begin=_reading("pairs.parquet")),
    "reader-parallel": Target(
        seeds=lambda: seeds.PARALLEL, begin=_reading_beside("texts.txt", "headlines.txt")
    ),
    "reader-gigaword": Target(
        seeds=lambda: seeds.PARALLEL, begin=_reading_beside("train.article.txt", "train.title.txt")
    ),
    "reader-duc": Target(
        seeds=lambda: seeds.PARALLEL,
        begin=_reading_beside("input.txt", "task1_ref0.txt", "task1_ref1.txt"),
    ),
    "reader-agiga": Target(
        seeds=lambda: seeds.AGIGA, begin=_reading("afp_eng_199405.xml", format="agiga")
    ),
    "reader-duc-nist": Target(seeds=lambda: seeds.DUC_DOCUMENTS, begin=_reading_duc),
    "reader-newsapi": Target(
        seeds=lambda: seeds.NEWSAPI, begin=_reading("reply.json", format="newsapi")
    ),
    "reader-feed": Target(seeds=lambda: seeds.FEEDS, begin=_reading("feed.rss")),
    "reader-huggingface": Target(
        seeds=lambda: [b"[" + line + b"]" for line in seeds.JSONL[:2]], begin=_hugging_face
    ),
    "recognise": Target(
        seeds=lambda: [*seeds.JSONL, *seeds.NEWSAPI, *seeds.FEEDS], begin=_reading("unnamed")
    ),
    "gz": Target(seeds=lambda: seeds.compressed()[".gz"], begin=_reading("pairs.jsonl.gz")),
    "xz": Target(seeds=lambda: seeds.compressed()[".xz"], begin=_reading("pairs.jsonl.xz")),
    "zst": Target(seeds=lambda: seeds.compressed()[".zst"], begin=_reading("pairs.jsonl.zst")),
    "words": Target(seeds=lambda: seeds.TEXTS, begin=_words, weight=12),
    "rouge-texts": Target(seeds=lambda: seeds.TEXTS, begin=_of_file("texts.txt", read_texts)),
    "run-file": Target(
        seeds=seeds.run_files,
        begin=_of_file("run.toml", lambda path: read_run_file(path, PRESETS)),
    ),
    "run": Target(seeds=seeds.runs, begin=_of_file("run.json", load_run)),
    "corpus-manifest": Target(seeds=seeds.corpus_manifests, begin=_corpus),
    "corpus-shard": Target(seeds=seeds.arrays, begin=_shards),
    "lexicon": Target(seeds=lambda: seeds.LEXICONS, begin=_of_file("lexicon.txt", Lexicon.load)),
    "vocab": Target(
        seeds=lambda: seeds.model_files("vocab.txt"), begin=_of_file("vocab.txt", Vocab.load)
    ),
    "model-manifest": Target(
        seeds=lambda: seeds.model_files("model.json")[-1:], begin=_model_with(MANIFEST_FILE)
    ),
    "model-run": Target(seeds=lambda: seeds.model_files("run.json"), begin=_model_with("run.json")),
    "model-vocab": Target(
        seeds=lambda: seeds.model_files("vocab.txt"), begin=_model_with("vocab.txt")
    ),
    "model-export": Target(
        seeds=lambda: seeds.model_files("export.json"), begin=_model_with("export.json")
    ),
    "model-weights": Target(
        seeds=lambda: seeds.model_files("weights.safetensors")[-1:],
        begin=_model_with("weights.safetensors"),
    ),
    "tensors": Target(
        seeds=seeds.small_tensors,
        begin=_of_file("some.safetensors", lambda path: (read_header(path), read_tensors(path))),
    ),
    "model-graph": Target(
        seeds=lambda: seeds.model_files("step.int8.onnx"), begin=_graph, weight=1
    ),
    "records-text": Target(seeds=lambda: seeds.TEXTS, begin=_records("a.txt", "text")),
    "records-lines": Target(seeds=lambda: seeds.TEXTS, begin=_records("a.txt", "lines")),
    "records-jsonl": Target(seeds=lambda: seeds.JSONL, begin=_records("a.jsonl", "jsonl")),
    "records-csv": Target(seeds=lambda: seeds.CSV, begin=_records("a.csv", "csv")),
    "records-parquet": Target(seeds=seeds.parquet, begin=_records("a.parquet", "parquet")),
    "records-pipe": Target(seeds=lambda: [*seeds.TEXTS, *seeds.JSONL], begin=_streams),
    "requests": Target(seeds=lambda: seeds.REQUESTS, begin=_server, weight=1),
    "models": Target(
        seeds=lambda: seeds.model_files("provenance.json"), begin=_described("provenance.json")
    ),
    "models-scores": Target(
        seeds=lambda: seeds.model_files("scores.json"), begin=_described("scores.json")
    ),
    "curves": Target(seeds=lambda: seeds.METRICS, begin=_curves),
    "checkpoint": Target(seeds=seeds.checkpoints, begin=_checkpoint),
    "run-identity": Target(
        seeds=lambda: [json.dumps(add_checksum(RUN_IDENTITY)).encode()], begin=_identity
    ),
    "names": Target(seeds=lambda: seeds.NAMES, begin=_names, weight=1),
    "links": Target(seeds=lambda: seeds.LINKS, begin=_links, weight=1),
    "summaries": Target(seeds=lambda: seeds.TEXTS, begin=_summaries, weight=1),
}
