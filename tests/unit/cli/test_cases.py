"""`readagain cases` adds truecasing to a model of an older version."""

import json
import shutil
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "assets" / "models" / "format-1"


@pytest.fixture
def model(tmp_path):
    return Path(shutil.copytree(MODEL, tmp_path / "model"))


def prepare(readagain, folder, texts):
    lines = [json.dumps({"text": text, "headline": "quiet days again"}) for text in texts]
    (folder / "pairs.jsonl").write_text("\n".join(lines) + "\n")
    out = folder / "prepared"
    done = readagain("prepare", folder / "pairs.jsonl", "--filters", "none", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def test_cases_adds_capitalization_of_corpus(readagain, tmp_path, model):
    word = next(word for word in (model / "vocab.txt").read_text().split()[4:] if word.isalpha())
    texts = [f"Visitors found {word.upper()} near the harbour on day {n}." for n in range(12)]
    done = readagain("cases", model, prepare(readagain, tmp_path, texts))
    assert done.returncode == 0, done.stderr
    assert "words and pairs, capitalized as in" in done.stdout
    assert word.upper() in (model / "cases.txt").read_text().split()
    info = json.loads(readagain("inspect", model, "--json").stdout)
    assert info["cases"] == len((model / "cases.txt").read_text().splitlines())
    assert "words and pairs" in readagain("inspect", model).stdout


def test_corpus_without_capitals_is_refused(readagain, tmp_path, model):
    texts = [f"visitors found nothing near the harbour on day {n}." for n in range(12)]
    done = readagain("cases", model, prepare(readagain, tmp_path, texts))
    assert done.returncode == 2
    assert "has no capitalization for the words of this model; prepare it again" in done.stderr
    assert not (model / "cases.txt").exists()
    assert "0 words and pairs" in readagain("inspect", model).stdout
