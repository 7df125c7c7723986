"""From pairs to printed headlines in languages other than English, by the commands alone."""

import json
import os

import pytest

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
    "decode.beam_size=3",
    "decode.max_words=12",
)
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}

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


def write_pairs(path, invented, *, num_pairs):
    places, events, syllables = (invented[name] for name in ("places", "events", "syllables"))
    lines = []
    for number in range(num_pairs):
        town = "".join(syllables[number // len(syllables) ** n % len(syllables)] for n in range(3))
        words = {
            "town": town.capitalize(),
            "place": places[number * 5 % len(places)],
            "event": events[number * 7 % len(events)],
            "number": number,
        }
        pair = {name: invented[name].format(**words) for name in ("text", "headline")}
        lines.append(json.dumps(pair))
    path.write_text("\n".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "invented", "text", "expected"),
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
def test_model_of_another_language_is_learned_and_printed(
    readagain, tmp_path, language, invented, text, expected
):
    def done(*arguments):
        result = readagain(*arguments, env=ONE_THREAD)
        assert result.returncode == 0, result.stderr
        return result.stdout

    pairs, data, model = (tmp_path / name for name in ("pairs.jsonl", "data", "model"))
    write_pairs(pairs, invented, num_pairs=360)
    prepared = done("prepare", pairs, "--out", data, "--dev-pairs", 40, "--workers", 1)
    assert f"({language}), detected" in prepared
    assert "dropped 0 of 360 records" in prepared
    settings = [word for each in SETTINGS for word in ("--set", each)]
    done("train", "tiny", "--data", data, "--out", model, "--device", "cpu", *settings)
    exported = done("export", model, "--check-on", data, "--threads", 1)
    assert "rouge-1 0.00" not in exported
    report = json.loads(done("evaluate", "--model", model, "--data", data, "--json"))
    assert report["rouge"]["rouge-1"]["f1"] > 0.5
    assert "(Unicode words)" in report["rouge"]["options"]
    assert done("summarize", "--model", model, "--threads", 1, text) == f"{expected}\n"
    assert "English" not in (model / "MODEL_CARD.md").read_text(encoding="utf-8")
