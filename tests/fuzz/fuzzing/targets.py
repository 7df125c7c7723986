"""Fuzz targets: the functions of the package that read untrusted bytes."""

import io
import json
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from fuzzing import seed_inputs
from fuzzing.messages import check_message, checked_errors
from fuzzing.output_targets import (
    RUN_IDENTITY,
    make_file_name_reader,
    make_link_reader,
    open_run_dir,
)
from readagain.config.files import load_run, load_run_file
from readagain.corpus.lexicon import Lexicon
from readagain.corpus.manifest import FILE_NAME
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.shards import CorpusShard, PreparedCorpus, shard_file
from readagain.engine.confidence import FEATURES, ConfidenceModel
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.summarizer import Summarizer
from readagain.errors import DataError
from readagain.formats import texts
from readagain.formats.records import InvalidRecord
from readagain.model_dir import CASES_FILE, CONFIDENCE_FILE, ModelDir
from readagain.presets import PRESETS
from readagain.rouge.files import read_text_lines
from readagain.storage.checksums import add_checksum
from readagain.storage.model_manifest import MANIFEST_FILE
from readagain.storage.tensors import read_header, read_tensors
from readagain.text.document import read_document
from readagain.text.vocab import Vocab

InputReader = Callable[[bytes], object]
"""Function that reads one input."""
ReaderFactory = Callable[[Path], InputReader]
"""Function that sets up a target in an empty folder and returns its reader."""


@dataclass(frozen=True)
class Target:
    """A function to fuzz."""

    seed_inputs: Callable[[], list[bytes]]
    """Function that returns the valid inputs that are mutated."""
    make_reader: ReaderFactory
    weight: int = 4
    """Relative number of inputs; lower for slow targets."""


def _corpus_reader(name: str, **options: object) -> ReaderFactory:
    """Return a reader factory for a corpus file with this name."""

    def make_reader(folder: Path) -> InputReader:
        path = folder / name

        def read(data: bytes) -> None:
            path.write_bytes(data)
            _read_corpus([str(path)], CorpusReadOptions(**options))

        return read

    return make_reader


def _read_corpus(arguments: list[str], options: CorpusReadOptions) -> None:
    """Read all records of corpus files, as `readagain prepare` does."""
    for source in find_inputs(arguments, options):
        for block in FORMATS[source.format].read_blocks(source):
            for record in FORMATS[source.format].parse_block(source, block):
                if isinstance(record, InvalidRecord):
                    check_message(str(DataError(f"{record.where}: {record.reason}")))


def _parallel_reader(texts_name: str, *headline_names: str) -> ReaderFactory:
    """Return a reader factory for a file of texts and line-aligned files of headlines.

    An input contains the texts, `FILE_SEPARATOR` and the headlines. All headline files are equal.
    """

    def make_reader(folder: Path) -> InputReader:
        def read(data: bytes) -> None:
            text_content, _, headline_content = data.partition(seed_inputs.FILE_SEPARATOR)
            (folder / texts_name).write_bytes(text_content)
            for name in headline_names:
                (folder / name).write_bytes(headline_content)
            # The other names of text files imply the names of the headline files.
            headlines = folder / headline_names[0] if texts_name == "texts.txt" else None
            _read_corpus([str(folder / texts_name)], CorpusReadOptions(headlines=headlines))

        return read

    return make_reader


def _make_duc_nist_reader(folder: Path) -> InputReader:
    """Read each input as a document of DUC and as its four references."""
    document = folder / "docs" / "d30001t" / "APW19981016.0240"
    document.parent.mkdir(parents=True)

    def read(data: bytes) -> None:
        document.write_bytes(data)
        for author in "ABCD":
            (folder / f"D30001.P.10.T.{author}.{document.name}").write_bytes(data)
        _read_corpus([str(folder)], CorpusReadOptions())

    return read


def _make_huggingface_reader(folder: Path) -> InputReader:
    """Replace the package `datasets` by one that returns the rows of a JSON document."""
    datasets = ModuleType("datasets")
    sys.modules["datasets"] = datasets

    def read(data: bytes) -> None:
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return
        items = document if isinstance(document, list) else []
        rows = [item for item in items if isinstance(item, dict)]
        datasets.load_dataset = lambda *_, **__: iter(rows)
        _read_corpus(["hf:anything"], CorpusReadOptions())

    return read


