"""`readagain models`: the list, the description of a model, and errors for damaged ones."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from readagain.storage.bundled import bundled_models

MODELS = sorted((Path(__file__).parents[2] / "assets" / "models").glob("format-*"))


def test_models_lists_bundled_models(readagain):
    done = readagain("models")
    assert done.returncode == 0, done.stderr
    header, *lines = done.stdout.splitlines()
    columns = ["name", "language", "MB", "sentences read", "words read", "title"]
    assert header.split() == " ".join(columns).split()
    rows = {line.split()[0]: line.split()[1:5] for line in lines}
    assert rows.keys() == bundled_models().keys()
    assert rows["news"] == ["English", "21.4", "2", "71"]  # as in its model card
    assert rows["papers"][2:] == ["5", "240"]
    assert lines[0].rstrip().endswith("news: headlines of one or two sentences")


def test_models_are_listed_as_json(readagain):
    rows = json.loads(readagain("models", "--json").stdout)
    assert [row["name"] for row in rows] == [*bundled_models()]
    assert {row["language"] for row in rows} == {"en"}
    manifest = json.loads((bundled_models()["news"] / "model.json").read_text())
    assert rows[0]["bytes"] == sum(entry["bytes"] for entry in manifest["files"].values())


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
def test_models_of_all_formats_are_complete(readagain, model):
    done = readagain("models", model)
    assert done.returncode == 0, done.stderr
    assert "parameters" in done.stdout
    assert "scores dev" in done.stdout
    assert done.stdout.endswith("complete, all checksums match\n")


def test_json_contains_all_fields(readagain):
    info = json.loads(readagain("models", MODELS[0], "--json").stdout)
    assert info["format_version"] == 1
    assert (info["language"], info["read_sentences"]) == ("en", 1)
    assert info["tensors"]["output.project.bias"]["shape"] == [info["summary_words"]]
    assert info["provenance"]["is_finished"]


def test_damaged_file_is_named(readagain, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(MODELS[0], model)
    weights = model / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    done = readagain("models", model)
    assert done.returncode == 2
    assert "weights.safetensors: content does not match model.json" in done.stderr


def test_folder_without_model_is_refused(readagain, tmp_path):
    done = readagain("models", tmp_path)
    assert done.returncode == 2
    assert "no model.json; this is not a model folder" in done.stderr


def write_file(model, name, content):
    """Replace a file of a model, with a matching checksum in the manifest."""
    (model / name).write_text(content)
    manifest = json.loads((model / "model.json").read_text())
    checksum = sha256(content.encode()).hexdigest()
    manifest["files"][name] = {"bytes": len(content), "sha256": checksum}
    (model / "model.json").write_text(json.dumps(manifest))


def test_last_training_is_shown_and_earlier_ones_counted(readagain, tmp_path):
    model = Path(shutil.copytree(MODELS[0], tmp_path / "model"))
    first = json.loads((model / "provenance.json").read_text())
    before = {"name": "first", "weights_sha256": None, "provenance": first}
    second = {**first, "began_from": before, "step": 6}
    last = {
        **second,
        "began_from": {**before, "name": "second", "provenance": second},
        "step": 7,
        "is_finished": False,
    }
    assert "began from    random weights\n" in readagain("models", model).stdout
    write_file(model, "provenance.json", json.dumps(last))
    shown = readagain("models", model).stdout
    assert shown.count("\ncorpus ") == shown.count("\ntrained ") == 1
    assert shown.index("step 7,") < shown.index("no: stopped, or still running")
    assert "\nbegan from    the model second, after 2 earlier trainings (see --json)\n" in shown
    assert json.loads(readagain("models", model, "--json").stdout)["provenance"] == last


@pytest.mark.parametrize("model", bundled_models())
def test_bundled_model_is_complete_without_weights(readagain, model):
    shown = readagain("models", model).stdout
    assert "parameters" not in shown
    assert "still running" not in shown


def test_model_for_inference_is_not_still_running(readagain, tmp_path):
    model = Path(shutil.copytree(bundled_models()["papers"], tmp_path / "model"))
    origin = json.loads((model / "provenance.json").read_text())
    write_file(model, "provenance.json", json.dumps({**origin, "is_finished": False}))
    assert "finished      no: stopped early\n" in readagain("models", model).stdout


def test_invalid_provenance_is_refused(readagain, tmp_path):
    model = Path(shutil.copytree(MODELS[0], tmp_path / "model"))
    write_file(model, "provenance.json", '{"corpus": null}')
    done = readagain("models", model)
    assert done.returncode == 2
    assert "invalid provenance.json or scores.json" in done.stderr
    assert readagain("models", model, "--json").returncode == 0


def test_control_characters_of_title_are_escaped(readagain, tmp_path):
    model = Path(shutil.copytree(MODELS[0], tmp_path / "model"))
    run = json.loads((model / "run.json").read_text())
    write_file(model, "run.json", json.dumps({**run, "title": "\x1b[2Jcalm"}))
    done = readagain("models", model)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert r"\x1b[2Jcalm" in done.stdout


def test_json_escapes_control_characters(readagain, tmp_path):
    model = Path(shutil.copytree(MODELS[0], tmp_path / "model"))
    run = json.loads((model / "run.json").read_text())
    write_file(model, "run.json", json.dumps({**run, "title": "\u202e\x9bcalm"}))
    done = readagain("models", model, "--json")
    assert not set("\u202e\x9b") & set(done.stdout)
    assert json.loads(done.stdout)["title"] == "\u202e\x9bcalm"


def test_shortlist_size_is_shown(readagain, tmp_path):
    model = Path(shutil.copytree(MODELS[0], tmp_path / "model"))
    assert "shortlist of" not in readagain("models", model).stdout
    run = json.loads((model / "run.json").read_text())
    size = run["vocab_size"] - 1
    run["model"]["shortlist_size"] = size
    write_file(model, "run.json", json.dumps(run))
    assert f" written, shortlist of {size}\n" in readagain("models", model).stdout
