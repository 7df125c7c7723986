"""`readagain bench`: measurements and their description."""

import json
import statistics
from pathlib import Path

import pytest

from readagain.engine import speed
from readagain.engine.speed import SENTENCES, measure_speed
from readagain.engine.summarizer import Summarizer

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.fixture
def bench(readagain):
    """Measure the toy model with one thread."""

    def run(*arguments):
        return readagain("bench", "--model", TOY, "--threads", 1, *arguments)

    return run


class Recorder:
    """Summarizer that records the number of texts of each call."""

    def __init__(self, summarizer):
        self.run = summarizer.run
        self._summarizer = summarizer
        self.calls = []

    def summarize(self, texts, **options):
        self.calls.append((1 if isinstance(texts, str) else len(texts), options["beam"]))
        return self._summarizer.summarize(texts, **options)


@pytest.fixture
def recorder():
    return Recorder(Summarizer.load(TOY, threads=1))


def test_bench_measures_single_and_batched_texts(bench):
    done = bench()
    assert done.returncode == 0, done.stderr
    assert "32 texts of 31.4 words" in done.stdout
    rows = [line.split() for line in done.stdout.partition("texts/s\n")[2].splitlines()]
    assert [int(together) for together, _, _ in rows] == [1, 8, 16, 32]
    for _, ms, per_s in rows:
        assert float(ms) * float(per_s) == pytest.approx(1e3, rel=0.2)


def test_json_contains_all_results(bench):
    facts = json.loads(bench("--beam", 3, "--json").stdout)
    assert (facts["model"], facts["beam"], facts["threads"]) == (str(TOY), 3, 1)
    assert facts["texts"] == len(SENTENCES)
    assert list(facts["ms_per_text"]) == list(facts["texts_per_s"]) == ["1", "8", "16", "32"]
    assert all(facts[name] > 0 for name in ("import_s", "load_s", "first_s", "resident_mb"))
    assert "cores" in facts["machine"]


def test_each_batch_size_sees_all_texts(recorder):
    found = measure_speed(lambda: recorder, ["A ferry was late."] * 3, batch_sizes=(1, 4), repeat=2)
    first_and_warm_up = [1, 6]
    each_turn = [1] * 6 + [4, 2]
    assert [number for number, _ in recorder.calls] == first_and_warm_up + 2 * each_turn
    assert found.words_per_text == 5
    assert found.beam == recorder.run.decode.beam_size


def test_beam_option_is_measured(recorder):
    found = measure_speed(lambda: recorder, ["A ferry."], beam=2, batch_sizes=(1,), repeat=1)
    assert {beam for _, beam in recorder.calls} == {2}
    assert found.beam == 2


def test_texts_without_words_are_measured(recorder):
    found = measure_speed(lambda: recorder, ["", "A ferry."], batch_sizes=(1,), repeat=1)
    assert found.words_per_text == 1.5


def test_invented_sentences_have_length_of_paper():
    words = [len(sentence.split()) for sentence in SENTENCES]
    assert len(set(SENTENCES)) == max(speed.BATCH_SIZES)
    assert 27 <= statistics.mean(words) <= 31  # without punctuation; 31.4 with


def test_memory_is_optional(monkeypatch):
    monkeypatch.setattr(speed, "Path", lambda name: TOY / "missing")
    assert speed.resident_mb() is None
