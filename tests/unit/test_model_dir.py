"""Model folder: complete folders open, others are refused with a reason."""

import json

import numpy as np
import pytest

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.errors import ArtifactError
from readagain.model_dir import (
    RUN_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
    ModelDir,
    check_new_dir,
)
from readagain.presets import PRESETS
from readagain.storage.model_manifest import MANIFEST_FILE, write_model_files
from readagain.storage.tensors import read_header, read_tensors
from readagain.text.truecasing import CASES_FILE, Truecaser
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
    return {
        "source_embedding.weight": np.zeros((7, 2), np.float32),
        "previous_words.embedding.weight": np.zeros((6, 2), np.float32),
        "output.project.weight": np.ones((6, 2), np.float32),
    }


def safetensors_bytes(tensors):
    header, data = {"__metadata__": {"format": "np"}}, b""
    names = {"float32": "F32", "float16": "F16"}
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
    write_model_files(
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


def test_open_returns_what_was_written(model):
    folder = ModelDir.open(model, checksums=True)
    assert folder.run == RUN
    assert (folder.source_vocab, folder.vocab) == (SOURCE_VOCAB, VOCAB)
    assert folder.tensors["output.project.weight"].shape == (6, 2)
    assert (folder.provenance, folder.scores) == ({}, {})


def test_open_accepts_folder_without_cases(model):
    assert ModelDir.open(model).truecaser == Truecaser()


def test_open_reads_cases(model):
    write_model_files(model, {CASES_FILE: Truecaser(["BRIDGE"]).save})
    assert ModelDir.open(model).truecaser.spelling("bridge") == "BRIDGE"


def test_open_refuses_changed_cases(model):
    write_model_files(model, {CASES_FILE: Truecaser(["BRIDGE"]).save})
    (model / CASES_FILE).write_text("Bridge\n")
    with pytest.raises(ArtifactError, match=r"cases\.txt: content does not match model\.json"):
        ModelDir.open(model)


def test_write_adds_files_and_keeps_others(model):
    write_model_files(model, {"step.onnx": lambda path: path.write_bytes(b"graph")})
    folder = ModelDir.open(model, checksums=True)
    assert folder.file("step.onnx", purpose="summarizing").read_bytes() == b"graph"
    assert folder.has(WEIGHTS_FILE)


def test_precisions_need_both_graphs(model):
    def write(*names):
        write_model_files(model, {name: lambda path: path.write_bytes(b"graph") for name in names})

    assert ModelDir.open(model).precisions == ()
    write("encoder.int8.onnx", "encoder.float32.onnx", "step.float32.onnx")
    assert ModelDir.open(model).precisions == ("float32",)
    write("step.int8.onnx")
    assert ModelDir.open(model).precisions == ("int8", "float32")


def test_replace_all_removes_outdated_files(model):
    write_model_files(model, {"step.onnx": lambda path: path.write_bytes(b"graph")})
    names = (RUN_FILE, SOURCE_VOCAB_FILE, VOCAB_FILE)
    contents = {name: (model / name).read_bytes() for name in names}
    writers = {n: lambda path, n=n: path.write_bytes(contents[n]) for n in names}
    write_model_files(model, writers, replace_all=True)
    assert sorted(path.name for path in model.iterdir()) == sorted([*names, MANIFEST_FILE])
    assert not ModelDir.open(model).has("step.onnx")


def test_open_accepts_model_without_weights(model):
    path = model / MANIFEST_FILE
    manifest = json.loads(path.read_text())
    del manifest["files"][WEIGHTS_FILE]
    path.write_text(json.dumps(manifest))
    folder = ModelDir.open(model)
    with pytest.raises(ArtifactError, match="fine-tuning needs weights.safetensors, which this"):
        folder.file(WEIGHTS_FILE, purpose="fine-tuning")


def test_write_on_full_disk_changes_nothing(model):
    def write_some(path):
        path.write_bytes(b"some")
        raise OSError(28, "No space left on device")

    before = {path.name: path.read_bytes() for path in model.iterdir()}
    with pytest.raises(ArtifactError, match="No space left on device; nothing in it was changed"):
        write_model_files(model, {RUN_FILE: lambda path: path.write_bytes(b"{}"), "b": write_some})
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_open_refuses_folder_without_manifest(model):
    (model / MANIFEST_FILE).unlink()
    with pytest.raises(ArtifactError, match="no model.json; this is not a model folder, or its"):
        ModelDir.open(model)


def test_open_refuses_missing_folder(tmp_path):
    with pytest.raises(ArtifactError, match="nowhere: no such folder"):
        ModelDir.open(tmp_path / "nowhere")


def test_open_refuses_newer_format(model):
    edit_manifest(model, format_version=9, package_version="7.1")
    with pytest.raises(
        ArtifactError, match="format 9 by readagain 7.1; this version reads format 1"
    ):
        ModelDir.open(model)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "contains a list; expected a JSON object"),
        ("{}", "no format_version; it was not written by readagain"),
        ('{"format_version": 1}', "incomplete; was it edited by hand"),
        ('{"format_version": 1, "package_version": "1", "files": {}}', "does not list run.json"),
    ],
)
def test_open_refuses_damaged_manifest(model, content, reason):
    (model / MANIFEST_FILE).write_text(content)
    with pytest.raises(ArtifactError, match=reason):
        ModelDir.open(model)


def test_open_refuses_file_names_outside_the_folder(model):
    manifest = json.loads((model / MANIFEST_FILE).read_text())
    entry = manifest["files"][RUN_FILE]
    edit_manifest(model, files={**manifest["files"], "../secret": entry})
    with pytest.raises(ArtifactError, match="lists '../secret', which is not a file name"):
        ModelDir.open(model)


