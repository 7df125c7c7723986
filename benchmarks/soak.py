"""Growth of the memory of the engine or the server over hours.

    python benchmarks/soak.py engine                           # news, 30 minutes, one thread
    python benchmarks/soak.py engine --model tests/assets/models/toy --texts 1000000
    python benchmarks/soak.py server --clients 8

Texts are random, with up to hundreds of words and unusual characters, and the options change with
every request. So a cache that grows with new inputs is detected. The memory of all processes is
sampled every few seconds. The slope is that of a line fitted to the second half of the samples,
when everything that is loaded once is in memory. The samples are written as a table (.csv) and,
with matplotlib, as a plot (.png).
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
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

MEGABYTE = 1 << 20
BATCH_SIZE = 16
UNUSUAL_WORDS = (
    "É́toile", "東京", "№7", "🙂", "…", "\x00", "a" * 300, "U.S.", "(", '"', "3,141.59", "",
)  # fmt: skip


@dataclass
class Samples:
    """Memory over time."""

    rows: list[tuple[float, int, float]] = field(default_factory=list)
    """Seconds since the start, number of summarized texts, megabytes."""

    def slope(self) -> tuple[float, float]:
        """Return megabytes per hour and bytes per text, over the second half of the samples."""
        rows = np.array(self.rows[len(self.rows) // 2 :])
        if len(rows) < 2:
            return 0.0, 0.0
        seconds, texts, megabytes = rows.T
        per_second = np.polyfit(seconds, megabytes, 1)[0]
        per_text = per_second * (seconds[-1] - seconds[0]) / max(texts[-1] - texts[0], 1.0)
        return float(per_second * 3600), float(per_text * MEGABYTE)


class RandomRequests:
    """Random texts and options. With `short`, almost all texts have at most eight words."""

    def __init__(self, model: str, *, short: bool, seed: int = 1) -> None:
        vocab = Vocab.load(find_model(model) / "source_vocab.txt")
        words = vocab.words[len(SPECIAL_TOKENS) :]
        self._words = [word for word in words if word.isalpha()] or ["word"]
        self._usual_max_words = 8 if short else 60
        self._random = random.Random(seed)

    def text(self) -> str:
        """Return a random text; one in a hundred has up to 400 words."""
        rng = self._random
        max_words = self._usual_max_words if rng.random() > 0.01 else 400
        words = [
            rng.choice(UNUSUAL_WORDS) if rng.random() < 0.02 else rng.choice(self._words)
            for _ in range(rng.randint(0, max_words))
        ]
        return " ".join(words).capitalize() + rng.choice((".", "!", "", ". Then it ended."))

    def options(self) -> dict[str, object]:
        """Return random options of `summarize`; options without a value are left out."""
        rng = self._random
        options = {
            "beam": rng.choice((1, 2, 4, None)),
            "max_words": rng.choice((4, 8, None)),
            "max_bytes": rng.choice((None, None, 40)),
            "case": rng.choice(("sentence", "headline", "plain")),
            "explain": rng.random() < 0.1,
        }
        return {name: value for name, value in options.items() if value is not None}


def soak_engine(arguments: argparse.Namespace) -> Samples:
    """Summarize texts in this process."""
    summarizer = Summarizer.load(arguments.model, threads=1)
    requests = RandomRequests(arguments.model, short=arguments.short)
    process, samples, num_texts = psutil.Process(), Samples(), 0
    start = next_sample = time.monotonic()
    while not _is_over(arguments, start, num_texts):
        batch = [requests.text() for _ in range(BATCH_SIZE)]
        assert len(summarizer.summarize(batch, **requests.options())) == BATCH_SIZE
        num_texts += BATCH_SIZE
        if time.monotonic() >= next_sample:
            next_sample += arguments.every
            _add_sample(samples, start, num_texts, [process])
    _add_sample(samples, start, num_texts, [process])
    return samples


def soak_server(arguments: argparse.Namespace) -> Samples:
    """Start a server and send requests from several threads."""
    with _run_server(arguments) as (url, process):
        num_texts = [0] * arguments.clients  # by client
        stop = threading.Event()
        clients = [
            threading.Thread(target=_send_requests, args=(url, arguments, number, num_texts, stop))
            for number in range(arguments.clients)
        ]
        for client in clients:
            client.start()
        samples, start = Samples(), time.monotonic()
        try:
            while not _is_over(arguments, start, sum(num_texts)):
                processes = [process, *process.children(recursive=True)]
                _add_sample(samples, start, sum(num_texts), processes)
                time.sleep(arguments.every)
        finally:
            stop.set()
            for client in clients:
                client.join()
    return samples


def _send_requests(
    url: str,
    arguments: argparse.Namespace,
    client_number: int,
    num_texts: list[int],
    stop: threading.Event,
) -> None:
    """Send requests until `stop` is set, and count the texts of this client."""
    import httpx

    requests = RandomRequests(arguments.model, short=arguments.short, seed=client_number)
    with httpx.Client(base_url=url, timeout=60) as client:
        while not stop.is_set():
            texts = [requests.text()[:2000].replace("\x00", "") for _ in range(4)]
            response = client.post("/v1/summarize", json={"texts": texts, **requests.options()})
            if response.status_code == 503:  # the queue is full
                time.sleep(float(response.headers.get("Retry-After", 1)))
                continue
            assert response.status_code == 200, response.text
            assert len(response.json()["results"]) == len(texts)
            num_texts[client_number] += len(texts)


@contextmanager
def _run_server(arguments: argparse.Namespace) -> Iterator[tuple[str, psutil.Process]]:
    """Run a server during the block; yield its address and its process."""
    command = [sys.executable, "-m", "readagain", "serve", "--port", "0"]
    command += ["--model", arguments.model]
    process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url, "the server did not print its address"
        yield url[0], process
    finally:
        process.terminate()
        assert process.wait(60) == 0, "the server did not stop with status 0"


def _is_over(arguments: argparse.Namespace, start: float, num_texts: int) -> bool:
    is_time_over = time.monotonic() - start >= arguments.minutes * 60
    return is_time_over or (arguments.texts is not None and num_texts >= arguments.texts)


def _add_sample(
    samples: Samples, start: float, num_texts: int, processes: list[psutil.Process]
) -> None:
    resident = sum(process.memory_info().rss for process in processes)
    samples.rows.append((time.monotonic() - start, num_texts, resident / MEGABYTE))


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
    parser.add_argument("program", choices=("engine", "server"))
    parser.add_argument("--model", default="news", help="a bundled model or a folder")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--texts", type=int, help="maximum number of texts")
    parser.add_argument("--short", action="store_true", help="texts of about eight words or less")
    parser.add_argument("--clients", type=int, default=8, help="number of client threads")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between samples")
    parser.add_argument("--out", type=Path, default=Path("soak"), help="output path without suffix")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    samples = {"engine": soak_engine, "server": soak_server}[arguments.program](arguments)
    seconds, num_texts, last_mb = samples.rows[-1]
    middle_mb = samples.rows[len(samples.rows) // 2][2]
    mb_per_hour, bytes_per_text = samples.slope()
    model = Path(arguments.model).name
    title = f"{arguments.program}, {model}: {num_texts:,} texts in {seconds / 60:.1f} min"
    print(f"{describe_machine()}; load {load:.1f} at the start")
    print(
        f"{title}; {middle_mb:.1f} MB in the middle, {last_mb:.1f} MB at the end, "
        f"slope {mb_per_hour:+.2f} MB per hour, {bytes_per_text:+.2f} bytes per text"
    )
    write_samples(samples, arguments.out, title)


if __name__ == "__main__":
    main()
