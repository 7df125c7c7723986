"""`readagain train` in processes: kills, signals, two runs in one folder, torchrun."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from readagain.storage.tensors import read_tensors

PLACES = ("bridge", "harbour", "library", "market", "museum", "school", "station", "theatre")
EVENTS = ("opens", "closes", "burns", "floods", "moves", "wins")
SMALL = [
    f"--set={setting}"
    for setting in (
        "model.embedding_size=16",
        "model.encoder.hidden_size=16",
        "model.decoder.hidden_size=16",
        "model.decoder.attention_size=16",
        "train.batch_size=8",
        "train.epochs=3",
        "train.warmup_steps=4",
        "train.rouge_pairs=10",
        "train.log_every=2",
        "train.validate_every=10",
        "decode.beam_size=3",
        "decode.max_words=8",
    )
]
NO_DROPOUT = ["--set=model.dropout=0.0"]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
# Without it, restarted processes read addresses of ended processes from the store that torchrun
# shares with them (pytorch/pytorch issue 135712).
OWN_STORE = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Prepared corpus of invented pairs."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = []
    for number in range(140):
        town = "".join("bdfgklmn"[number // 8**place % 8] + "aeio"[place] for place in range(3))
        place, event = PLACES[number * 5 % 8], EVENTS[number * 7 % 6]
        text = f"The {place} of {town.title()} {event} on Monday after {number} years of repairs ."
        headline = f"{town.title()} {place} {event} on Monday"
        lines.append(json.dumps({"text": text, "headline": headline}))
    (folder / "pairs.jsonl").write_text("\n".join(lines))
    arguments = ["prepare", folder / "pairs.jsonl", "--out", folder / "data", "--dev-pairs", "20"]
    subprocess.run([sys.executable, "-m", "readagain", *map(str, arguments)], check=True)
    return folder / "data"


def command(data, out):
    return [
        *(sys.executable, "-m", "readagain", "train", "tiny", "--device", "cpu"),
        *("--data", str(data), "--out", str(out), *SMALL),
    ]


def start(data, out):
    return subprocess.Popen(
        command(data, out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ONE_THREAD,
    )


def finish(data, out):
    done = subprocess.run(
        command(data, out), capture_output=True, text=True, check=False, env=ONE_THREAD
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def wait_for_lines(out, number):
    """Wait until the log has `number` lines; the run must be long enough to write them."""
    path = out / "metrics.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < number:
        time.sleep(0.01)


def logged(out):
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("minutes", "pairs_per_s")}
        for line in lines
    ]


def weights(out):
    tensors = read_tensors(out / "weights.safetensors")
    return {name: array.tobytes() for name, array in tensors.items()}


@pytest.fixture(scope="module")
def uninterrupted(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted") / "out"
    finish(data, out)
    return out


@pytest.mark.slow
def test_killed_run_resumes_to_identical_weights(data, uninterrupted, tmp_path):
    out = tmp_path / "out"
    for num_lines in (4, 11):  # before and after the first validation
        process = start(data, out)
        wait_for_lines(out, num_lines)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    assert "resuming from step" in finish(data, out)
    assert logged(out) == logged(uninterrupted)
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_stopped_run_saves_and_prints_how_to_resume(data, uninterrupted, tmp_path):
    out = tmp_path / "out"
    process = start(data, out)
    wait_for_lines(out, 3)
    process.terminate()
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "stopped and saved at step" in output
    assert "run the same command to resume" in output
    finish(data, out)
    assert logged(out) == logged(uninterrupted)
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_closed_stdout_does_not_end_training(data, uninterrupted, tmp_path):
    out = tmp_path / "out"
    with start(data, out) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_run_dir_is_locked_while_training(data, tmp_path):
    out = tmp_path / "out"
    process = start(data, out)
    wait_for_lines(out, 1)
    process.send_signal(signal.SIGSTOP)
    second = subprocess.run(
        command(data, out), capture_output=True, text=True, check=False, env=ONE_THREAD
    )
    process.kill()
    process.communicate()
    assert second.returncode == 2
    assert "another process is training into this folder" in second.stderr


@pytest.mark.slow
def test_trained_model_can_be_checked_and_fine_tuned(data, uninterrupted, tmp_path, readagain):
    checked = readagain("models", uninterrupted)
    assert checked.returncode == 0, checked.stderr
    assert "complete, all checksums match" in checked.stdout
    arguments = ["--data", data, "--from", uninterrupted, "--out", tmp_path / "fine-tuned"]
    fine_tuned = readagain(
        "train", *arguments, "--device", "cpu", "--set", "train.epochs=1", env=ONE_THREAD
    )
    assert fine_tuned.returncode == 0, fine_tuned.stderr
    assert f"fine-tuning {uninterrupted}, with its vocabularies" in fine_tuned.stdout


@pytest.mark.slow
def test_bundled_model_can_be_fine_tuned(data, tmp_path, readagain):
    out, text = tmp_path / "out", "The old harbour of Norrvik closes on Monday, the council said."
    arguments = ["--from", "news", "--extend-vocab", 20, "--data", data, "--out", out]
    # With this learning rate the weights hardly change, so the summary stays the same.
    changes = ("learning_rate=1e-9", "epochs=1", "batch_size=64", "rouge_pairs=0")
    settings = [f"--set=train.{change}" for change in changes]
    tuned = readagain("train", *arguments, "--device", "cpu", *settings, env=ONE_THREAD)
    assert tuned.returncode == 0, tuned.stderr
    assert "its weights are recovered from its int8 graphs" in tuned.stdout
    exported = readagain("export", out, "--check-texts", 1, "--threads", 1)
    assert exported.returncode == 0, exported.stderr
    before, after = (readagain("summarize", "--model", model, text) for model in ("news", out))
    assert (before.returncode, after.returncode) == (0, 0)
    assert after.stdout == before.stdout != ""


def run_with_two_processes(arguments):
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, *torchrun, *arguments[1:]], capture_output=True, text=True, env=ONE_THREAD
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def one_process(data, tmp_path_factory):
    """Run trained by one process; without dropout, since each process draws its own."""
    out = tmp_path_factory.mktemp("one_process") / "out"
    subprocess.run([*command(data, out), *NO_DROPOUT], check=True, env=ONE_THREAD)
    return out


@pytest.mark.slow
@pytest.mark.distributed
def test_two_processes_train_the_same_weights_as_one(data, one_process, tmp_path):
    out = tmp_path / "out"
    run_with_two_processes([*command(data, out), *NO_DROPOUT])
    for one, two in zip(logged(one_process), logged(out), strict=True):
        assert two == pytest.approx(one, abs=1e-5)


@pytest.mark.slow
@pytest.mark.distributed
def test_two_processes_resume_the_run_of_one(data, one_process, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen([*command(data, out), *NO_DROPOUT], env=ONE_THREAD)
    while not list(out.glob("resume/checkpoint-*")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    output = run_with_two_processes([*command(data, out), *NO_DROPOUT])
    assert "resuming from step" in output
    for one, two in zip(logged(one_process), logged(out), strict=True):
        assert two == pytest.approx(one, abs=1e-5)


@pytest.fixture(scope="module")
def two_uninterrupted(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("two") / "out"
    run_with_two_processes(command(data, out))
    return out


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("lost_rank", ["0", "1"])
def test_restarted_worker_keeps_identical_weights(data, two_uninterrupted, tmp_path, lost_rank):
    out = tmp_path / "out"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    process = subprocess.Popen(
        [sys.executable, *torchrun, "--max-restarts", "3", *command(data, out)[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ONE_THREAD, **OWN_STORE},
    )
    wait_for_lines(out, 11)  # after the first checkpoint
    workers = psutil.Process(process.pid).children()
    next(worker for worker in workers if worker.environ().get("RANK") == lost_rank).kill()
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "resuming from step" in output
    assert logged(out) == logged(two_uninterrupted)
    assert weights(out) == weights(two_uninterrupted)
