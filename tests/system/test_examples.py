"""Every script of examples/, run in a process."""

import csv
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from readagain import Summarizer
from readagain.export.recover import recover_weights
from readagain.model_dir import WEIGHTS_FILE
from readagain.networks.build import build_model
from readagain.storage.bundled import find_model
from readagain.storage.tensors import read_tensors
from readagain.training.finetune import TrainedModel

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TOY = ROOT / "tests" / "assets" / "models" / "toy"


def test_example_summarizes_lines(example, tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("A storm hit the harbour of Zyx.\nThe museum of Gonago opens on Monday.\n")
    done = example("summarize_lines.py", file, "--model", TOY)
    assert done.returncode == 0, done.stderr
    headlines, origins = done.stdout.splitlines()[::2], done.stdout.splitlines()[1::2]
    assert len(headlines) == len(origins) == 2
    assert "[Zyx]" in origins[0]
    assert "Zyx" in headlines[0]


def test_example_without_arguments_uses_bundled_model(example):
    done = example("summarize_lines.py")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4


def test_example_compares_two_systems(example):
    done = example("compare_systems.py")
    assert done.returncode == 0, done.stderr
    assert "ours    rouge-1  0.88" in done.stdout
    assert "rouge-1: better by 0.47" in done.stdout


def test_style_follows_the_support_of_a_headline(example, tmp_path):
    text = "A storm closed the harbour of Eltor on Monday."
    headlines = {
        "Storm closed harbour of Eltor": "faithful",
        "Storm closed the port of Eltor": "close",
        "Eltor harbour hit by storm": "free",
    }
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        "".join(json.dumps({"text": text, "headline": each}) + "\n" for each in headlines)
    )
    done = example("style_pairs.py", pairs, tmp_path)
    assert done.returncode == 0, done.stderr
    sources = (tmp_path / "train.article.txt").read_text().splitlines()
    styles = [source.split()[-1] for source in sources]
    assert styles == [f"<{style}>" for style in headlines.values()]


