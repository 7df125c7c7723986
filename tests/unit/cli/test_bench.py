"""`readagain bench` says what it measured, on which texts, and on which machine."""

import json
import statistics
from pathlib import Path

import pytest

from readagain.cli.bench import MAX_TEXTS
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
    """A summarizer that notes how many texts each call is given."""

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


def test_invented_sentences_are_measured_alone_and_in_batches(bench):
    done = bench()
    assert done.returncode == 0, done.stderr
    assert "32 texts of 31.4 words" in done.stdout
    rows = [line.split() for line in done.stdout.partition("texts/s\n")[2].splitlines()]
    assert [int(together) for together, _, _ in rows] == [1, 8, 16, 32]
    for _, ms, per_s in rows:
        assert float(ms) * float(per_s) == pytest.approx(1e3, rel=0.2)


def test_json_holds_every_figure(bench):
    facts = json.loads(bench("--beam", 3, "--json").stdout)
    assert (facts["model"], facts["beam"], facts["threads"]) == (str(TOY), 3, 1)
    assert facts["texts"] == len(SENTENCES)
    assert list(facts["ms_per_text"]) == list(facts["texts_per_s"]) == ["1", "8", "16", "32"]
    assert all(facts[name] > 0 for name in ("import_s", "load_s", "first_s", "resident_mb"))
    assert "cores" in facts["machine"]


def test_own_texts_one_a_line_or_a_record_each(bench, tmp_path):
    (tmp_path / "own.txt").write_text("A ferry was late.\nA bridge opened.\n")
    (tmp_path / "own.jsonl").write_text('{"text": "A ferry was late."}\n')
    assert json.loads(bench("--texts", tmp_path / "own.txt", "--json").stdout)["texts"] == 2
    assert json.loads(bench("--texts", tmp_path / "own.jsonl", "--json").stdout)["texts"] == 1


def test_own_texts_in_another_encoding_are_read_as_its_option_says(bench, tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes("Élan was late.\n".encode("latin-1"))
    assert "name its --encoding" in bench("--texts", path).stderr
    done = bench("--texts", path, "--encoding", "latin-1", "--json")
    assert json.loads(done.stdout)["texts"] == 1


def test_own_texts_may_come_through_a_pipe(readagain):
    done = readagain(
        *("bench", "--model", TOY, "--threads", 1, "--texts", "/dev/stdin"),
        input="A ferry was late.\n",
    )
    assert ": 1 text of 5.0 words" in done.stdout


def test_a_folder_of_texts_is_called_one(bench, tmp_path):
    assert f"{tmp_path}: a folder; name a file of texts" in bench("--texts", tmp_path).stderr


def test_a_long_file_is_measured_by_its_beginning(bench, tmp_path):
    (tmp_path / "own.txt").write_text("A ferry was late.\n" * (MAX_TEXTS + 1))
    assert f": {MAX_TEXTS} texts of 5.0 words" in bench("--texts", tmp_path / "own.txt").stdout


@pytest.mark.parametrize(
    ("content", "message"), [(None, "no such file; without --texts"), ("\n \n", "no text in it")]
)
def test_texts_that_are_not_there_are_one_line(bench, tmp_path, content, message):
    path = tmp_path / "own.txt"
    if content is not None:
        path.write_text(content)
    done = bench("--texts", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"readagain: {path}: {message}")
    assert done.stderr.count("\n") == 1


def test_each_batch_size_sees_all_texts_and_few_texts_are_taken_again(recorder):
    found = measure_speed(lambda: recorder, ["A ferry was late."] * 3, together=(1, 4), repeat=2)
    first_and_warm_up = [1, 6]
    each_turn = [1] * 6 + [4, 2]
    assert [number for number, _ in recorder.calls] == first_and_warm_up + 2 * each_turn
    assert found.words_per_text == 5
    assert found.beam == recorder.run.decode.beam_size


def test_the_beam_asked_for_is_the_beam_measured(recorder):
    found = measure_speed(lambda: recorder, ["A ferry."], beam=2, together=(1,), repeat=1)
    assert {beam for _, beam in recorder.calls} == {2}
    assert found.beam == 2


def test_texts_without_language_are_measured_like_others(recorder):
    found = measure_speed(lambda: recorder, ["", "A ferry."], together=(1,), repeat=1)
    assert found.words_per_text == 1.5


def test_the_invented_sentences_are_those_of_the_papers_length():
    words = [len(sentence.split()) for sentence in SENTENCES]
    assert len(set(SENTENCES)) == max(speed.TOGETHER)
    assert 27 <= statistics.mean(words) <= 31  # without punctuation; 31.4 with


def test_memory_is_left_out_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(speed, "Path", lambda name: TOY / "missing")
    assert speed.resident_mb() is None
