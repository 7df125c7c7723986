"""`readagain train` in processes: kills, signals, two runs in one folder, torchrun."""

import json
import os
import signal
import subprocess
import sys

import pytest
from self_signal import readagain_with_signal, wait_until_stopped

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
TORCHRUN = [
    *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
]
# Functions after whose n-th call a run sends itself a signal.
LOG_LINE = "readagain.training.metrics:MetricsLog.write"
CHECKPOINT = "readagain.training.run_writer:RunWriter.save"
UPDATE = "readagain.training.trainer:Trainer.update"


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


READAGAIN = [sys.executable, "-m", "readagain"]


def train_arguments(data, out):
    return ["train", "tiny", "--device", "cpu", "--data", str(data), "--out", str(out), *SMALL]


def run(*words, **environment):
    """Run a command line to its end."""
    return subprocess.run(
        words, capture_output=True, text=True, check=False, env={**ONE_THREAD, **environment}
    )


def finish(data, out):
    """Run the training to its end, and return what it prints."""
    done = run(*READAGAIN, *train_arguments(data, out))
    assert done.returncode == 0, done.stderr
    return done.stdout


def start(*words):
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ONE_THREAD
    )


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
        kill = readagain_with_signal(signal.SIGKILL, after=LOG_LINE, call=num_lines)
        killed = run(*kill, *train_arguments(data, out))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "resuming from step" in finish(data, out)
    assert logged(out) == logged(uninterrupted)
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_stopped_run_saves_and_prints_how_to_resume(data, uninterrupted, tmp_path):
    out = tmp_path / "out"
    terminate = readagain_with_signal(signal.SIGTERM, after=LOG_LINE, call=3)
    stopped = run(*terminate, *train_arguments(data, out))
    assert stopped.returncode == 0, stopped.stderr
    assert "stopped and saved at step" in stopped.stdout
    assert "run the same command to resume" in stopped.stdout
    finish(data, out)
    assert logged(out) == logged(uninterrupted)
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_closed_stdout_does_not_end_training(data, uninterrupted, tmp_path):
    out = tmp_path / "out"
    with start(*READAGAIN, *train_arguments(data, out)) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0
    assert weights(out) == weights(uninterrupted)


@pytest.mark.slow
def test_run_dir_is_locked_while_training(data, tmp_path):
    arguments = train_arguments(data, tmp_path / "out")
    process = start(*readagain_with_signal(signal.SIGSTOP, after=LOG_LINE), *arguments)
    wait_until_stopped(process)
    second = run(*READAGAIN, *arguments)
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


def run_with_two_processes(*train_arguments):
    done = run(*TORCHRUN, "-m", "readagain", *train_arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def one_process(data, tmp_path_factory):
    """Run trained by one process; without dropout, since each process draws its own."""
    out = tmp_path_factory.mktemp("one_process") / "out"
    done = run(*READAGAIN, *train_arguments(data, out), *NO_DROPOUT)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
@pytest.mark.distributed
def test_two_processes_train_the_same_weights_as_one(data, one_process, tmp_path):
    out = tmp_path / "out"
    run_with_two_processes(*train_arguments(data, out), *NO_DROPOUT)
    for one, two in zip(logged(one_process), logged(out), strict=True):
        assert two == pytest.approx(one, abs=1e-5)


@pytest.mark.slow
@pytest.mark.distributed
def test_two_processes_resume_the_run_of_one(data, one_process, tmp_path):
    out = tmp_path / "out"
    arguments = [*train_arguments(data, out), *NO_DROPOUT]
    killed = run(*readagain_with_signal(signal.SIGKILL, after=CHECKPOINT), *arguments)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "resuming from step" in run_with_two_processes(*arguments)
    for one, two in zip(logged(one_process), logged(out), strict=True):
        assert two == pytest.approx(one, abs=1e-5)


@pytest.fixture(scope="module")
def two_uninterrupted(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("two") / "out"
    run_with_two_processes(*train_arguments(data, out))
    return out


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("lost_rank", ["0", "1"])
def test_restarted_worker_keeps_identical_weights(data, two_uninterrupted, tmp_path, lost_rank):
    out = tmp_path / "out"
    # Update 15 is after the first checkpoint, at update 10.
    _, *kill = readagain_with_signal(signal.SIGKILL, after=UPDATE, call=15, rank=lost_rank)
    restarting = [*TORCHRUN, "--max-restarts", "3"]
    done = run(*restarting, *kill, *train_arguments(data, out), **OWN_STORE)
    assert done.returncode == 0, done.stderr
    assert "resuming from step" in done.stdout
    assert logged(out) == logged(two_uninterrupted)
    assert weights(out) == weights(two_uninterrupted)
