"""Keep the engine or the server busy for long, and look whether its memory grows.

    python benchmarks/soak.py engine                           # news, 30 minutes, one thread
    python benchmarks/soak.py engine --model tests/assets/models/toy --texts 1000000
    python benchmarks/soak.py server --clients 8

Texts are invented, of any length from none to hundreds of words, with odd characters among them and
other options every time, since memory that grows with what is new would show so. Every few seconds
the memory of the process, and for the server of all its processes, is written down. The slope is
that of a straight line through the second half of the samples: by then everything that is loaded
or cached once has been. Writes a table (.csv) and, with matplotlib, a picture beside it.
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
        """Return megabytes an hour, and bytes a text, over the second half."""
        rows = np.array(self.rows[len(self.rows) // 2 :])
        if len(rows) < 2:
            return 0.0, 0.0
        per_second = np.polyfit(rows[:, 0], rows[:, 2], 1)[0]
        texts = max(rows[-1, 1] - rows[0, 1], 1.0)
        per_text = per_second * (rows[-1, 0] - rows[0, 0]) / texts
        return float(per_second * 3600), float(per_text * MEGABYTE)


class Texts:
    """Invented texts without end; `short` ones have a handful of words."""

    def __init__(self, model: str, *, short: bool, seed: int = 1) -> None:
        vocab = Vocab.load(find_model(model) / "source_vocab.txt")
        self._words = [word for word in vocab.words[4:] if word.isalpha()] or ["word"]
        self._most = 8 if short else 60
        self._random = random.Random(seed)

    def __next__(self) -> str:
        draw = self._random
        number = draw.randint(0, self._most) if draw.random() > 0.01 else draw.randint(0, 400)
        words = [
            draw.choice(ODD) if draw.random() < 0.02 else draw.choice(self._words)
            for _ in range(number)
        ]
        return " ".join(words).capitalize() + draw.choice((".", "!", "", ". Then it ended."))

    def options(self) -> dict[str, object]:
        """Ask for something else every time."""
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
    began = next_look = time.monotonic()
    while not _is_over(options, began, done):
        batch = [next(texts) for _ in range(BATCH)]
        wanted = {name: value for name, value in texts.options().items() if value is not None}
        assert len(summarizer.summarize(batch, **wanted)) == BATCH
        done += BATCH
        if time.monotonic() >= next_look:
            next_look += options.every
            _look(samples, began, done, [me])
    _look(samples, began, done, [me])
    return samples


def soak_server(options: argparse.Namespace) -> Samples:
    """Ask a server of its own from several threads."""
    with _server(options) as (url, process):
        counts = [0] * options.clients
        stop = threading.Event()
        clients = [
            threading.Thread(target=_ask, args=(url, options, number, counts, stop))
            for number in range(options.clients)
        ]
        for client in clients:
            client.start()
        samples, began = Samples(), time.monotonic()
        try:
            while not _is_over(options, began, sum(counts)):
                _look(samples, began, sum(counts), [process, *process.children(recursive=True)])
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
            if reply.status_code == 503:  # full: come back later, as a good client does
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
        assert found, "the server did not say where it is"
        yield found[0], process
    finally:
        process.terminate()
        assert process.wait(60) == 0, "the server did not stop in order"


def _is_over(options: argparse.Namespace, began: float, done: int) -> bool:
    is_late = time.monotonic() - began >= options.minutes * 60
    return is_late or (options.texts is not None and done >= options.texts)


def _look(samples: Samples, began: float, done: int, processes: list[psutil.Process]) -> None:
    resident = sum(process.memory_info().rss for process in processes)
    samples.rows.append((time.monotonic() - began, done, resident / MEGABYTE))


def write_samples(samples: Samples, out: Path, title: str) -> None:
    """Write the samples as a table and, where matplotlib is installed, as a picture."""
    with out.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("seconds", "texts", "megabytes"))
        table.writerows((f"{s:.1f}", texts, f"{mb:.2f}") for s, texts, mb in samples.rows)
    try:
        figures = require("matplotlib.figure", extra="plot", purpose="a picture")
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
    """Soak one of the two, and say what came of its memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("engine", "server"))
    parser.add_argument("--model", default="news", help="a bundled model or a folder")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--texts", type=int, help="stop after so many, if that is sooner")
    parser.add_argument("--short", action="store_true", help="texts of a handful of words")
    parser.add_argument("--clients", type=int, default=8, help="threads that ask a server")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two looks")
    parser.add_argument("--out", type=Path, default=Path("soak"), help="name without ending")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    samples = {"engine": soak_engine, "server": soak_server}[options.part](options)
    seconds, texts, last = samples.rows[-1]
    middle = samples.rows[len(samples.rows) // 2][2]
    per_hour, per_text = samples.slope()
    title = f"{options.part}, {Path(options.model).name}: {texts:,} texts in {seconds / 60:.1f} min"
    print(f"{describe_machine()}; load {load:.1f} from everybody at the start")
    print(
        f"{title}; {middle:.1f} MB half way, {last:.1f} MB at the end, "
        f"slope {per_hour:+.2f} MB an hour, {per_text:+.2f} bytes a text"
    )
    write_samples(samples, options.out, title)


if __name__ == "__main__":
    main()
