"""The model folder: whole folders open, anything else is refused with the reason."""

import json

import numpy as np
import pytest

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.config.parameters import count_parameters
from readagain.engine.folder import (
    RUN_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
    ModelDir,
)
from readagain.engine.manifest import MANIFEST_FILE, write_files
from readagain.engine.tensors import read_header, read_tensors
from readagain.errors import ArtifactError
from readagain.presets import PRESETS
from readagain.text.cases import CASES_FILE, Truecaser
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

RUN = override(
    PRESETS["tiny"],
    {
        "source_vocab_size": 7,
        "vocab_size": 6,
        "model.embedding_size": 2,
        "model.encoder.hidden_size": 2,
        "model.decoder.hidden_size": 2,
        "model.decoder.attention_size": 2,
    },
)
SOURCE_VOCAB = Vocab([*SPECIAL_TOKENS, "bridge", "old", "opens"])
VOCAB = Vocab([*SPECIAL_TOKENS, "bridge", "opens"])


def weights():
    tensors = {
        "source_embedding.weight": np.zeros((7, 2), np.float32),
        "previous_words.embedding.weight": np.zeros((6, 2), np.float32),
        "output.project.weight": np.ones((6, 2), np.float32),
    }
    rest = count_parameters(RUN) - sum(tensor.size for tensor in tensors.values())
    return {**tensors, "rest": np.arange(rest, dtype=np.float32)}


def safetensors_bytes(tensors):
    header, data = {"__metadata__": {"format": "np"}}, b""
    names = {"float32": "F32", "float16": "F16", "uint16": "BF16"}
    for name, tensor in tensors.items():
        header[name] = {
            "dtype": names[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + tensor.nbytes],
        }
        data += tensor.tobytes()
    encoded = json.dumps(header).encode()
    return len(encoded).to_bytes(8, "little") + encoded + data


def write_model(path, tensors=None):
    content = safetensors_bytes(tensors or weights())
    write_files(
        path,
        {
            RUN_FILE: lambda path: save_run(RUN, path),
            SOURCE_VOCAB_FILE: SOURCE_VOCAB.save,
            VOCAB_FILE: VOCAB.save,
            WEIGHTS_FILE: lambda path: path.write_bytes(content),
        },
    )
    return path


@pytest.fixture
def model(tmp_path):
    return write_model(tmp_path / "model")


def edit_manifest(model, **changes):
    path = model / MANIFEST_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_folder_opens_to_what_was_written(model):
    folder = ModelDir.open(model, checksums=True)
    assert folder.run == RUN
    assert (folder.source_vocab, folder.vocab) == (SOURCE_VOCAB, VOCAB)
    assert folder.tensors["output.project.weight"].shape == (6, 2)
    assert (folder.provenance, folder.scores) == ({}, {})


def test_a_folder_without_cases_opens_as_before(model):
    assert ModelDir.open(model).cases == Truecaser()


def test_a_folder_may_say_how_its_words_are_written(model):
    write_files(model, {CASES_FILE: Truecaser(["BRIDGE"]).save})
    assert ModelDir.open(model).cases.word("bridge") == "BRIDGE"


def test_cases_that_were_changed_are_refused(model):
    write_files(model, {CASES_FILE: Truecaser(["BRIDGE"]).save})
    (model / CASES_FILE).write_text("Bridge\n")
    with pytest.raises(
        ArtifactError, match=r"cases\.txt: its content is not what model\.json says"
    ):
        ModelDir.open(model)


def test_files_are_added_and_the_others_stay(model):
    write_files(model, {"step.onnx": lambda path: path.write_bytes(b"graph")})
    folder = ModelDir.open(model, checksums=True)
    assert folder.file("step.onnx", purpose="summarizing").read_bytes() == b"graph"
    assert folder.has(WEIGHTS_FILE)


def test_a_precision_is_there_when_both_its_graphs_are(model):
    def write(*names):
        write_files(model, {name: lambda path: path.write_bytes(b"graph") for name in names})

    assert ModelDir.open(model).precisions == ()
    write("encoder.int8.onnx", "encoder.float32.onnx", "step.float32.onnx")
    assert ModelDir.open(model).precisions == ("float32",)
    write("step.int8.onnx")
    assert ModelDir.open(model).precisions == ("int8", "float32")


