"""From pairs to headlines by the commands alone, with a run that is killed on the way."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves", "wins")
SETTINGS = (
    "model.embedding_size=32",
    "model.encoder.hidden_size=32",
    "model.decoder.hidden_size=32",
    "model.decoder.attention_size=32",
    "model.dropout=0.0",
    "train.batch_size=16",
    "train.epochs=12",
    "train.learning_rate=0.01",
    "train.warmup_steps=10",
    "train.rouge_pairs=10",
    "train.log_every=2",
    "train.validate_every=40",
    "decode.beam_size=3",
    "decode.max_words=8",
)
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


def write_pairs(path, *, num_pairs):
    lines = []
    for number in range(num_pairs):
        town = "".join("bdfgklmn"[number // 8**place % 8] + "aeio"[place] for place in range(3))
        place, event = PLACES[number * 5 % 8], EVENTS[number * 7 % 6]
        text = f"The {place} of {town.title()} {event} on Monday after {number} years of repairs."
        lines.append(json.dumps({"text": text, "headline": f"{town.title()} {place} {event}"}))
    path.write_text("\n".join(lines))


@pytest.mark.slow
def test_prepare_train_resume_evaluate_and_summarize(readagain, tmp_path):
    pairs, data, model = (tmp_path / name for name in ("pairs.jsonl", "data", "model"))
    write_pairs(pairs, num_pairs=400)
    prepared = readagain("prepare", pairs, "--out", data, "--dev-pairs", 40, "--workers", 1)
    assert prepared.returncode == 0, prepared.stderr

    settings = [word for each in SETTINGS for word in ("--set", each)]
    training = ("train", "tiny", "--data", data, "--out", model, "--device", "cpu", *settings)
    killed = subprocess.Popen(
        [sys.executable, "-m", "readagain", *map(str, training)],
        stdout=subprocess.DEVNULL,
        env=ONE_THREAD,
    )
    while not list(model.glob("resume/checkpoint-*")):
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    gone_on = readagain(*training, env=ONE_THREAD)
    assert gone_on.returncode == 0, gone_on.stderr
    assert "resuming from step" in gone_on.stdout

    exported = readagain("export", model, "--check-texts", 5, "--threads", 1)
    assert exported.returncode == 0, exported.stderr
    evaluated = readagain(
        *("evaluate", "--model", model, "--data", data, "--protocol", "gigaword"),
        *("--threads", 1, "--json"),
    )
    assert evaluated.returncode == 0, evaluated.stderr
    report = json.loads(evaluated.stdout)
    assert report["data"]["rows"] == 40
    assert report["rouge"]["rouge-1"]["f1"] > 0.5
    # A town that it never saw is copied.
    text = "The museum of Zorvik burns on Monday after 9 years of repairs."
    summarized = readagain("summarize", "--model", model, "--threads", 1, text)
    assert summarized.returncode == 0, summarized.stderr
    assert summarized.stdout == "Zorvik museum burns\n"
