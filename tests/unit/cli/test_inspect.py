"""`readagain inspect`: a folder of this format stays readable, damage is named."""

import json
import shutil
from pathlib import Path

import pytest

MODELS = sorted((Path(__file__).parents[2] / "assets" / "models").glob("format-*"))


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
def test_a_model_of_each_released_format_is_whole(readagain, model):
    done = readagain("inspect", model)
    assert done.returncode == 0, done.stderr
    assert "parameters" in done.stdout
    assert "scores dev" in done.stdout
    assert done.stdout.endswith("whole, every checksum is right\n")


def test_everything_is_there_as_json(readagain):
    facts = json.loads(readagain("inspect", MODELS[0], "--json").stdout)
    assert facts["format_version"] == 1
    assert facts["tensors"]["output.project.bias"]["shape"] == [facts["summary_words"]]
    assert facts["provenance"]["is_finished"]


def test_damage_is_named(readagain, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(MODELS[0], model)
    weights = model / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    done = readagain("inspect", model)
    assert done.returncode == 2
    assert "weights.safetensors: its content is not what model.json says" in done.stderr


def test_what_is_no_model_is_refused(readagain, tmp_path):
    done = readagain("inspect", tmp_path)
    assert done.returncode == 2
    assert "no model.json in it, so no model folder" in done.stderr
