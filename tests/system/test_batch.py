"""`readagain batch` in processes: kills, Ctrl-C, two jobs in one folder, invalid rows."""

import gzip
import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
NUM_SHARDS = 25


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Invented inputs: JSONL with an invalid row, CSV and text files."""
    folder = tmp_path_factory.mktemp("inputs")
    texts = [
        f"The {PLACES[number % 8]} of Ghent closed on Monday after {number} years of repairs, "
        f"and {number + 3} people crossed the old {PLACES[number * 3 % 8]}."
        for number in range(420)
    ]
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts[:300])]
    lines[7] = "not json"
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    rows = "".join(f'{number},"{text}"\n' for number, text in enumerate(texts[300:400]))
    (folder / "b.csv").write_text("id,text\n" + rows)
    for number, text in enumerate(texts[400:]):
        (folder / f"{number:02d}.txt").write_text(text)
    return [str(folder / "a.jsonl.gz"), str(folder / "b.csv"), f"{folder}/*.txt"]


def command(inputs, out, *options):
    return [
        *(sys.executable, "-m", "readagain", "batch", *inputs, str(out), "--model", str(TOY)),
        *("--workers", "2", "--shard-rows", "18", *options),
    ]


def start(inputs, out, *options):
    return subprocess.Popen(
        command(inputs, out, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Background jobs of a shell inherit that SIGINT is ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    )


def finish(inputs, out, *options):
    result = subprocess.run(
        command(inputs, out, *options), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result


def wait_for_shards(process, out, number):
    """Wait until `number` of the `NUM_SHARDS` shards are finished, but not yet the job.

    The job needs about 40 ms per shard, so that `number` must be well below `NUM_SHARDS`.
    """
    while len(list(out.glob("unfinished/notes/*"))) < number:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)


def worker_processes(process):
    """Return the running worker processes of a job."""

    def is_worker(child):
        try:
            return "spawn_main" in " ".join(child.cmdline())
        except psutil.Error:  # the process has ended
            return False

    return [child for child in psutil.Process(process.pid).children() if is_worker(child)]


def contents(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def uninterrupted(inputs, tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted") / "out"
    result = finish(inputs, f"{out}/")  # with a slash, as shells complete the name of a folder
    bad = f"1 bad row written to {out}/bad"
    assert result.stdout == f"{out}/: 419 rows in {NUM_SHARDS} shards, {bad}\n"
    return out


@pytest.mark.slow
@pytest.mark.distributed
def test_killed_batch_resumes_to_the_same_bytes(inputs, uninterrupted, tmp_path):
    out = tmp_path / "out"
    for num_shards in (1, 4, 8):
        process = start(inputs, out)
        wait_for_shards(process, out, num_shards)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (out / "manifest.json").exists()
    finish(inputs, out)
    assert contents(out) == contents(uninterrupted)


@pytest.mark.slow
@pytest.mark.distributed
def test_killed_batch_worker_is_replaced(inputs, uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(inputs, out)
    for num_shards in (2, 8):
        wait_for_shards(process, out, num_shards)
        worker_processes(process)[0].kill()
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert errors.count("a worker process died; ") == 2, errors
    assert contents(out) == contents(uninterrupted)


@pytest.mark.slow
@pytest.mark.distributed
def test_interrupted_batch_prints_resume_hint(inputs, uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(inputs, out)
    wait_for_shards(process, out, 1)
    children = psutil.Process(process.pid).children()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.endswith("readagain: interrupted; run the same command to resume\n")
    assert "Traceback" not in errors
    psutil.wait_procs(children)
    finish(inputs, out)
    assert contents(out) == contents(uninterrupted)


@pytest.mark.slow
@pytest.mark.distributed
def test_second_batch_on_same_folder_is_rejected(inputs, tmp_path):
    out = tmp_path / "out"
    process = start(inputs, out)
    wait_for_shards(process, out, 1)
    process.send_signal(signal.SIGSTOP)
    second = subprocess.run(command(inputs, out), capture_output=True, text=True, check=False)
    process.kill()
    process.communicate()
    assert second.returncode == 2
    assert "another process is writing into this folder" in second.stderr


def test_unknown_output_format_is_an_error(inputs, tmp_path, readagain):
    result = readagain("batch", inputs[0], tmp_path / "out", "--output-format", "xml")
    assert result.returncode == 2
    assert "'xml' is not one of" in result.stderr
    assert not (tmp_path / "out").exists()


def test_batch_can_stop_at_invalid_row(inputs, tmp_path, readagain):
    result = readagain("batch", inputs[0], tmp_path / "out", "--model", TOY, "--on-error", "stop")
    assert result.returncode == 2
    assert "a.jsonl.gz:8: not JSON" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.jsonl"], "none.jsonl: no such file"),
        (["*.none"], "*.none: no file matches this pattern"),
        (["--format", "xml"], "--format is 'xml'; expected one of text, lines"),
        (["--address", "auto"], "--address auto: needs --engine ray"),
        (["--model", "none"], "no model 'none'"),
    ],
)
def test_invalid_batch_arguments_are_one_line(inputs, tmp_path, readagain, arguments, message):
    names = [name for name in arguments if "." in name] or inputs[:1]
    options = [] if names == arguments else arguments
    result = readagain("batch", *names, tmp_path / "out", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