def test_new_weights_take_outdated_graphs_away(model):
    write_files(model, {"step.onnx": lambda path: path.write_bytes(b"graph")})
    names = (RUN_FILE, SOURCE_VOCAB_FILE, VOCAB_FILE)
    contents = {name: (model / name).read_bytes() for name in names}
    writers = {n: lambda path, n=n: path.write_bytes(contents[n]) for n in names}
    write_files(model, writers, whole=True)
    assert sorted(path.name for path in model.iterdir()) == sorted([*names, MANIFEST_FILE])
    assert not ModelDir.open(model).has("step.onnx")


def test_a_model_without_weights_is_whole_until_they_are_needed(model):
    path = model / MANIFEST_FILE
    manifest = json.loads(path.read_text())
    del manifest["files"][WEIGHTS_FILE]
    path.write_text(json.dumps(manifest))
    folder = ModelDir.open(model)
    with pytest.raises(ArtifactError, match="fine-tuning needs weights.safetensors, which this"):
        folder.file(WEIGHTS_FILE, purpose="fine-tuning")


def test_a_full_disk_changes_nothing(model):
    def write_some(path):
        path.write_bytes(b"some")
        raise OSError(28, "No space left on device")

    before = {path.name: path.read_bytes() for path in model.iterdir()}
    with pytest.raises(ArtifactError, match="No space left on device; nothing in it was changed"):
        write_files(model, {RUN_FILE: lambda path: path.write_bytes(b"{}"), "b": write_some})
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_a_folder_whose_writing_was_cut_off_is_refused(model):
    (model / MANIFEST_FILE).unlink()
    with pytest.raises(ArtifactError, match="no model.json in it, so no model folder, or one"):
        ModelDir.open(model)


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ArtifactError, match="nowhere: no such folder"):
        ModelDir.open(tmp_path / "nowhere")


def test_a_newer_format_is_refused_with_the_version_to_get(model):
    edit_manifest(model, format_version=9, package_version="7.1")
    with pytest.raises(ArtifactError, match="format 9 by readagain 7.1; this one reads format 1"):
        ModelDir.open(model)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "holds a list; expected a JSON object"),
        ("{}", "no format_version in it, so not written by readagain"),
        ('{"format_version": 1}', "incomplete; was it edited by hand"),
        ('{"format_version": 1, "package_version": "1", "files": {}}', "does not name run.json"),
    ],
)
def test_a_damaged_manifest_is_refused(model, content, reason):
    (model / MANIFEST_FILE).write_text(content)
    with pytest.raises(ArtifactError, match=reason):
        ModelDir.open(model)


def test_a_manifest_cannot_point_outside(model):
    manifest = json.loads((model / MANIFEST_FILE).read_text())
    facts = manifest["files"][RUN_FILE]
    edit_manifest(model, files={**manifest["files"], "../secret": facts})
    with pytest.raises(ArtifactError, match="names '../secret', which is no file of this folder"):
        ModelDir.open(model)


def test_a_missing_file_is_named(model):
    (model / VOCAB_FILE).unlink()
    with pytest.raises(ArtifactError, match=r"vocab\.txt: missing; copy the model folder again"):
        ModelDir.open(model)


def test_a_file_cut_short_is_named(model):
    path = model / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArtifactError, match=r"weights\.safetensors: [\d,]+ bytes, model.json says"):
        ModelDir.open(model)


def test_a_changed_file_is_found_by_its_checksum(model):
    path = model / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    ModelDir.open(model)
    with pytest.raises(ArtifactError, match="its content is not what model.json says"):
        ModelDir.open(model, checksums=True)


def test_settings_this_version_does_not_know_are_refused(model):
    settings = json.loads((model / RUN_FILE).read_text())
    text = json.dumps({**settings, "future": 1})
    write_files(model, {RUN_FILE: lambda path: path.write_text(text)})
    with pytest.raises(ArtifactError, match="no setting 'future'.*cannot use the model"):
        ModelDir.open(model)


def test_a_vocabulary_of_another_size_is_refused(model):
    write_files(model, {VOCAB_FILE: Vocab([*SPECIAL_TOKENS, "bridge"]).save})
    with pytest.raises(ArtifactError, match=r"vocabulary of 6 words, vocab\.txt has 5; was vocab"):
        ModelDir.open(model)


def test_weights_for_other_words_are_refused(tmp_path):
    tensors = weights() | {"output.project.weight": np.ones((5, 2), np.float32)}
    model = write_model(tmp_path / "model", tensors)
    with pytest.raises(ArtifactError, match=r"shape \(5, 2\); expected 6 rows, one for each word"):
        ModelDir.open(model)