def test_open_names_missing_file(model):
    (model / VOCAB_FILE).unlink()
    with pytest.raises(ArtifactError, match=r"vocab\.txt: missing; copy the model folder again"):
        ModelDir.open(model)


def test_open_names_truncated_file(model):
    path = model / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(
        ArtifactError, match=r"weights\.safetensors: [\d,]+ bytes, model.json lists"
    ):
        ModelDir.open(model)


def test_open_with_checksums_finds_changed_file(model):
    path = model / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    ModelDir.open(model)
    with pytest.raises(ArtifactError, match="content does not match model.json"):
        ModelDir.open(model, checksums=True)


def test_open_refuses_unknown_settings(model):
    settings = json.loads((model / RUN_FILE).read_text())
    text = json.dumps({**settings, "future": 1})
    write_model_files(model, {RUN_FILE: lambda path: path.write_text(text)})
    with pytest.raises(ArtifactError, match="no setting 'future'.*cannot use the model"):
        ModelDir.open(model)


def test_open_refuses_vocabulary_of_another_size(model):
    write_model_files(model, {VOCAB_FILE: Vocab([*SPECIAL_TOKENS, "bridge"]).save})
    with pytest.raises(ArtifactError, match=r"vocabulary of 6 words, vocab\.txt has 5; was vocab"):
        ModelDir.open(model)


def test_read_tensors_returns_what_was_written(tmp_path):
    path = tmp_path / "some.safetensors"
    tensors = {"half": np.array([[1.5, 2.0]], np.float16), "single": np.ones(3, np.float32)}
    path.write_bytes(safetensors_bytes(tensors))
    np.testing.assert_equal(read_tensors(path), tensors)


def test_read_tensors_accepts_file_without_tensors(tmp_path):
    path = tmp_path / "none.safetensors"
    path.write_bytes(safetensors_bytes({}))
    assert read_tensors(path) == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "header too small"),
        (b"\x01" + bytes(7) + b"{", "invalid JSON in header"),
        (b"\xff" * 20, "header too large"),
        ((100_000).to_bytes(8, "little") + b"[" * 100_000, "invalid JSON in header"),
        (b"\x02" + bytes(7) + b"[]", "invalid JSON in header"),
        (b"\x08" + bytes(7) + b'{"a":[]}', "invalid JSON in header"),
    ],
)
def test_read_header_refuses_other_files(tmp_path, content, reason):
    path = tmp_path / "odd.safetensors"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=reason):
        read_header(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"dtype": "U8"}, "invalid shape, data type"),
        ({"dtype": []}, "invalid JSON in header"),
        ({"shape": [-2, -1]}, "invalid JSON in header"),
        ({"shape": [0, 1 << 70], "data_offsets": [0, 0]}, "invalid JSON in header"),
        ({"shape": [3]}, "invalid shape, data type"),
        ({"data_offsets": [8, 16]}, "invalid offset"),
    ],
)
def test_read_header_refuses_impossible_tensors(tmp_path, change, reason):
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **change}
    header = json.dumps({"a": entry}).encode()
    path = tmp_path / "odd.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(ArtifactError, match=reason):
        read_header(path)


def test_read_header_names_missing_file(tmp_path):
    with pytest.raises(ArtifactError, match=r"gone\.safetensors: cannot be read: No such file"):
        read_header(tmp_path / "gone.safetensors")


def test_open_refuses_changed_vocabulary(model):
    path = model / VOCAB_FILE
    path.write_bytes(path.read_bytes().replace(b"bridge", b"fridge"))
    with pytest.raises(ArtifactError, match=r"vocab\.txt: content does not match model.json"):
        ModelDir.open(model)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"bytes": None, "sha256": ""}, "incomplete; was it edited by hand"),
        ({"bytes": 10**400, "sha256": "0" * 64}, "incomplete; was it edited by hand"),
        ({"bytes": 1}, "incomplete; was it edited by hand"),
        ({"bytes": 1, "sha256": "", "more": 1}, "incomplete; was it edited by hand"),
    ],
)
def test_open_refuses_incomplete_file_entries(model, entry, reason):
    edit_manifest(model, files={"run.json": entry})
    with pytest.raises(ArtifactError, match=reason):
        ModelDir.open(model)


@pytest.mark.parametrize("content", ["[" * 100_000, "9" * 5_000])
def test_open_refuses_manifest_that_cannot_be_parsed(model, content):
    (model / MANIFEST_FILE).write_text(content)
    with pytest.raises(ArtifactError, match=r"model\.json: not JSON; was it edited by hand"):
        ModelDir.open(model)


def test_open_refuses_too_large_manifest(model, monkeypatch):
    monkeypatch.setattr("readagain.storage.model_manifest.MAX_OBJECT_BYTES", 9)
    with pytest.raises(ArtifactError, match=r"model\.json: cannot be read: more than 9 bytes"):
        ModelDir.open(model)


def test_open_refuses_an_unknown_language(model):
    run = override(RUN, {"data.language": "xx"})
    write_model_files(model, {RUN_FILE: lambda path: save_run(run, path)})
    with pytest.raises(
        ArtifactError, match="language is 'xx'; .*this version cannot use the model"
    ):
        ModelDir.open(model)


def test_model_without_a_language_is_english(model):
    def write(path):
        save_run(RUN, path)
        run = json.loads(path.read_text())
        del run["data"]["language"]
        path.write_text(json.dumps(run))

    write_model_files(model, {RUN_FILE: write})
    assert ModelDir.open(model).run.data.language == "en"


def test_new_dir_must_be_empty(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ArtifactError, match="exists already; name a new folder"):
        check_new_dir(tmp_path)
    check_new_dir(tmp_path / "new")
