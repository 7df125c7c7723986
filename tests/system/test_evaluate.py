"""`readagain evaluate` on pairs and on a prepared corpus."""

import json
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
PLACES = ["Norrvik", "Eastmoor", "Tarn", "Ghent", "Lund", "Ystad", "Vik", "Oban", "Mora", "Sund"]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    lines = [
        json.dumps(
            {
                "text": f"The old bridge of {place} closes on {day}, 12 May, the council said. "
                f"{place} has another.",
                "headline": f"{place} closes old bridge on {day}",
            }
        )
        for place in PLACES
        for day in ("Monday", "Tuesday", "Friday", "Sunday")
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def evaluation(readagain):
    def evaluation(data, *arguments, model="prefix", protocol="gigaword"):
        done = readagain(
            *("evaluate", "--model", model, "--data", data, "--protocol", protocol, "--json"),
            *arguments,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return evaluation


@pytest.mark.parametrize("model", ["prefix", "lead", TOY])
def test_prepared_split_scores_match_its_pairs(evaluation, readagain, tmp_path, pairs, model):
    prepared = tmp_path / "prepared"
    done = readagain("prepare", pairs, "--dev-pairs", 12, "--out", prepared, "--workers", 1)
    assert done.returncode == 0, done.stderr
    from_corpus = evaluation(prepared, model=model)
    from_texts = evaluation(prepared / "dev.texts.jsonl", model=model)
    for part in ("rouge", "summaries", "references"):
        assert from_corpus[part] == from_texts[part]
    assert from_corpus["data"]["fingerprint"] == from_texts["data"]["fingerprint"]
    assert 0 < from_corpus["data"]["rows"] <= 12


def test_two_evaluations_differ_only_in_speed(evaluation, tmp_path, pairs):
    saved = [tmp_path / "first.txt", tmp_path / "second.txt"]
    first, second = (evaluation(pairs, "--save", path, model=TOY) for path in saved)
    del first["speed"], second["speed"]
    assert first == second
    assert saved[0].read_bytes() == saved[1].read_bytes()
    assert len(saved[0].read_text().splitlines()) == 40


def test_precisions_of_a_model_can_be_compared(evaluation, pairs):
    int8 = evaluation(pairs, "--precision", "int8", model=TOY)
    float32 = evaluation(pairs, "--precision", "float32", model=TOY)
    assert int8["data"] == float32["data"]
    assert [int8["model"]["precision"], float32["model"]["precision"]] == ["int8", "float32"]
