"""The command `readagain models`."""

import json
from pathlib import Path

from readagain.storage.bundled import bundled_models

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


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


def test_models_lists_given_folders(readagain):
    rows = json.loads(readagain("models", TOY, "--json").stdout)
    assert [row["name"] for row in rows] == [*bundled_models(), str(TOY)]
    assert rows[-1]["language"] == "en"
    assert rows[-1]["bytes"] == sum(
        entry["bytes"] for entry in json.loads((TOY / "model.json").read_text())["files"].values()
    )


def test_models_refuses_a_folder_without_model(readagain, tmp_path):
    done = readagain("models", tmp_path)
    assert done.returncode == 2
    assert "no model.json; this is not a model folder" in done.stderr