def _file_reader(name: str, read_file: Callable[[Path], object]) -> ReaderFactory:
    """Return a reader factory for a file with this name; `read_file` reads it."""

    def make_reader(folder: Path) -> InputReader:
        path = folder / name

        def read(data: bytes) -> None:
            path.write_bytes(data)
            read_file(path)

        return read

    return make_reader


def _texts_reader(name: str, format: texts.TextFormat) -> ReaderFactory:
    """Return a reader factory for a file of texts to summarize."""
    options = texts.TextReadOptions(format=format)
    return _file_reader(name, lambda path: list(texts.read_texts(path, options)))


def _make_stream_reader(folder: Path) -> InputReader:
    """Read each input as a stream of texts to summarize, in every format."""

    def read(data: bytes) -> None:
        for format in texts.STREAM_FORMATS:
            options = texts.TextReadOptions(format=format)
            with checked_errors():
                list(texts.read_stream(io.BytesIO(data), "pipe", options))

    return read


def _make_shard_reader(folder: Path) -> InputReader:
    seed_inputs.write_corpus(folder)

    def read(data: bytes) -> None:
        (folder / shard_file("train", 0, "words")).write_bytes(data)
        CorpusShard.open(folder, "train", 0)

    return read


def _make_corpus_manifest_reader(folder: Path) -> InputReader:
    seed_inputs.write_corpus(folder)

    def read(data: bytes) -> None:
        (folder / FILE_NAME).write_bytes(data)
        corpus = PreparedCorpus.open(folder, checksums=True)
        for name in ("train", "dev"):
            split = corpus.split(name)
            for index in range(len(split)):
                split[index]
        assert corpus.lexicon.words

    return read


def _model_file_reader(name: str) -> ReaderFactory:
    """Return a reader factory for the file `name` of a model directory."""

    def make_reader(folder: Path) -> InputReader:
        replace_file = _model_file_writer("toy", name, folder)

        def read(data: bytes) -> None:
            model = ModelDir.open(replace_file(data), checksums=True)
            assert model.scores is not None
            assert model.provenance is not None

        return read

    return make_reader


def _make_confidence_reader(folder: Path) -> InputReader:
    """Read each input as the confidence of a model, and compute the confidence of a headline."""
    replace_file = _model_file_writer("toy", CONFIDENCE_FILE, folder)

    def read(data: bytes) -> None:
        model = ModelDir.open(replace_file(data))
        confidence = ConfidenceModel.parse(model.confidence, CONFIDENCE_FILE)
        assert 0 <= confidence.confidence(dict.fromkeys(FEATURES, 2.5)) <= 1

    return read


def _models_command_reader(name: str) -> ReaderFactory:
    """Return a reader factory that runs `readagain models`; inputs replace the file `name`."""
    from readagain.cli import models

    def make_reader(folder: Path) -> InputReader:
        replace_file = _model_file_writer("format-1", name, folder)

        def read(data: bytes) -> None:
            with redirect_stdout(io.StringIO()) as stdout:
                models.command(str(replace_file(data)))
            assert all(line.isprintable() for line in stdout.getvalue().split("\n"))

        return read

    return make_reader


def _model_file_writer(model: str, name: str, folder: Path) -> Callable[[bytes], Path]:
    """Copy a model to `folder` and return a function that replaces one of its files.

    The function also updates the checksum in the manifest, and returns the model directory.
    """
    path = Path(shutil.copytree(seed_inputs.MODELS / model, folder / model))
    manifest = json.loads((path / MANIFEST_FILE).read_bytes())

    def replace_file(data: bytes) -> Path:
        (path / name).write_bytes(data)
        if name != MANIFEST_FILE:
            manifest["files"][name] = {"bytes": len(data), "sha256": sha256(data).hexdigest()}
            (path / MANIFEST_FILE).write_text(json.dumps(manifest))
        return path

    return replace_file


def _make_curves_reader(folder: Path) -> InputReader:
    from readagain.training.metrics import read_curves

    def read(data: bytes) -> None:
        (folder / "metrics.jsonl").write_bytes(data)
        read_curves(folder)

    return read


