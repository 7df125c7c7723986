"""Measure `readagain batch`: rows per second and memory, with several workers and on Ray.

    python benchmarks/batch.py                                  # all comparisons; minutes
    python benchmarks/batch.py --jobs local:1 local:2           # without Ray
    python benchmarks/batch.py --texts 1000000 --jobs local:2 --repeats 1 --shard-rows 1024
    python benchmarks/batch.py --model tests/assets/models/toy --texts 1000000 --jobs local:2 \
        --repeats 1 --shard-rows 1024                           # a million rows in less time

Each job runs in a new process, one after the other; the sequence of jobs is repeated
`--repeats` times, and results are medians. The rate is measured from the first finished shard to
the last, without the loading of the model; the total time is printed too.
Memory is the peak of the driver and its workers together, with shared pages counted once.
Rows per second of processor time do not depend on other processes of the machine.
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
from readagain.text.vocab import Vocab

SAMPLE_EVERY_S = 0.5
WORDS_PER_TEXT = (12, 40)
COMMON_WORDS = 5000
OBJECT_STORE_BYTES = 256 << 20


def write_texts(path: Path, num_texts: int, model: str) -> None:
    """Write texts of random vocabulary words with Zipf frequencies."""
    vocab = Vocab.load(find_model(model) / "source_vocab.txt")
    known = range(4, min(len(vocab), COMMON_WORDS))
    words = [word for word in map(vocab.word, known) if word.isalpha()]
    random = Random(1)
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    with path.open("w", encoding="utf-8") as file:
        for number in range(num_texts):
            length = random.randint(*WORDS_PER_TEXT)
            chosen = random.choices(words, cum_weights=weights, k=length)
            text = " ".join(chosen).capitalize() + "."
            file.write(json.dumps({"id": number, "text": text}) + "\n")


def measure(job: str, source: Path, model: str, shard_rows: int) -> dict[str, Any]:
    """Run one job in this process; return its rates and peak memory."""
    name, _, workers = job.partition(":")
    work = ShardConfig(out=tempfile.mkdtemp(prefix="batch-"), model=model)
    read = TextReadOptions()
    batch = BatchJob(
        inputs=tuple(group_inputs(find_files([str(source)]), read)),
        split=SplitOptions(read=read, shard_rows=shard_rows, added_fields=work.added_fields),
        config=work,
    )
    moments: list[tuple[float, int]] = []
    start = time.monotonic()
    with _Watch() as watch:
        manifest = run_batch(
            batch,
            _engine(name, int(workers)),
            on_progress=lambda at: moments.append((time.monotonic(), at.records)),
        )
    total_s = time.monotonic() - start
    shutil.rmtree(work.out)
    (first_s, first), (last_s, last) = moments[0], moments[-1]
    return {
        "rows": manifest.rows,
        "fingerprint": manifest.fingerprint,
        "total_s": total_s,
        "rate": (last - first) / max(last_s - first_s, 1e-9),
        "peak_mb": watch.peak_bytes / 1e6,
        "cpu_rate": manifest.rows / max(watch.cpu_s, 1e-9),
    }


def _engine(name: str, workers: int) -> Engine:
    if name == "local":
        return local_engine(num_workers=workers)
    import ray

    from readagain.batch.ray import ray_engine

    ray.init(
        num_cpus=workers,
        object_store_memory=OBJECT_STORE_BYTES,
        include_dashboard=False,
        log_to_driver=False,
    )
    return ray_engine(address=None, num_workers=workers)


class _Watch:
    """Sampler of the memory and processor time of this process and its children."""

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._cpu_s: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "_Watch":
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
        this = psutil.Process()
        while not self._stop.wait(SAMPLE_EVERY_S):
            held = 0
            for process in [this, *this.children(recursive=True)]:
                try:
                    held += process.memory_full_info().pss
                    times = process.cpu_times()
                except psutil.Error:  # the process has ended
                    continue
                self._cpu_s[process.pid] = times.user + times.system
            self.peak_bytes = max(self.peak_bytes, held)


def run_apart(job: str, source: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a job in a new process."""
    command = [
        *(sys.executable, __file__, "--measure", job, "--source", str(source)),
        *("--model", arguments.model, "--shard-rows", str(arguments.shard_rows)),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure and print."""
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
        found = measure(arguments.measure, arguments.source, arguments.model, arguments.shard_rows)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.jsonl"
        write_texts(source, arguments.texts, arguments.model)
        print(f"{describe_machine()}; load {os.getloadavg()[0]:.1f} at the start")
        print(f"{arguments.texts:,} texts, {source.stat().st_size / 1e6:.1f} MB, {arguments.model}")
        found: dict[str, list[dict[str, Any]]] = {job: [] for job in arguments.jobs}
        for _ in range(arguments.repeats):
            for job in arguments.jobs:
                found[job].append(run_apart(job, source, arguments))
    prints = {each["fingerprint"] for runs in found.values() for each in runs}
    print("all outputs equal" if len(prints) == 1 else f"{len(prints)} different outputs")
    print("job          rows/s   whole job s   peak MB   rows/cpu s   relative to the first")
    first = statistics.median(each["rate"] for each in found[arguments.jobs[0]])
    for job, runs in found.items():
        rate, total, peak, cpu = (
            statistics.median(each[name] for each in runs)
            for name in ("rate", "total_s", "peak_mb", "cpu_rate")
        )
        print(
            f"{job:<10} {rate:>8.1f} {total:>13.1f} {peak:>9.0f} {cpu:>12.1f} {rate / first:>25.2f}"
        )
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
