"""Model folders, corpora and files made to run code, read files or exhaust memory."""

import gzip
import json
import lzma
import os
import pickle
import shutil
import tracemalloc
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import pyarrow
import pytest
from onnx import TensorProto, helper, numpy_helper

from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.readers.formats import FORMATS
from readagain.corpus.shards import CorpusShard, PreparedCorpus
from readagain.engine.summarizer import Summarizer
from readagain.errors import ArtifactError, DataError
from readagain.formats import files
from readagain.formats.records import InvalidRecord
from readagain.model_dir import ModelDir
from readagain.storage.model_manifest import MANIFEST_FILE
from readagain.storage.tensors import read_tensors
from readagain.text.vocab import Vocab

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
MEGABYTE = 1 << 20
TEXT = "The harbour of Norrvik opened on Monday after a storm."


@pytest.fixture
def model(tmp_path):
    """Return a copy of a model folder."""
    return Path(shutil.copytree(TOY, tmp_path / "model"))


def put(model, name, content):
    """Replace a file of a model and update the manifest, as an attacker can."""
    (model / name).write_bytes(content)
    manifest = json.loads((model / MANIFEST_FILE).read_bytes())
    manifest["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    (model / MANIFEST_FILE).write_text(json.dumps(manifest))


@contextmanager
def within(num_bytes):
    """Check that Python allocates at most `num_bytes` more."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < num_bytes
    finally:
        tracemalloc.stop()


def records(path):
    (source,) = find_inputs([str(path)], CorpusReadOptions())
    format = FORMATS[source.format]
    blocks = format.read_blocks(source)
    return [each for block in blocks for each in format.parse_block(source, block)]


def graph_with(*nodes, initializers=(), domains=()):
    given = helper.make_tensor_value_info("source_ids", TensorProto.FLOAT, [1])
    found = helper.make_tensor_value_info("states", TensorProto.FLOAT, [1])
    graph = helper.make_graph(list(nodes), "any", [given], [found], list(initializers))
    opsets = [helper.make_opsetid("", 18), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


class TestGraphs:
    @pytest.mark.parametrize("location", ["../../../etc/passwd", "/etc/passwd", "numbers.bin"])
    def test_external_tensor_data_is_refused(self, model, location):
        tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
        add = helper.make_node("Add", ["source_ids", "w"], ["states"])
        put(model, "encoder.int8.onnx", graph_with(add, initializers=[tensor]).SerializeToString())
        with pytest.raises(ArtifactError, match="encoder: refers to external data"):
            Summarizer.load(model)

    def test_custom_operators_are_refused(self, model):
        node = helper.make_node("Run", ["source_ids"], ["states"], domain="a.stranger")
        content = graph_with(node, domains=["a.stranger"]).SerializeToString()
        put(model, "encoder.int8.onnx", content)
        with pytest.raises(ArtifactError, match=r"encoder: ONNX Runtime .* cannot load it"):
            Summarizer.load(model)

    def test_operator_that_reads_files_is_refused(self, model):
        node = helper.make_node(
            "EPContext",
            ["source_ids"],
            ["states"],
            domain="com.microsoft",
            embed_mode=0,
            ep_cache_context="/etc/passwd",
        )
        content = graph_with(node, domains=["com.microsoft"]).SerializeToString()
        put(model, "encoder.int8.onnx", content)
        with pytest.raises(ArtifactError, match=r"encoder: ONNX Runtime .* cannot load it"):
            Summarizer.load(model)

    def test_graph_with_other_inputs_is_refused(self, model):
        node = helper.make_node("Identity", ["source_ids"], ["states"])
        put(model, "encoder.int8.onnx", graph_with(node).SerializeToString())
        with pytest.raises(ArtifactError, match="encoder: unknown inputs or missing outputs"):
            Summarizer.load(model)


def as_other_type(values):
    return [("Cast", [values], {"to": TensorProto.STRING})]


def as_other_number(values):
    return [("Cast", [values], {"to": TensorProto.DOUBLE})]


def flattened(values):
    return [("Reshape", [values, "minus_one"], {})]


def nested(values):
    return [("Unsqueeze", [values, "zero"], {})]


def doubled(values):
    return [("Concat", [values, values], {"axis": 0})]


def widened(values):
    return [("Concat", [values, values], {"axis": -1})]


def emptied(values):
    return [("Slice", [values, "zero", "zero"], {})]


def as_sequence(values):
    return [("SequenceConstruct", [values], {})]


def shifted(values):
    return [("CastLike", ["huge", values], {}), ("Add", [values, "{0}"], {})]


def negated(values):
    return [("CastLike", ["huge", values], {}), ("Sub", [values, "{0}"], {})]


def not_numbers(values):
    return [("CastLike", ["nan", values], {}), ("Add", [values, "{0}"], {})]


CHANGES = (
    as_other_type, as_other_number, flattened, nested, doubled, widened, emptied, as_sequence,
    shifted, negated, not_numbers,
)  # fmt: skip


def changed_output(content, name, change):
    """Return a graph with the same names, one of whose outputs is changed by further nodes."""
    model = onnx.load_from_string(content)
    graph = model.graph
    for node in graph.node:
        for names in (node.input, node.output):
            for index, each in enumerate(names):
                if each == name:
                    names[index] = "before"
    results = []
    for operator, inputs, attributes in change("before"):
        results.append(f"changed{len(results)}")
        given = [each.format(*results) for each in inputs]
        graph.node.append(helper.make_node(operator, given, results[-1:], **attributes))
    graph.node[-1].output[0] = name
    constants = {"minus_one": [-1], "zero": [0], "huge": [1e9], "nan": [np.nan]}
    for constant, value in constants.items():
        kind = np.float32 if constant in ("huge", "nan") else np.int64
        graph.initializer.append(numpy_helper.from_array(np.array(value, kind), constant))
    (output,) = (each for each in graph.output if each.name == name)
    output.type.Clear()
    return model.SerializeToString()


class TestChangedGraphs:
    """Graphs with the right names, and wrong types, shapes or values."""

    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.parametrize("name", ["encoder.int8.onnx", "step.int8.onnx"])
    def test_changed_output_is_refused_or_used(self, model, name, change):
        whole, wrong = (model / name).read_bytes(), []
        for output in onnx.load_from_string(whole).graph.output:
            put(model, name, changed_output(whole, output.name, change))
            try:
                summary = Summarizer.load(model, threads=1).summarize(TEXT, beam=2, max_words=5)
            except ArtifactError as error:
                if "\n" in str(error) or "again" not in str(error):
                    wrong.append(f"{output.name}: {error}")
            except Exception as error:  # collected, so that all of them are seen at once
                wrong.append(f"{output.name}: {type(error).__name__}: {error}")
            else:
                words = summary.text.split()
                if len(words) > 5 or not np.isfinite(summary.score):
                    wrong.append(f"{output.name}: {summary}")
        assert not wrong, "\n".join(wrong)

    def test_nan_and_ids_outside_the_vocabulary_are_refused(self, model):
        name = "step.int8.onnx"
        whole = (model / name).read_bytes()
        for output, change in (("log_probs", not_numbers), ("ids", shifted), ("ids", negated)):
            put(model, name, changed_output(whole, output, change))
            summarizer = Summarizer.load(model, threads=1)
            with pytest.raises(ArtifactError, match=f"step: the output '{output}' has a wrong"):
                summarizer.summarize(TEXT)

    def test_other_input_type_is_refused(self, model):
        name = "encoder.int8.onnx"
        changed = onnx.load_from_string((model / name).read_bytes())
        changed.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
        put(model, name, changed.SerializeToString())
        with pytest.raises(ArtifactError, match=r"encoder: ONNX Runtime .* cannot (load|run) it"):
            Summarizer.load(model, threads=1).summarize(TEXT)

    def test_missing_input_is_refused(self, model):
        """A step that needs `ext_ids` gets them only from a graph that declares them."""
        name = "step.int8.onnx"
        changed = onnx.load_from_string((model / name).read_bytes())
        (column,) = (each for each in changed.graph.input if each.name == "columns")
        column.name = "document"
        changed.graph.input.remove(
            next(each for each in changed.graph.input if each.name == "document")
        )
        put(model, name, changed.SerializeToString())
        with pytest.raises(ArtifactError, match="step: "):
            Summarizer.load(model, threads=1).summarize(TEXT)


class TestModelFolders:
    class Trap:
        def __reduce__(self):
            return (os.mkdir, ("/tmp/readagain-was-fooled",))

    @pytest.mark.parametrize("name", ["weights.safetensors", "vocab.txt", "run.json", "model.json"])
    def test_model_files_are_never_unpickled(self, model, name):
        content = pickle.dumps(self.Trap())
        if name == MANIFEST_FILE:
            (model / name).write_bytes(content)
        else:
            put(model, name, content)
        with pytest.raises(ArtifactError):
            _ = ModelDir.open(model).tensors
        assert not Path("/tmp/readagain-was-fooled").exists()

    def test_huge_tensor_is_refused_before_allocation(self, tmp_path):
        size = 1 << 40
        entry = {"dtype": "F32", "shape": [size], "data_offsets": [0, 4 * size]}
        header = json.dumps({"a": entry}).encode()
        path = tmp_path / "weights.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        with within(MEGABYTE), pytest.raises(ArtifactError, match="not a valid safetensors file"):
            read_tensors(path)

    def test_huge_header_is_refused_before_allocation(self, tmp_path):
        path = tmp_path / "weights.safetensors"
        path.write_bytes((1 << 33).to_bytes(8, "little"))
        os.truncate(path, 1 << 34)  # a file with a hole takes no disk
        with within(MEGABYTE), pytest.raises(ArtifactError, match="not a valid safetensors file"):
            read_tensors(path)

    @pytest.mark.parametrize("name", ["vocab.txt", "run.json", MANIFEST_FILE])
    def test_huge_model_file_is_not_read(self, model, name):
        size = 10 << 30
        os.truncate(model / name, size)
        if name != MANIFEST_FILE:
            manifest = json.loads((model / MANIFEST_FILE).read_bytes())
            manifest["files"][name]["bytes"] = size
            (model / MANIFEST_FILE).write_text(json.dumps(manifest))
        with within(80 * MEGABYTE), pytest.raises(ArtifactError, match="bytes"):
            ModelDir.open(model)

    def test_huge_vocab_line_is_not_read(self, tmp_path):
        path = tmp_path / "vocab.txt"
        path.write_bytes(b"")
        os.truncate(path, 10 << 30)
        with within(140 * MEGABYTE), pytest.raises(ArtifactError, match="more than 67,108,864 byt"):
            Vocab.load(path)

    @pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b", "..", "", "a\0b"])
    def test_paths_outside_the_folder_are_refused(self, model, name):
        manifest = json.loads((model / MANIFEST_FILE).read_bytes())
        manifest["files"][name] = manifest["files"]["run.json"]
        (model / MANIFEST_FILE).write_text(json.dumps(manifest))
        with pytest.raises(ArtifactError, match="which is not a file name"):
            ModelDir.open(model)

    @pytest.mark.parametrize("name", ["vocab.txt", "run.json", "step.int8.onnx"])
    def test_symlink_reveals_nothing_of_its_target(self, model, tmp_path, name):
        """A manifest contains the checksum of the file, so its author has seen the file."""
        secret = tmp_path / "secret"
        secret.write_text("<pad>\n<unk>\n<s>\n</s>\nsesame\n")
        (model / name).unlink()
        (model / name).symlink_to(secret)
        manifest = json.loads((model / MANIFEST_FILE).read_bytes())
        manifest["files"][name]["bytes"] = secret.stat().st_size
        (model / MANIFEST_FILE).write_text(json.dumps(manifest))
        with pytest.raises(ArtifactError, match="content does not match model.json") as refusal:
            Summarizer.load(model)
        assert "sesame" not in str(refusal.value)

    @pytest.mark.parametrize("name", ["vocab.txt", MANIFEST_FILE])
    def test_pipes_and_devices_are_not_opened(self, model, name):
        for make in (os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero")):
            (model / name).unlink()
            make(model / name)
            with pytest.raises(ArtifactError, match="missing; copy|not a regular file"):
                ModelDir.open(model)


class TestCorpora:
    def test_huge_array_is_refused(self, tmp_path):
        arrays = {
            "words": np.zeros(2, np.int32),
            "segments": np.array([0, 1, 2]),
            "pairs": np.array([0, 2]),
            "origins": np.zeros(1, np.uint16),
        }
        CorpusShard(**arrays).save(tmp_path, "train", 0)
        path = tmp_path / "train-00000.words.npy"
        path.write_bytes(path.read_bytes().replace(b"(2,), }" + b" " * 12, b"(1099511627776,), }"))
        with within(MEGABYTE), pytest.raises(ArtifactError, match=r"words\.npy: cannot be mapped"):
            CorpusShard.open(tmp_path, "train", 0)

    def test_object_array_is_not_unpickled(self, tmp_path):
        CorpusShard(
            words=np.zeros(2, np.int32),
            segments=np.array([0, 1, 2]),
            pairs=np.array([0, 2]),
            origins=np.zeros(1, np.uint16),
        ).save(tmp_path, "train", 0)
        trap = np.array([TestModelFolders.Trap()], dtype=object)
        np.save(tmp_path / "train-00000.words.npy", trap, allow_pickle=True)
        with pytest.raises(ArtifactError, match=r"words\.npy: cannot be mapped"):
            CorpusShard.open(tmp_path, "train", 0)
        assert not Path("/tmp/readagain-was-fooled").exists()

    def test_pipe_as_manifest_is_refused(self, tmp_path):
        os.mkfifo(tmp_path / "manifest.json")
        with pytest.raises(ArtifactError, match="not a regular file"):
            PreparedCorpus.open(tmp_path)


class TestFiles:
    @pytest.mark.parametrize("name", ["feed.rss", "reply.json"])
    def test_large_document_is_stopped(self, tmp_path, monkeypatch, name):
        monkeypatch.setattr(files, "MAX_DOCUMENT_BYTES", 8 * MEGABYTE)
        start = b"<rss>" if "rss" in name else b'{"articles": ['
        (tmp_path / name).write_bytes(start + b" " * (64 * MEGABYTE))
        with (
            within(40 * MEGABYTE),
            pytest.raises(DataError, match="more than 8 MiB for one document; convert it to JSON"),
        ):
            records(tmp_path / name)

    @pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
    @pytest.mark.parametrize(
        ("name", "start"),
        [
            ("pairs.jsonl", b'{"text": "a", "headline": "b"}\n'),
            ("pairs.csv", b"text,headline\na,b\n"),
            ("feed.rss", b"<rss>\n"),
            ("train.article.txt", b"a\n"),
        ],
    )
    def test_decompression_bomb_of_blank_lines_is_stopped(self, tmp_path, suffix, name, start):
        path, content = tmp_path / f"{name}{suffix}", start + b"\n" * (16 * MEGABYTE)
        match suffix:
            case ".gz":
                path.write_bytes(gzip.compress(content))
            case ".xz":
                path.write_bytes(lzma.compress(content))
            case ".zst":
                path.write_bytes(pyarrow.Codec("zstd").compress(content, asbytes=True))
        (tmp_path / f"train.title.txt{suffix}").write_bytes(path.read_bytes())
        assert path.stat().st_size < 20_000
        with pytest.raises(DataError, match="expands to more than 100 times its size"):
            records(path)

    def test_long_line_is_one_invalid_record(self, tmp_path):
        first = json.dumps({"text": "A storm came.", "headline": "Storm"}).encode()
        path = tmp_path / "pairs.jsonl"
        path.write_bytes(first + b"\n" + b"a" * (64 * MEGABYTE))
        with within(8 * MEGABYTE):
            _, bad = records(path)
        assert isinstance(bad, InvalidRecord)
        assert "a line of more than 1,048,576 bytes" in bad.reason

    def test_endless_csv_row_is_stopped(self, tmp_path):
        path = tmp_path / "pairs.csv"
        path.write_bytes(b"text,headline\n" + b'"\n",' * 400_000)
        with (
            within(100 * MEGABYTE),
            pytest.raises(DataError, match=r"csv:2: a row of more than 1,048,576 bytes"),
        ):
            records(path)

    @pytest.mark.parametrize(
        "declaration",
        [
            '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]>',
            '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
            '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://example.org/b.dtd"> %b;]>',
            '<!DOCTYPE rss SYSTEM "http://example.org/rss.dtd">',
        ],
    )
    def test_xml_entities_are_refused(self, tmp_path, declaration):
        path = tmp_path / "feed.rss"
        path.write_text(f"<?xml version='1.0'?>{declaration}<rss><item>&b;</item></rss>")
        with pytest.raises(DataError, match="declares a document type, XML entities or external"):
            records(path)

    def test_deeply_nested_items_are_read_once(self, tmp_path):
        path = tmp_path / "feed.rss"
        path.write_text("<rss>" + "<item>" * 50_000 + "</item>" * 50_000 + "</rss>")
        assert len(records(path)) == 1


def test_source_uses_no_unsafe_deserialization():
    words = ("import pickle", "torch.load(", "yaml.load(", "marshal.loads", "allow_pickle=True")
    for path in (Path(__file__).parents[2] / "src" / "readagain").rglob("*.py"):
        if path.parts[-2:] == ("batch", "ray.py"):
            continue  # its own objects on their way through its own cluster, as Ray's are
        text = path.read_text(encoding="utf-8")
        assert not [word for word in words if word in text], path
