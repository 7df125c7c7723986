"""`fit` from a CSV file to headlines in four languages; interrupted and resumed."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from self_signal import readagain_with_signal

from readagain import Summarizer, fit
from readagain.fitting.work_dir import work_dir
from readagain.model_dir import ModelDir
from readagain.storage.tensors import read_tensors

pytestmark = pytest.mark.slow

NUM_PAIRS = 220
EPOCHS = 5
# For each language: template of the text, template of the headline, places, events.
LANGUAGES = {
    "en": (
        "The {place} of {town} {event} on Monday after {years} years of repairs. The mayor said "
        "that the town had waited for it.",
        "{town} {place} {event} on Monday",
        ("bridge", "harbour", "library", "market", "museum", "school"),
        ("opens", "closes", "moves", "wins"),
    ),
    "de": (
        "Die {place} in {town} wird am Montag nach {years} Jahren {event}. Der Bürgermeister "
        "sagte, dass die Stadt darauf gewartet hat.",
        "{place} in {town} wird {event}",
        ("Brücke", "Bücherei", "Schule", "Oper", "Straße", "Bühne"),
        ("geöffnet", "geschlossen", "verlegt", "geprüft"),
    ),
    "ru": (
        "{place} в городе {town} {event} в понедельник после {years} лет ремонта. Мэр сказал, что "
        "город давно этого ждал.",
        "{place} в городе {town} {event}",
        ("Школа", "Библиотека", "Больница", "Площадь", "Станция", "Опера"),
        ("открывается", "закрывается", "переезжает", "побеждает"),
    ),
    "zh": (
        "{town}的{place}经过{years}年的维修于星期一{event}。市长说全市都在等待这一天。",
        "{town}{place}{event}",
        ("大桥", "港口", "书店", "市场", "学校", "车站"),
        ("开放", "关闭", "搬迁", "获奖"),
    ),
}
SYLLABLES = {
    "en": ("Bar", "Del", "Fen", "Gol", "Har", "Mel", "Nor", "Sten"),
    "de": ("Bar", "Del", "Fen", "Gol", "Har", "Mel", "Nor", "Stein"),
    "ru": ("Бар", "Дол", "Фен", "Гор", "Кар", "Мел", "Нор", "Сте"),
    "zh": ("东", "西", "南", "北", "青", "白", "长", "新"),
}
ENDINGS = {"en": "wick ton moor", "de": "dorf burg feld", "ru": "ов ино ск", "zh": "山 河 州"}


def write_pairs(path, language):
    text, headline, places, events = LANGUAGES[language]
    syllables, endings = SYLLABLES[language], ENDINGS[language].split()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["title", "article"])
        for n in range(NUM_PAIRS):
            names = {
                "town": syllables[n % 8] + syllables[n // 8 % 8].lower() + endings[n // 64 % 3],
                "place": places[n * 5 % 6],
                "event": events[n * 7 % 4],
                "years": 2 + n * 11 % 90,
            }
            rows.writerow([headline.format(**names), text.format(**names)])
    return path


def fit_in(folder, language, *, epochs=EPOCHS):
    """Write pairs into `folder` and fit a model there."""
    return fit(
        write_pairs(folder / "pairs.csv", language),
        out=folder / "model",
        epochs=epochs,
        device="cpu",
        threads=1,
        console=Console(quiet=True),
    )


@pytest.fixture(scope="module")
def english_fit(tmp_path_factory):
    """Result of an English fit, and its weights before a test continues the fit."""
    result = fit_in(tmp_path_factory.mktemp("english"), "en")
    return result, weights(result.out)


@pytest.fixture
def english(english_fit):
    return english_fit[0]


@pytest.fixture
def english_weights(english_fit):
    return english_fit[1]


def weights(out: Path):
    tensors = read_tensors(work_dir(out) / "run" / "weights.safetensors")
    return {name: array.tobytes() for name, array in tensors.items()}


def check_learned(result, language):
    """Check the scores, the language and the report of a fit; return the loaded model."""
    assert result.is_finished
    rouge_1 = {name: scores["rouge-1"][0] for name, scores in result.scores.items()}
    assert rouge_1["model"] > 75
    assert rouge_1["model"] > max(rouge_1["first sentence"], rouge_1["first 12 words"]) + 8
    assert ModelDir.open(result.out, checksums=True).run.data.language == language
    page = result.report.read_text(encoding="utf-8")
    assert page.count("<article>") == min(20, num_test_pairs(result))
    return Summarizer.load(result.out, threads=1)


def num_test_pairs(result):
    manifest = work_dir(result.out) / "data" / "manifest.json"
    return json.loads(manifest.read_text(encoding="utf-8"))["splits"]["test"]["pairs"]


def test_english_pairs_become_a_model(english):
    model = check_learned(english, "en")
    text = LANGUAGES["en"][0].format(place="bridge", town="Barfenmoor", event="opens", years=30)
    assert "Barfenmoor" in model.summarize(text).text


def test_german_pairs_keep_capitals_of_nouns(tmp_path):
    model = check_learned(fit_in(tmp_path, "de"), "de")
    text = LANGUAGES["de"][0].format(place="Schule", town="Barfendorf", event="geprüft", years=30)
    summary = model.summarize(text).text
    assert "Schule" in summary
    assert "geprüft" in summary


def test_russian_model_copies_a_name(tmp_path):
    model = check_learned(fit_in(tmp_path, "ru"), "ru")
    text = LANGUAGES["ru"][0].format(place="Школа", town="Баргорск", event="открывается", years=30)
    assert "Баргорск" in model.summarize(text).text


def test_chinese_headlines_have_no_spaces(tmp_path):
    model = check_learned(fit_in(tmp_path, "zh"), "zh")
    text = LANGUAGES["zh"][0].format(place="车站", town="东青河", event="开放", years=30)
    summary = model.summarize(text).text
    assert "东青河" in summary
    assert " " not in summary


def test_stopped_and_killed_fit_resumes_to_the_same_weights(english_weights, tmp_path):
    out = tmp_path / "model"
    arguments = [
        *("fit", str(write_pairs(tmp_path / "pairs.csv", "en")), "--out", str(out)),
        *("--epochs", str(EPOCHS), "--device", "cpu", "--threads", "1"),
    ]

    def run(*words):
        return subprocess.run([*words, *arguments], capture_output=True, text=True, check=False)

    log_line = "readagain.training.metrics:MetricsLog.write"
    stopped = run(*readagain_with_signal(signal.SIGTERM, after=log_line))
    assert stopped.returncode == 0, stopped.stderr
    assert "estimate:" in stopped.stdout
    assert "stopped and saved at step" in stopped.stdout
    assert not out.exists()

    published = "readagain.training.run_writer:RunWriter.publish"
    killed = run(*readagain_with_signal(signal.SIGKILL, after=published))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not out.exists()

    done = run(sys.executable, "-m", "readagain")
    assert done.returncode == 0, done.stderr
    assert "resuming from step" in done.stdout
    assert "first 12 words" in done.stdout
    assert f"{out}: ready" in done.stdout
    assert weights(out) == english_weights


def test_same_call_keeps_model_and_more_epochs_continue_it(english):
    before = (english.out / "model.json").read_bytes()
    again = fit_in(english.out.parent, "en")
    assert again == english
    assert (english.out / "model.json").read_bytes() == before
    longer = fit_in(english.out.parent, "en", epochs=EPOCHS + 1)
    assert longer.is_finished
    assert ModelDir.open(english.out).run.train.epochs == EPOCHS + 1