def rate_headlines(path, good=("good", True), faulty=("good", False)):
    """Write texts of two headlines each; the one about the harbour is better."""
    rows = [
        {
            "text": f"The storm of {year} closed the harbour and the museum of Ghent.",
            "headlines": [
                dict([("text", "Storm closed the harbour"), good]),
                dict([("text", "Storm closed the museum of Ghent"), faulty]),
            ],
        }
        for year in range(1950, 1980)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_example_learns_from_ratings(example, tmp_path):
    rated, model = tmp_path / "rated.jsonl", tmp_path / "model"
    rate_headlines(rated)
    done = example(
        "train_on_ratings.py", rated, "--model", TOY, "--out", model,
        "--held-out", 5, "--epochs", 20, "--learning-rate", 0.01,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    accuracies = re.findall(r"(?:correctly|epoch \d+): (\S+)", done.stdout)
    assert (accuracies[0], accuracies[-1]) == ("0.000", "1.000")
    text = "The storm of 1990 closed the harbour and the museum of Ghent."
    assert Summarizer.load(model).summarize(text).text
    weights = tmp_path / "model.weights"
    assert list(weights.glob("*.onnx")) == []
    assert not (model / "confidence.json").exists()
    shutil.rmtree(model)
    again = example("train_on_ratings.py", rated, "--model", TOY, "--out", model)
    assert again.returncode == 2
    assert f"{weights}: exists; choose a new folder" in again.stderr


@pytest.mark.slow
def test_example_learns_from_scores(example, tmp_path):
    rated = tmp_path / "rated.jsonl"
    rate_headlines(rated, good=("score", 1.5), faulty=("score", -1.5))
    done = example(
        "train_on_ratings.py", rated, "--model", TOY, "--out", tmp_path / "model",
        "--held-out", 5, "--epochs", 20, "--learning-rate", 0.01,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    accuracies = re.findall(r"(?:correctly|epoch \d+): (\S+)", done.stdout)
    assert (accuracies[0], accuracies[-1]) == ("0.000", "1.000")


def test_target_of_two_headlines_is_sigmoid_of_their_difference():
    script = runpy.run_path(str(EXAMPLES / "train_on_ratings.py"))
    ratings = [[0.5, -0.5, 0.5], [math.inf, -math.inf]]
    texts = [script["RatedText"](None, [None] * len(each), each) for each in ratings]
    better, worse, targets, weights = script["pairs_of"](texts)
    assert better.tolist() == [0, 2, 3]
    assert worse.tolist() == [1, 1, 4]
    np.testing.assert_allclose(targets, [0.731059, 0.731059, 1.0], atol=1e-6)
    np.testing.assert_allclose(weights, [2**-0.5, 2**-0.5, 1.0])
    assert script["best_of"](texts).tolist() == [0, 2, 3]


@pytest.mark.slow
def test_example_averages_trainings_and_old_weights(example, tmp_path):
    rated = tmp_path / "rated.jsonl"
    rate_headlines(rated)
    weights = []
    for name, seeds in (("one", [1]), ("two", [2]), ("both", [1, 2])):
        done = example(
            "train_on_ratings.py", rated, "--model", TOY, "--out", tmp_path / name,
            "--held-out", 5, "--seeds", *seeds,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("mean: " in done.stdout) == (name == "both")
        weights.append(read_tensors(tmp_path / f"{name}.weights" / WEIGHTS_FILE))
    one, two, both = weights
    old = read_tensors(TOY / WEIGHTS_FILE)
    assert any((one[key] != two[key]).any() for key in old)
    for key, value in both.items():
        np.testing.assert_allclose(value, (old[key] + one[key] + two[key]) / 3, atol=1e-6)


@pytest.mark.slow
def test_rated_headline_has_the_same_score_in_a_batch():
    script = runpy.run_path(str(EXAMPLES / "train_on_ratings.py"))
    trained = TrainedModel.open(find_model("papers"), recover_weights)  # reads five sentences
    network = build_model(trained.model_dir.run)
    network.load_state_dict(trained.weights(trained.vocabs))
    scorer = script["HeadlineScorer"](trained.model_dir, network.eval())
    headlines = [{"text": "Zyxwick is new", "good": True}]
    texts = [
        scorer.read({"text": text, "headlines": headlines})
        for text in (
            "We study graphs. The method Zyxwick is new.",
            "We study the growth of random graphs with many nodes. The method Zyxwick is new.",
        )
    ]
    with torch.no_grad():
        together, _ = scorer.scores(texts)
        alone = torch.cat([scorer.scores([text])[0] for text in texts])
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=0)


def test_example_needs_more_ratings_than_held_out(example, tmp_path):
    rate_headlines(tmp_path / "rated.jsonl")
    done = example(
        "train_on_ratings.py", tmp_path / "rated.jsonl", "--model", TOY, "--out", tmp_path / "model"
    )
    assert done.returncode == 2
    assert "too few texts with a good and a faulty headline, or different scores" in done.stderr
    assert "expected more than 150" in done.stderr
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
def test_example_model_copies_an_unseen_name(trained_example):
    folder, done = trained_example
    assert done.returncode == 0, done.stderr
    headline = done.stdout.splitlines()[-1]
    assert headline.startswith("Zyxwick ")
    assert headline.endswith(" 212-year-old theatre")
    assert "zyxwick" not in (folder / "model" / "source_vocab.txt").read_text().split()


def test_rss_example_prints_title_and_headline(example):
    done = example("rss_headlines.py")
    assert done.returncode == 0, done.stderr
    assert [line.split(": ")[0] for line in done.stdout.splitlines()] == ["Bridge", "Storm"]
    assert "bridge" in done.stdout.splitlines()[0].split(": ")[1]


def test_pandas_example_adds_columns(example, tmp_path):
    source, target = tmp_path / "articles.csv", tmp_path / "headlines.csv"
    source.write_text("id,text\n7,The museum of Zyx opens a new hall on Monday.\n8,\n")
    done = example("pandas_column.py", source, target)
    assert done.returncode == 0, done.stderr
    with target.open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert "Zyx" in first["headline"]
    assert 0 < float(first["confidence"]) < 1
    assert (first["id"], second["id"], second["headline"]) == ("7", "8", "")


def test_fastapi_example_answers():
    assert (EXAMPLES / "fastapi_app.py").exists()
    code = """
import json
from fastapi.testclient import TestClient
from fastapi_app import app
with TestClient(app) as client:
    good = client.post("/headline", json={"text": "The museum of Zyx opens a new hall today."})
    bad = client.post("/headline", json={"text": "A storm.", "max_words": 0})
print(json.dumps([good.json(), bad.status_code]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES)
    assert done.returncode == 0, done.stderr
    answer, status = json.loads(done.stdout)
    assert "Zyx" in answer["headline"]
    assert (answer["warnings"], status) == ([], 422)


@pytest.mark.slow
@pytest.mark.distributed
def test_ray_example_adds_headlines(example, tmp_path):
    source, target = tmp_path / "articles.jsonl", tmp_path / "headlines"
    texts = ["The museum of Zyx opens a new hall.", "A storm hit the harbour of Gonago."]
    source.write_text(
        "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    )
    # A new cluster, even if another one, such as that of another test, is running.
    done = example("ray_pipeline.py", source, target, "--workers", 1, RAY_ADDRESS="local")
    assert done.returncode == 0, done.stderr
    lines = [line for file in target.iterdir() for line in file.read_text().splitlines()]
    rows = sorted(map(json.loads, lines), key=lambda row: row["id"])  # Ray may write several files
    assert [(row["id"], row["text"]) for row in rows] == list(enumerate(texts))
    assert "Zyx" in rows[0]["headline"]


@pytest.mark.slow
def test_own_encoder_example_learns(example, trained_example, readagain, tmp_path):
    folder, _ = trained_example
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join((folder / "pairs.jsonl").read_text().splitlines(keepends=True)[:400]))
    assert readagain("prepare", pairs, "--out", tmp_path / "data").returncode == 0
    text = "The town of Zyxwick sold its old theatre on Friday to pay its debts, officials said."
    done = example("own_encoder.py", tmp_path / "data", text, "--epochs", 6)
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", done.stdout)]
    assert losses[-1] < losses[0] / 4
    assert done.stdout.splitlines()[-1].startswith("Zyxwick")


NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
RUN_CELLS = """
import json, sys
notebook = json.load(open(sys.argv[1], encoding="utf-8"))
names = {"__name__": "__main__"}
for number, cell in enumerate(notebook["cells"]):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
"""


def run_notebook(name: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the code cells of a notebook in order, without Jupyter."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "TMPDIR": str(folder)}
    command = [sys.executable, "-c", RUN_CELLS, EXAMPLES / name]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def test_notebook_about_headlines_runs(tmp_path):
    done = run_notebook("headlines.ipynb", tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^bridge +copied +bridge$", done.stdout, re.MULTILINE)


@pytest.mark.slow
def test_notebook_about_own_model_runs(tmp_path):
    done = run_notebook("own_model.ipynb", tmp_path)
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.splitlines()[-1])
    assert (report.name, report.exists()) == ("report.html", True)
    scores = re.findall(
        r"^(model|first sentence) +\{'rouge-1': ([\d.]+)", done.stdout, re.MULTILINE
    )
    assert float(dict(scores)["model"]) > float(dict(scores)["first sentence"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_stores_no_output(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_every_example_is_tested():
    paths = [*(ROOT / "tests" / "system").glob("*.py"), *(ROOT / "tests" / "unit").rglob("*.py")]
    tests = "".join(path.read_text(encoding="utf-8") for path in paths)
    names = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")]
    assert len(names) >= 10
    assert [name for name in names if f'"{name}"' not in tests] == []
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\((\w+\.\w+)\)", index))) == sorted(names)
