"""Run the engine or the server for a long time and measure whether its memory grows.

    python benchmarks/soak.py engine                           # news, 30 minutes, one thread
    python benchmarks/soak.py engine --model tests/assets/models/toy --texts 1000000
    python benchmarks/soak.py server --clients 8

Texts are random, with up to hundreds of words and unusual characters, and options change with each
request, so that caches that grow with new inputs are detected. Every few seconds
the memory of all processes is recorded. The slope is
that of a line fitted to the second half of the samples, when everything that is loaded
once is in memory. Writes a table (.csv) and, with matplotlib, a plot (.png).
"""

import argparse
import csv
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from readagain.engine.summarizer import Summarizer
from readagain.errors import MissingExtraError, require
from readagain.processors import describe_machine
from readagain.storage.bundled import find_model
from readagain.text.vocab import Vocab

MEGABYTE = 1 << 20
BATCH = 16
ODD = ("É́toile", "東京", "№7", "🙂", "…", "\x00", "a" * 300, "U.S.", "(", '"', "3,141.59", "")


@dataclass
class Samples:
    """Memory over time."""

    rows: list[tuple[float, int, float]] = field(default_factory=list)
    """Seconds, texts done, megabytes."""

    def slope(self) -> tuple[float, float]:
        """Return megabytes per hour and bytes per text, over the second half of the samples."""
        rows = np.array(self.rows[len(self.rows) // 2 :])
        if len(rows) < 2:
            return 0.0, 0.0
        per_second = np.polyfit(rows[:, 0], rows[:, 2], 1)[0]
        texts = max(rows[-1, 1] - rows[0, 1], 1.0)
        per_text = per_second * (rows[-1, 0] - rows[0, 0]) / texts
        return float(per_second * 3600), float(per_text * MEGABYTE)


class Texts:
    """Iterator over random texts; `short` texts have at most eight words."""

    def __init__(self, model: str, *, short: bool, seed: int = 1) -> None:
        vocab = Vocab.load(find_model(model) / "source_vocab.txt")
        self._words = [word for word in vocab.words[4:] if word.isalpha()] or ["word"]
        self._max_words = 8 if short else 60
        self._random = random.Random(seed)

    def __next__(self) -> str:
        draw = self._random
        number = draw.randint(0, self._max_words) if draw.random() > 0.01 else draw.randint(0, 400)
        words = [
            draw.choice(ODD) if draw.random() < 0.02 else draw.choice(self._words)
            for _ in range(number)
        ]
        return " ".join(words).capitalize() + draw.choice((".", "!", "", ". Then it ended."))

    def options(self) -> dict[str, object]:
        """Return random decoding options."""
        draw = self._random
        return {
            "beam": draw.choice((1, 2, 4, None)),
            "max_words": draw.choice((4, 8, None)),
            "max_bytes": draw.choice((None, None, 40)),
            "case": draw.choice(("sentence", "headline", "plain")),
            "explain": draw.random() < 0.1,
        }


def soak_engine(options: argparse.Namespace) -> Samples:
    """Summarize in this process."""
    summarizer = Summarizer.load(options.model, threads=1)
    texts = Texts(options.model, short=options.short)
    me, samples, done = psutil.Process(), Samples(), 0
    start = next_sample = time.monotonic()
    while not _is_over(options, start, done):
        batch = [next(texts) for _ in range(BATCH)]
        wanted = {name: value for name, value in texts.options().items() if value is not None}
        assert len(summarizer.summarize(batch, **wanted)) == BATCH
        done += BATCH
        if time.monotonic() >= next_sample:
            next_sample += options.every
            _add_sample(samples, start, done, [me])
    _add_sample(samples, start, done, [me])
    return samples


def soak_server(options: argparse.Namespace) -> Samples:
    """Start a server and send requests from several threads."""
    with _server(options) as (url, process):
        counts = [0] * options.clients
        stop = threading.Event()
        clients = [
            threading.Thread(target=_ask, args=(url, options, number, counts, stop))
            for number in range(options.clients)
        ]
        for client in clients:
            client.start()
        samples, start = Samples(), time.monotonic()
        try:
            while not _is_over(options, start, sum(counts)):
                _add_sample(
                    samples, start, sum(counts), [process, *process.children(recursive=True)]
                )
                time.sleep(options.every)
        finally:
            stop.set()
            for client in clients:
                client.join()
    return samples


def _ask(url: str, options: argparse.Namespace, number: int, counts: list[int], stop) -> None:
    import httpx

    texts = Texts(options.model, short=options.short, seed=number)
    with httpx.Client(base_url=url, timeout=60) as client:
        while not stop.is_set():
            batch = [next(texts)[:2000].replace("\x00", "") for _ in range(4)]
            wanted = {name: value for name, value in texts.options().items() if value is not None}
            reply = client.post("/v1/summarize", json={"texts": batch, **wanted})
            if reply.status_code == 503:  # the queue is full
                time.sleep(float(reply.headers.get("Retry-After", 1)))
                continue
            assert reply.status_code == 200, reply.text
            assert len(reply.json()["results"]) == len(batch)
            counts[number] += len(batch)


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "readagain", "serve", "--port", "0", "--model", options.model]
    process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "the server did not print its address"
        yield found[0], process
    finally:
        process.terminate()
        assert process.wait(60) == 0, "the server did not stop with status 0"


def _is_over(options: argparse.Namespace, start: float, done: int) -> bool:
    is_late = time.monotonic() - start >= options.minutes * 60
    return is_late or (options.texts is not None and done >= options.texts)


def _add_sample(samples: Samples, start: float, done: int, processes: list[psutil.Process]) -> None:
    resident = sum(process.memory_info().rss for process in processes)
    samples.rows.append((time.monotonic() - start, done, resident / MEGABYTE))


def write_samples(samples: Samples, out: Path, title: str) -> None:
    """Write the samples as a table and, if matplotlib is installed, as a plot."""
    with out.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("seconds", "texts", "megabytes"))
        table.writerows((f"{s:.1f}", texts, f"{mb:.2f}") for s, texts, mb in samples.rows)
    try:
        figures = require("matplotlib.figure", extra="plot", purpose="a plot")
    except MissingExtraError as error:
        print(error)
        return
    figure = figures.Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot([row[0] / 60 for row in samples.rows], [row[2] for row in samples.rows])
    axes.set(title=title, xlabel="minutes", ylabel="resident memory, MB", ylim=(0, None))
    axes.grid(alpha=0.3)
    figure.savefig(out.with_suffix(".png"), dpi=100)


def main() -> None:
    """Run the engine or the server, and print how its memory changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("engine", "server"))
    parser.add_argument("--model", default="news", help="a bundled model or a folder")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--texts", type=int, help="maximum number of texts")
    parser.add_argument("--short", action="store_true", help="texts of at most eight words")
    parser.add_argument("--clients", type=int, default=8, help="number of client threads")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples")
    parser.add_argument("--out", type=Path, default=Path("soak"), help="output path without suffix")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    samples = {"engine": soak_engine, "server": soak_server}[options.part](options)
    seconds, texts, last = samples.rows[-1]
    middle = samples.rows[len(samples.rows) // 2][2]
    per_hour, per_text = samples.slope()
    title = f"{options.part}, {Path(options.model).name}: {texts:,} texts in {seconds / 60:.1f} min"
    print(f"{describe_machine()}; load {load:.1f} at the start")
    print(
        f"{title}; {middle:.1f} MB in the middle, {last:.1f} MB at the end, "
        f"slope {per_hour:+.2f} MB per hour, {per_text:+.2f} bytes per text"
    )
    write_samples(samples, options.out, title)


if __name__ == "__main__":
    main()
