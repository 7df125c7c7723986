"""ABS and RAS with the commands: prepare, train, models, export, summarize, evaluate."""

import json

import numpy as np
import pytest

from readagain import Summarizer

pytestmark = pytest.mark.slow

PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves")
SMALL = (
    "model.embedding_size=24",
    "model.hidden_size=32",
    "train=modern",
    "train.precision=float32",
    "train.learning_rate=0.02",
    "train.warmup_steps=5",
    "train.batch_size=32",
    "train.epochs=3",
    "train.rouge_pairs=20",
    "decode.beam_size=4",
)
TEXT = "The old harbour of the town floods on Monday, officials said."


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """File of 400 invented pairs."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    with path.open("w") as lines:
        for number in range(400):
            place, event = PLACES[number % 8], EVENTS[number * 7 % 5]
            age = ("old", "new", "small")[number % 3]
            text = f"The {age} {place} of the town {event} on Monday, officials said in {number}."
            print(json.dumps({"text": text, "headline": f"{age} {place} {event}"}), file=lines)
    return path


@pytest.mark.parametrize("preset", ["abs_69k", "ras_elman", "ras_lstm"])
def test_baseline_is_trained_exported_and_scored(readagain, pairs, tmp_path, preset):
    def run_command(*command):
        result = readagain(*command)
        assert result.returncode == 0, result.stderr
        return result.stdout

    data, run = tmp_path / "data", tmp_path / "run"
    run_command("prepare", pairs, "--out", data, "--dev-pairs", 40, "--workers", 1)
    changes = [word for change in SMALL for word in ("--set", change)]
    run_command("train", preset, "--data", data, "--out", run, *changes, "--device", "cpu")
    run_command("models", run)
    exported = run_command("export", run, "--check-texts", 20, "--threads", 1)
    assert "float32   same n-best list as the network for 100.0% of 20 texts" in exported
    assert json.loads((run / "run.json").read_text())["model"]["kind"] == preset[:3]

    summarizer = Summarizer.load(run, threads=1)
    single = summarizer.summarize(TEXT, explain=True)
    assert single.words
    batched = summarizer.summarize([TEXT, "The new school of the town burns."])[0]
    assert batched.text == single.text
    explanation = single.explanation
    assert explanation.importance is None
    assert len(explanation.source_words) == explanation.attention.shape[1]
    np.testing.assert_allclose(explanation.attention.sum(axis=1), 1.0, atol=1e-3)

    scored = run_command(
        "evaluate", "--model", run, "--data", data, "--protocol", "gigaword", "--json"
    )
    report = json.loads(scored)
    assert report["rouge"]["items"] == report["data"]["rows"] > 0
    # A low bound, since three epochs are few; test_it_learns.py trains to convergence.
    assert report["rouge"]["rouge-1"]["f1"] > 0.1
