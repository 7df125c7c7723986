"""The commands from pairs to headlines: prepare, train, export, evaluate, summarize."""

import json
import os
import signal
import subprocess

import pytest
from self_signal import readagain_with_signal

pytestmark = pytest.mark.slow

SETTINGS = [
    f"--set={setting}"
    for setting in (
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
        "decode.beam_size=3",
        "decode.max_words=12",
    )
]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
# Parts of invented pairs. A town has three of the syllables.
ENGLISH = {
    "syllables": ("ba", "de", "fi", "go", "ka", "le", "mi", "no"),
    "places": ("bridge", "harbour", "library", "market", "museum", "school", "theatre"),
    "events": ("opens", "closes", "burns", "floods", "moves", "wins"),
    "text": "The {place} of {town} {event} on Monday after {number} years of repairs.",
    "headline": "{town} {place} {event}",
}
CHINESE = {
    "syllables": "安北川东海江林南平山石西云长竹",
    "places": ("桥梁", "港口", "学校", "车站", "剧院", "市场"),
    "events": ("开放", "关闭", "起火", "搬迁"),
    "text": "{town}的{place}在维修{number}年后于周一{event}，市政府表示。",
    "headline": "{town}{place}{event}",
}
RUSSIAN = {
    "syllables": ("ба", "во", "ги", "до", "жи", "ка", "ле", "мо", "ни", "ру"),
    "places": ("мост", "порт", "рынок", "музей", "театр", "вокзал"),
    "events": ("открыт", "закрыт", "сгорел", "переехал"),
    "text": "В городе {town} {place} после {number} лет ремонта в понедельник {event}, и все рады.",
    "headline": "{town}: {place} {event}",
}


def write_pairs(path, parts, *, num_pairs):
    places, events, syllables = (parts[name] for name in ("places", "events", "syllables"))
    lines = []
    for number in range(num_pairs):
        town = "".join(syllables[number // len(syllables) ** n % len(syllables)] for n in range(3))
        words = {
            "town": town.capitalize(),
            "place": places[number * 5 % len(places)],
            "event": events[number * 7 % len(events)],
            "number": number,
        }
        pair = {name: parts[name].format(**words) for name in ("text", "headline")}
        lines.append(json.dumps(pair))
    path.write_text("\n".join(lines))


@pytest.fixture
def run(readagain):
    """Function that runs a command, checks that it succeeds and returns its output."""

    def run(*arguments):
        done = readagain(*arguments, env=ONE_THREAD)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_killed_training_resumes_to_a_model_that_copies_names(run, tmp_path):
    pairs, data, model = (tmp_path / name for name in ("pairs.jsonl", "data", "model"))
    write_pairs(pairs, ENGLISH, num_pairs=400)
    run("prepare", pairs, "--out", data, "--dev-pairs", 40, "--workers", 1)
    training = ("train", "tiny", "--data", data, "--out", model, "--device", "cpu", *SETTINGS)
    training = (*training, "--set=train.validate_every=40")
    checkpoint = "readagain.training.run_writer:RunWriter.save"
    kill = readagain_with_signal(signal.SIGKILL, after=checkpoint)
    killed = subprocess.run([*kill, *map(str, training)], capture_output=True, env=ONE_THREAD)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "resuming from step" in run(*training)

    run("export", model, "--check-texts", 5, "--threads", 1)
    report = json.loads(
        run(
            *("evaluate", "--model", model, "--data", data, "--protocol", "gigaword"),
            *("--threads", 1, "--json"),
        )
    )
    assert report["data"]["rows"] == 40
    assert report["rouge"]["rouge-1"]["f1"] > 0.5
    # The town is not in the training pairs, so it must be copied.
    text = "The museum of Zorvik burns on Monday after 9 years of repairs."
    assert run("summarize", "--model", model, "--threads", 1, text) == "Zorvik museum burns\n"


@pytest.mark.parametrize(
    ("language", "parts", "text", "expected"),
    [
        ("zh", CHINESE, "禾木田的剧院在维修9年后于周一起火，市政府表示。", "禾木田剧院起火"),
        (
            "ru",
            RUSSIAN,
            "В городе Зорвик театр после 9 лет ремонта в понедельник сгорел, и все рады.",
            "Зорвик: театр сгорел",
        ),
    ],
)
def test_model_of_another_language_copies_names(run, tmp_path, language, parts, text, expected):
    pairs, data, model = (tmp_path / name for name in ("pairs.jsonl", "data", "model"))
    write_pairs(pairs, parts, num_pairs=360)
    prepared = run("prepare", pairs, "--out", data, "--dev-pairs", 40, "--workers", 1)
    assert f"({language}), detected" in prepared
    assert "dropped 0 of 360 records" in prepared
    run("train", "tiny", "--data", data, "--out", model, "--device", "cpu", *SETTINGS)
    exported = run("export", model, "--check-on", data, "--threads", 1)
    assert "rouge-1 0.00" not in exported
    report = json.loads(run("evaluate", "--model", model, "--data", data, "--json"))
    assert report["rouge"]["rouge-1"]["f1"] > 0.5
    assert "(Unicode words)" in report["rouge"]["options"]
    assert run("summarize", "--model", model, "--threads", 1, text) == f"{expected}\n"
    assert "English" not in (model / "MODEL_CARD.md").read_text(encoding="utf-8")