def _make_checkpoint_reader(folder: Path) -> InputReader:
    from readagain.training.checkpoint import latest_checkpoint

    path = seed_inputs.save_checkpoint(folder)

    def read(data: bytes) -> None:
        (path / "progress.json").write_bytes(data)
        latest_checkpoint(folder)

    return read


def _make_run_identity_reader(folder: Path) -> InputReader:
    (folder / "resume").mkdir()

    def read(data: bytes) -> None:
        (folder / "resume" / "identity.json").write_bytes(data)
        open_run_dir(folder, overwrite=False)

    return read


def _make_graph_reader(folder: Path) -> InputReader:
    """Read each input as the decoder graph of a model; the encoder graph is valid."""
    encoder = (seed_inputs.MODELS / "toy" / "encoder.int8.onnx").read_bytes()
    return lambda data: OnnxStepModel.open(encoder, data, threads=1)


def _make_summarizer(folder: Path) -> InputReader:
    summarizer = Summarizer.load(seed_inputs.MODELS / "toy", threads=1)
    return lambda data: summarizer.summarize(
        data.decode("utf-8", "surrogateescape"), beam=2, max_words=4
    )


def _request_sender(path: str, result_field: str) -> ReaderFactory:
    """Return a reader factory that sends each input to this path of the server."""

    def make_reader(folder: Path) -> InputReader:
        from fuzzing.server_target import RequestSender

        return RequestSender(path, result_field)

    return make_reader