def test_weights_of_another_network_are_refused(tmp_path):
    tensors = weights()
    model = write_model(tmp_path / "model", tensors | {"rest": tensors["rest"][1:]})
    with pytest.raises(ArtifactError, match=r"parameters; run\.json describes a network of"):
        ModelDir.open(model)
    del tensors["output.project.weight"]
    model = write_model(tmp_path / "other", tensors)
    with pytest.raises(ArtifactError, match="no tensor 'output.project.weight'; these are other"):
        ModelDir.open(model)


def test_tensors_are_read_as_written_and_bfloat16_is_widened(tmp_path):
    path = tmp_path / "some.safetensors"
    upper_half_of_minus_two = np.array([0xC000], np.uint16)
    tensors = {"half": np.array([[1.5, 2.0]], np.float16), "brain": upper_half_of_minus_two}
    path.write_bytes(safetensors_bytes(tensors))
    read = read_tensors(path)
    np.testing.assert_array_equal(read["half"], tensors["half"])
    np.testing.assert_array_equal(read["brain"], np.array([-2.0], np.float32))


def test_a_file_without_tensors_has_none(tmp_path):
    path = tmp_path / "none.safetensors"
    path.write_bytes(safetensors_bytes({}))
    assert read_tensors(path) == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no safetensors file, or cut short"),
        (b"\x01" + bytes(7) + b"{", "its header is not JSON"),
        (b"\xff" * 20, "no safetensors file, or cut short"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "its header is not JSON"),
        (b"\x02" + bytes(7) + b"[]", "its header is no JSON object"),
        (b"\x08" + bytes(7) + b'{"a":[]}', "tensor 'a' has no type, shape and place"),
    ],
)
def test_what_is_no_safetensors_file_is_refused(tmp_path, content, reason):
    path = tmp_path / "odd.safetensors"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=reason):
        read_header(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"dtype": "U8"}, "is of type 'U8'; expected one of F32"),
        ({"dtype": []}, r"is of type \[\]; expected one of F32"),
        ({"shape": [-2, -1]}, "has a shape or place that is no size"),
        ({"shape": [0, 1 << 70], "data_offsets": [0, 0]}, "has a shape or place that is no size"),
        ({"shape": [3]}, "does not fit into the file"),
        ({"data_offsets": [8, 16]}, "does not fit into the file"),
    ],
)
def test_a_tensor_that_cannot_be_there_is_refused(tmp_path, change, reason):
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **change}
    header = json.dumps({"a": entry}).encode()
    path = tmp_path / "odd.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(ArtifactError, match=reason):
        read_header(path)


def test_a_missing_weights_file_is_named(tmp_path):
    with pytest.raises(ArtifactError, match=r"gone\.safetensors: cannot be read: No such file"):
        read_header(tmp_path / "gone.safetensors")


def test_a_changed_vocabulary_is_found_whenever_a_model_is_opened(model):
    path = model / VOCAB_FILE
    path.write_bytes(path.read_bytes().replace(b"bridge", b"fridge"))
    with pytest.raises(ArtifactError, match=r"vocab\.txt: its content is not what model.json says"):
        ModelDir.open(model)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"bytes": None, "sha256": ""}, "incomplete; was it edited by hand"),
        ({"bytes": 1}, "incomplete; was it edited by hand"),
        ({"bytes": 1, "sha256": "", "more": 1}, "incomplete; was it edited by hand"),
    ],
)
def test_a_manifest_without_sizes_is_refused(model, facts, reason):
    edit_manifest(model, files={"run.json": facts})
    with pytest.raises(ArtifactError, match=reason):
        ModelDir.open(model)


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5_000])
def test_a_manifest_beyond_all_bounds_is_refused(model, content):
    (model / MANIFEST_FILE).write_text(content)
    with pytest.raises(ArtifactError, match=r"model\.json: not JSON; was it edited by hand"):
        ModelDir.open(model)


def test_a_manifest_too_large_to_be_one_is_not_read(model, monkeypatch):
    monkeypatch.setattr("readagain.engine.manifest.MAX_OBJECT_BYTES", 9)
    with pytest.raises(ArtifactError, match=r"model\.json: cannot be read: more than 9 bytes"):
        ModelDir.open(model)
