"""`readagain prepare`: several processes, kills, and invalid input."""

import json
import signal
import subprocess
import sys
from itertools import cycle, islice, product
from pathlib import Path

import psutil
import pytest
from self_signal import readagain_with_signal, wait_until_stopped

from readagain.corpus.manifest import unfinished_dir
from readagain.corpus.shards import PreparedCorpus
from readagain.storage.locks import locked_dir

NUM_PAIRS = 20_000  # three blocks


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Write an invented corpus with duplicates and dropped pairs."""
    path = tmp_path_factory.mktemp("corpus") / "pairs.jsonl"
    with path.open("w") as file:
        for number, letters in enumerate(
            islice(cycle(product("abcdefghijk", repeat=4)), NUM_PAIRS)
        ):
            place = "".join(letters)  # 14,641 different places, fewer than pairs
            text = f"A storm closed {number} schools in {place} on Monday. It left by noon."
            headline = f"Storm closes {place} schools" if number % 5 else "Storm"
            file.write(json.dumps({"text": text, "headline": headline}) + "\n")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(corpus, tmp_path_factory) -> dict[str, bytes]:
    """Files that one process prepares without interruption."""
    out = tmp_path_factory.mktemp("expected") / "out"
    command = [sys.executable, "-m", "readagain", "prepare", str(corpus), "--dev-pairs", "500"]
    subprocess.run([*command, "--out", str(out), "--workers", "1"], check=True)
    return contents(out)


@pytest.mark.slow
@pytest.mark.distributed
def test_prepare_output_does_not_depend_on_workers(corpus, expected, tmp_path, readagain):
    out = tmp_path / "out"
    done = readagain("prepare", corpus, "--dev-pairs", 500, "--out", out, "--workers", 3)
    assert done.returncode == 0, done.stderr
    assert contents(out) == expected


@pytest.mark.slow
@pytest.mark.distributed
def test_killed_prepare_resumes_to_the_same_bytes(corpus, expected, tmp_path, readagain):
    out = tmp_path / "out"
    arguments = ["prepare", corpus, "--dev-pairs", 500, "--out", out, "--workers", 2]
    first_chunk = "readagain.corpus.workers:_ProgressCounter.add"
    stop = readagain_with_signal(signal.SIGSTOP, after=first_chunk)
    process = subprocess.Popen([*stop, *map(str, arguments)], stderr=subprocess.DEVNULL)
    wait_until_stopped(process)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not out.exists()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []  # workers end with their parent

    done = readagain(*arguments)
    assert done.returncode == 0, done.stderr
    assert contents(out) == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.slow
@pytest.mark.distributed
def test_prepare_worker_error_is_one_line(corpus, tmp_path, readagain):
    broken = tmp_path / "broken.jsonl"
    lines = corpus.read_text().splitlines()
    lines[17_000] = lines[17_000][:-5]
    broken.write_text("\n".join(lines) + "\n")
    done = readagain(
        "prepare", broken, "--out", tmp_path / "out", "--workers", 2, "--on-error", "stop"
    )
    assert done.returncode == 2
    message = done.stderr.splitlines()[-1]
    assert f"readagain: {broken}:17001: not JSON: " in message
    assert message.endswith("or skip such records with --on-error=skip")
    assert "Traceback" not in done.stderr
    done = readagain("prepare", broken, "--out", tmp_path / "out", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert "bad                      1  invalid records, listed in skipped.jsonl" in done.stdout


def test_second_prepare_on_same_folder_is_rejected(corpus, tmp_path, readagain):
    with locked_dir(unfinished_dir(tmp_path / "out"), action="preparing into"):
        done = readagain("prepare", corpus, "--out", tmp_path / "out", "--workers", 1)
    assert done.returncode == 2
    assert "another process is preparing into this folder" in done.stderr


def test_prepare_mixes_formats_and_counts_origins(tmp_path, readagain):
    (tmp_path / "a.csv").write_text("description,title\nA storm closed the schools.,Storm closes\n")
    (tmp_path / "b.article.txt").write_text("the harbour of UNK opened on monday .\n")
    (tmp_path / "b.title.txt").write_text("UNK opens harbour\n")
    (tmp_path / "c.rss").write_text(
        "<rss><channel><item><title>Calm in Tarn</title>"
        "<description>It is calm in Tarn again.</description></item></channel></rss>"
    )
    inputs = [tmp_path / name for name in ("a.csv", "b.article.txt", "c.rss")]
    done = readagain("prepare", *inputs, "--out", tmp_path / "out", "--workers", 1)
    assert done.returncode == 0, done.stderr
    prepared = PreparedCorpus.open(tmp_path / "out")
    assert prepared.manifest.origins == list(map(str, inputs))
    assert prepared.split("train").shards[0].origins.tolist() == [0, 1, 2]
    _, summary = prepared.split("train")[1]
    assert prepared.lexicon.decode(summary) == "<unk> opens harbour"
    assert [entry["kept"] for entry in prepared.manifest.inputs] == [1, 1, 1]