def _tokenize(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for sentence in read_document(text).sentences:
        for token in sentence:
            assert 0 <= token.start <= token.end <= len(text)


TARGETS: dict[str, Target] = {
    "reader-jsonl": Target(
        lambda: seed_inputs.JSONL, _corpus_reader("pairs.jsonl", format="jsonl")
    ),
    "reader-arxiv": Target(
        lambda: seed_inputs.JSONL[1:2], _corpus_reader("a.json", format="arxiv")
    ),
    "reader-csv": Target(lambda: seed_inputs.CSV, _corpus_reader("pairs.csv")),
    "reader-tsv": Target(lambda: seed_inputs.CSV[-1:], _corpus_reader("pairs.tsv")),
    "reader-parquet": Target(seed_inputs.parquet_files, _corpus_reader("pairs.parquet")),
    "reader-parallel": Target(
        lambda: seed_inputs.PARALLEL, _parallel_reader("texts.txt", "headlines.txt")
    ),
    "reader-gigaword": Target(
        lambda: seed_inputs.PARALLEL, _parallel_reader("train.article.txt", "train.title.txt")
    ),
    "reader-duc": Target(
        lambda: seed_inputs.PARALLEL,
        _parallel_reader("input.txt", "task1_ref0.txt", "task1_ref1.txt"),
    ),
    "reader-agiga": Target(
        lambda: seed_inputs.AGIGA, _corpus_reader("afp_eng_199405.xml", format="agiga")
    ),
    "reader-duc-nist": Target(lambda: seed_inputs.DUC_DOCUMENTS, _make_duc_nist_reader),
    "reader-newsapi": Target(
        lambda: seed_inputs.NEWSAPI, _corpus_reader("reply.json", format="newsapi")
    ),
    "reader-feed": Target(lambda: seed_inputs.FEEDS, _corpus_reader("feed.rss")),
    "reader-huggingface": Target(
        lambda: [b"[" + line + b"]" for line in seed_inputs.JSONL[:2]], _make_huggingface_reader
    ),
    "detect-format": Target(
        lambda: [*seed_inputs.JSONL, *seed_inputs.NEWSAPI, *seed_inputs.FEEDS],
        _corpus_reader("unnamed"),
    ),
    "gz": Target(lambda: seed_inputs.compressed_files()[".gz"], _corpus_reader("pairs.jsonl.gz")),
    "xz": Target(lambda: seed_inputs.compressed_files()[".xz"], _corpus_reader("pairs.jsonl.xz")),
    "zst": Target(
        lambda: seed_inputs.compressed_files()[".zst"], _corpus_reader("pairs.jsonl.zst")
    ),
    "tokenizer": Target(lambda: seed_inputs.TEXTS, lambda folder: _tokenize, weight=12),
    "rouge-texts": Target(lambda: seed_inputs.TEXTS, _file_reader("texts.txt", read_text_lines)),
    "run-file": Target(
        seed_inputs.run_files, _file_reader("run.toml", lambda path: load_run_file(path, PRESETS))
    ),
    "run": Target(seed_inputs.resolved_runs, _file_reader("run.json", load_run)),
    "corpus-manifest": Target(seed_inputs.corpus_manifests, _make_corpus_manifest_reader),
    "corpus-shard": Target(seed_inputs.npy_arrays, _make_shard_reader),
    "lexicon": Target(lambda: seed_inputs.LEXICONS, _file_reader("lexicon.txt", Lexicon.load)),
    "vocab": Target(
        lambda: seed_inputs.model_files("vocab.txt"), _file_reader("vocab.txt", Vocab.load)
    ),
    "model-manifest": Target(
        lambda: seed_inputs.model_files("model.json")[-1:], _model_file_reader(MANIFEST_FILE)
    ),
    "model-run": Target(
        lambda: seed_inputs.model_files("run.json"), _model_file_reader("run.json")
    ),
    "model-vocab": Target(
        lambda: seed_inputs.model_files("vocab.txt"), _model_file_reader("vocab.txt")
    ),
    "model-export": Target(
        lambda: seed_inputs.model_files("export.json"), _model_file_reader("export.json")
    ),
    "model-cases": Target(lambda: seed_inputs.CASES, _model_file_reader(CASES_FILE)),
    "model-confidence": Target(lambda: seed_inputs.CONFIDENCE, _make_confidence_reader),
    "model-weights": Target(
        lambda: seed_inputs.model_files("weights.safetensors")[-1:],
        _model_file_reader("weights.safetensors"),
    ),
    "tensors": Target(
        seed_inputs.safetensors_files,
        _file_reader("some.safetensors", lambda path: (read_header(path), read_tensors(path))),
    ),
    "model-graph": Target(
        lambda: seed_inputs.model_files("step.int8.onnx"), _make_graph_reader, weight=1
    ),
    "texts-whole-file": Target(lambda: seed_inputs.TEXTS, _texts_reader("a.txt", "text")),
    "texts-html": Target(lambda: seed_inputs.HTML, _texts_reader("a.html", "text"), weight=1),
    "texts-lines": Target(lambda: seed_inputs.TEXTS, _texts_reader("a.txt", "lines")),
    "texts-jsonl": Target(lambda: seed_inputs.JSONL, _texts_reader("a.jsonl", "jsonl")),
    "texts-csv": Target(lambda: seed_inputs.CSV, _texts_reader("a.csv", "csv")),
    "texts-parquet": Target(seed_inputs.parquet_files, _texts_reader("a.parquet", "parquet")),
    "texts-stream": Target(lambda: [*seed_inputs.TEXTS, *seed_inputs.JSONL], _make_stream_reader),
    "server": Target(
        lambda: seed_inputs.REQUESTS, _request_sender("/v1/summarize", "results"), weight=1
    ),
    "server-chat": Target(
        lambda: seed_inputs.CHATS, _request_sender("/v1/chat/completions", "choices"), weight=1
    ),
    "models-provenance": Target(
        lambda: seed_inputs.model_files("provenance.json"),
        _models_command_reader("provenance.json"),
    ),
    "models-scores": Target(
        lambda: seed_inputs.model_files("scores.json"), _models_command_reader("scores.json")
    ),
    "curves": Target(lambda: seed_inputs.METRICS, _make_curves_reader),
    "checkpoint": Target(seed_inputs.checkpoint_states, _make_checkpoint_reader),
    "run-identity": Target(
        lambda: [json.dumps(add_checksum(RUN_IDENTITY)).encode()], _make_run_identity_reader
    ),
    "file-names": Target(lambda: seed_inputs.FILE_NAMES, make_file_name_reader, weight=1),
    "symbolic-links": Target(lambda: seed_inputs.LINKS, make_link_reader, weight=1),
    "summarizer": Target(lambda: seed_inputs.TEXTS, _make_summarizer, weight=1),
}
