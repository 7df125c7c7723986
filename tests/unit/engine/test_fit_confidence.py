"""The script examples/fit_confidence.py."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from readagain.engine.summarizer import Summarizer

SCRIPT = Path(__file__).parents[3] / "examples" / "fit_confidence.py"


@pytest.fixture(scope="module")
def script():
    """Return the functions of the script by name."""
    return runpy.run_path(str(SCRIPT))


def test_fit_recovers_the_coefficients(script):
    random = np.random.default_rng(5)
    features = random.normal(size=(4000, 2))
    is_good = (random.random(4000) < script["sigmoid"](0.5 + features @ [2.0, 0.0])).astype(float)
    assert script["fit"](features, is_good, 0.1) == pytest.approx([0.5, 2.0, 0.0], abs=0.2)
    held_out = script["cross_validate"](features, is_good, np.arange(4000), 1.0)
    assert script["area_under_curve"](held_out, is_good) > 0.8
    assert np.abs(held_out.mean() - is_good.mean()) < 0.01


def test_ratings_of_one_text_are_in_one_fold(script):
    random = np.random.default_rng(5)
    features, is_good = random.normal(size=(40, 30)), random.integers(2, size=40).astype(float)
    twice = np.tile(np.arange(40), 2)
    held_out = script["cross_validate"](features[twice], is_good[twice], twice, 1.0)
    assert script["area_under_curve"](held_out, is_good[twice]) < 0.8  # nothing to learn


def test_table_compares_confidence_and_ratings(script):
    table = script["reliability_table"](np.array([0.2, 0.85, 0.87, 1.0]), np.array([0, 1, 0, 1]))
    assert table.splitlines()[1:] == [
        "0.0-0.5            1  0.20  0.00",
        "0.8-0.9            2  0.86  0.50",
        "0.9-1.0            1  1.00  1.00",
    ]


def test_script_writes_a_file_that_the_model_uses(toy_copy, tmp_path, monkeypatch, capsys):
    texts = [f"Police in Ghent said {number} people crossed the bridge." for number in range(30)]
    headlines = [summary.text for summary in Summarizer.load(toy_copy, threads=1).summarize(texts)]
    rows = [
        {"text": text, "headline": headline, "good": number % 3 > 0}
        for number, (text, headline) in enumerate(zip(texts, headlines, strict=True))
    ]
    rows.append({"text": texts[0], "headline": "Something else", "good": 1})
    rated = tmp_path / "rated.jsonl"
    rated.write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr(sys, "argv", ["fit", str(rated), "--model", str(toy_copy)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "30 of 31 headlines are those of the model" in capsys.readouterr().out
    confidence = Summarizer.load(toy_copy, threads=1).summarize(texts[0]).confidence
    assert confidence == pytest.approx(0.67, abs=0.2)
    weights = json.loads((toy_copy / "confidence.json").read_text())["weights"]
    assert {weights[name] for name in ("language", "numbers", "agreement")} == {-1.7}


def test_too_few_ratings_are_an_error(toy_copy, tmp_path, monkeypatch, capsys):
    rated = tmp_path / "rated.jsonl"
    rated.write_text(json.dumps({"text": "It rains.", "headline": "It rains", "good": 1}))
    monkeypatch.setattr(sys, "argv", ["fit", str(rated), "--model", str(toy_copy)])
    with pytest.raises(SystemExit):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert "expected 20 or more texts, with good and bad headlines" in capsys.readouterr().err
