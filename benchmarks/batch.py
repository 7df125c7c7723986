"""Measure `readagain batch`: rows per second and memory, with several workers and on Ray.

    python benchmarks/batch.py                                  # all comparisons; minutes
    python benchmarks/batch.py --jobs local:1 local:2           # without Ray
    python benchmarks/batch.py --texts 1000000 --jobs local:2 --repeats 1 --shard-rows 1024
    python benchmarks/batch.py --model tests/assets/models/toy --texts 1000000 --jobs local:2 \
        --repeats 1 --shard-rows 1024                           # a million rows in less time

The jobs run one after the other, each in a new process. The sequence of jobs is repeated
`--repeats` times, and results are medians. The rate is measured from the first finished shard to
the last, without the loading of the model; the total time is also printed. Memory is the peak of
the driver and its workers together; shared pages count once. The rows per second of processor time
do not depend on other processes of the machine.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import psutil

from readagain.batch.job import BatchJob, group_inputs
from readagain.batch.locations import find_files
from readagain.batch.run import Engine, local_engine, run_batch
from readagain.batch.shard_worker import ShardConfig
from readagain.batch.shards import SplitOptions
from readagain.formats.texts import TextReadOptions
from readagain.processors import describe_machine
from readagain.storage.bundled import find_model
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

SAMPLE_INTERVAL_S = 0.5
MIN_WORDS, MAX_WORDS = 12, 40
NUM_COMMON_WORDS = 5000
RAY_OBJECT_STORE_BYTES = 256 << 20


def write_texts(path: Path, num_texts: int, model: str) -> None:
    """Write texts of random vocabulary words with Zipf frequencies."""
    vocab = Vocab.load(find_model(model) / "source_vocab.txt")
    common_words = vocab.words[len(SPECIAL_TOKENS) : NUM_COMMON_WORDS]
    words = [word for word in common_words if word.isalpha()]
    random = Random(1)
    cumulative_weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    with path.open("w", encoding="utf-8") as file:
        for number in range(num_texts):
            length = random.randint(MIN_WORDS, MAX_WORDS)
            text_words = random.choices(words, cum_weights=cumulative_weights, k=length)
            text = " ".join(text_words).capitalize() + "."
            file.write(json.dumps({"id": number, "text": text}) + "\n")


def measure(job: str, source: Path, model: str, shard_rows: int) -> dict[str, Any]:
    """Run a job such as `local:2`, with two workers, in this process; return rates and memory."""
    engine_name, _, num_workers = job.partition(":")
    config = ShardConfig(out=tempfile.mkdtemp(prefix="batch-"), model=model)
    read_options = TextReadOptions()
    batch_job = BatchJob(
        inputs=tuple(group_inputs(find_files([str(source)]), read_options)),
        split=SplitOptions(
            read=read_options, shard_rows=shard_rows, added_fields=config.added_fields
        ),
        config=config,
    )
    progress: list[tuple[float, int]] = []  # times, and rows that were finished then
    start = time.monotonic()
    with _ResourceSampler() as sampler:
        manifest = run_batch(
            batch_job,
            _make_engine(engine_name, int(num_workers)),
            on_progress=lambda state: progress.append((time.monotonic(), state.records)),
        )
    total_s = time.monotonic() - start
    shutil.rmtree(config.out)
    (first_s, first_rows), (last_s, last_rows) = progress[0], progress[-1]
    return {
        "rows": manifest.rows,
        "fingerprint": manifest.fingerprint,
        "total_s": total_s,
        "rate": (last_rows - first_rows) / max(last_s - first_s, 1e-9),
        "peak_mb": sampler.peak_bytes / 1e6,
        "cpu_rate": manifest.rows / max(sampler.cpu_s, 1e-9),
    }


def _make_engine(name: str, num_workers: int) -> Engine:
    """Return the engine `local` or `ray`."""
    if name == "local":
        return local_engine(num_workers=num_workers)
    import ray

    from readagain.batch.ray import ray_engine

    ray.init(
        num_cpus=num_workers,
        object_store_memory=RAY_OBJECT_STORE_BYTES,
        include_dashboard=False,
        log_to_driver=False,
    )
    return ray_engine(address=None, num_workers=num_workers)


class _ResourceSampler:
    """Thread that samples the memory and processor time of this process and its children."""

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._cpu_s: dict[int, float] = {}  # by process id
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "_ResourceSampler":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def cpu_s(self) -> float:
        """Processor time in seconds of all sampled processes."""
        return sum(self._cpu_s.values())

    def _sample(self) -> None:
        parent = psutil.Process()
        while not self._stop.wait(SAMPLE_INTERVAL_S):
            total_bytes = 0
            for process in [parent, *parent.children(recursive=True)]:
                try:
                    total_bytes += process.memory_full_info().pss
                    times = process.cpu_times()
                except psutil.Error:  # the process has ended
                    continue
                self._cpu_s[process.pid] = times.user + times.system
            self.peak_bytes = max(self.peak_bytes, total_bytes)


def measure_in_new_process(job: str, source: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run `measure` in a new process and return its result."""
    command = [
        *(sys.executable, __file__, "--measure", job, "--source", str(source)),
        *("--model", arguments.model, "--shard-rows", str(arguments.shard_rows)),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=environment
    )
    return dict(json.loads(process.stdout.splitlines()[-1]))


def main() -> None:
    """Measure the jobs named on the command line and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=4096)
    parser.add_argument("--model", default="news")
    parser.add_argument("--shard-rows", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", nargs="+", default=["local:1", "local:2", "ray:2"])
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--source", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        result = measure(arguments.measure, arguments.source, arguments.model, arguments.shard_rows)
        print(json.dumps(result))
        return
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.jsonl"
        write_texts(source, arguments.texts, arguments.model)
        print(f"{describe_machine()}; load {os.getloadavg()[0]:.1f} at the start")
        print(f"{arguments.texts:,} texts, {source.stat().st_size / 1e6:.1f} MB, {arguments.model}")
        results: dict[str, list[dict[str, Any]]] = {job: [] for job in arguments.jobs}
        for _ in range(arguments.repeats):
            for job in arguments.jobs:
                results[job].append(measure_in_new_process(job, source, arguments))
    fingerprints = {run["fingerprint"] for runs in results.values() for run in runs}
    num_outputs = len(fingerprints)
    print("all outputs equal" if num_outputs == 1 else f"{num_outputs} different outputs")
    print("job          rows/s   whole job s   peak MB   rows/cpu s   relative to the first")
    first_rate = statistics.median(run["rate"] for run in results[arguments.jobs[0]])
    for job, runs in results.items():
        rate, total_s, peak_mb, cpu_rate = (
            statistics.median(run[name] for run in runs)
            for name in ("rate", "total_s", "peak_mb", "cpu_rate")
        )
        print(
            f"{job:<10} {rate:>8.1f} {total_s:>13.1f} {peak_mb:>9.0f} {cpu_rate:>12.1f} "
            f"{rate / first_rate:>25.2f}"
        )
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
