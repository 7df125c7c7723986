"""`readagain batch --engine ray` on a real one-machine cluster: the same bytes as local."""

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.distributed]

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
CLUSTER = """
import sys, ray
cluster = ray.init(
    num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, log_to_driver=False
)
print(cluster.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""
# A job with one shard that kills the process that unpickles it.
DEADLY_JOB = """
import signal, sys
from dataclasses import replace
from readagain.formats.texts import TextReadOptions
from readagain.batch.run import run_batch
from readagain.batch.locations import find_files
from readagain.batch.job import BatchJob
from readagain.batch.ray import ray_engine
from readagain.batch.shards import SplitOptions
from readagain.batch.job import group_inputs
from readagain.batch.shard_worker import ShardConfig

class Deadly(tuple):
    def __reduce__(self):
        return signal.raise_signal, (signal.SIGKILL,)

class DeadlyJob(BatchJob):
    def split_input(self, source, finished):
        for shard in super().split_input(source, finished):
            is_deadly = shard.number == 1
            yield replace(shard, pieces=Deadly()) if is_deadly else shard

news, out, model, address = sys.argv[1:]
job = DeadlyJob(
    inputs=tuple(group_inputs(find_files([news]), TextReadOptions())),
    split=SplitOptions(read=TextReadOptions(), shard_rows=40, added_fields=("summary",)),
    config=ShardConfig(out=out, model=model),
)
run_batch(job, ray_engine(address=address, num_workers=1))
"""


@pytest.fixture(scope="module")
def environment():
    """Environment with a random secret that the cluster and its clients share."""
    return {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


@pytest.fixture(scope="module")
def address(environment):
    """Address of a small cluster, which is stopped after the tests."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as cluster:
        yield cluster.stdout.readline().strip()
        cluster.stdin.close()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Folder with an invented JSONL file, which has an invalid row, and a CSV file."""
    folder = tmp_path_factory.mktemp("inputs")
    texts = [
        f"The ferry of Ghent was late by {number} minutes on Monday, said the old harbour police."
        for number in range(320)
    ]
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
    lines[7] = "not json"
    (folder / "a.jsonl").write_text("\n".join(lines))
    (folder / "b.csv").write_text("text\n" + "".join(f'"{text}"\n' for text in texts[:50]))
    return folder


@pytest.fixture
def command(inputs, address, monkeypatch):
    """Function that makes the command, with paths relative to the inputs.

    The cluster was started in another folder, where these relative paths do not exist.
    """
    monkeypatch.chdir(inputs)

    def make(out, *engine):
        return [
            *(sys.executable, "-m", "readagain", "batch", "a.jsonl", "b.csv", os.path.relpath(out)),
            *("--model", str(TOY), "--shard-rows", "20"),
            *(engine or ("--engine", "ray", "--address", address, "--workers", "2")),
        ]

    return make


def contents(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def uninterrupted(command, environment, tmp_path):
    out = tmp_path / "local"
    subprocess.run(command(out, "--workers", "1"), check=True, env=environment)
    return contents(out)


@pytest.fixture
def find_actors(environment):
    """Function that returns the actors of the cluster that summarize shards."""

    def find():
        token = environment["RAY_AUTH_TOKEN"]
        return [
            process
            for process in psutil.process_iter(["environ", "cmdline"])
            if "ShardActor" in " ".join(process.info["cmdline"] or ())
            and (process.info["environ"] or {}).get("RAY_AUTH_TOKEN") == token
        ]

    return find


def wait_for_shards(driver, out, number):
    while len(list(out.glob("unfinished/notes/*"))) < number:
        assert driver.poll() is None
        time.sleep(0.01)


def test_killed_ray_batch_resumes_to_the_same_bytes(
    command, environment, find_actors, uninterrupted, tmp_path
):
    out = tmp_path / "ray"
    driver = subprocess.Popen(command(out), env=environment)
    wait_for_shards(driver, out, 3)
    actors = find_actors()
    driver.kill()
    driver.wait()
    assert not (out / "manifest.json").exists()
    # Ray ends the actors of a dead driver a moment later; until then they finish shards.
    _, still_running = psutil.wait_procs(actors, timeout=60)
    assert still_running == []

    before = len(list(out.glob("unfinished/notes/*")))
    driver = subprocess.Popen(
        command(out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    wait_for_shards(driver, out, before + 2)
    find_actors()[0].kill()
    _, errors = driver.communicate()
    assert driver.returncode == 0, errors
    assert contents(out) == uninterrupted


def test_ray_shard_that_kills_workers_is_skipped(inputs, address, environment, tmp_path):
    out = tmp_path / "out"
    arguments = [str(inputs / "a.jsonl"), str(out), str(TOY), address]
    result = subprocess.run(
        [sys.executable, "-c", DEADLY_JOB, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert "part-00000-000001: skipped, since it killed its worker 3 times" in result.stderr
    assert len(list(out.glob("part-*"))) == 7
