"""Measure `readagain serve`: load, overload, a killed worker, and hostile requests.

Every response is compared with the output of `Summarizer`. Lost responses, and responses with the
summary of another text, are counted.

    python benchmarks/serving.py                             # the bundled news model, 2 workers
    python benchmarks/serving.py load --seconds 60           # throughput and latency only
    python benchmarks/serving.py overload killed             # refused requests, and recovery
    python benchmarks/serving.py attack                      # normal requests during hostile ones
    python benchmarks/serving.py --model tests/assets/models/toy --workers 1

The clients run on the same machine, in another process.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from readagain.engine.summarizer import Summarizer
from readagain.experiments.sample_corpus import TIMING_SENTENCES
from readagain.processors import describe_machine

CLIENTS = 64
NUM_TEXTS = 512
LOST = "lost"
RETRY_AFTER_S = 1.0  # the Retry-After header of a refused request


@dataclass
class LoadResult:
    """Responses of a load test."""

    statuses: Counter[int | str] = field(default_factory=Counter)
    """Number of responses by HTTP status, or `LOST`."""
    num_mixed_up: int = 0
    """Number of responses with the summary of another text."""
    latencies_s: list[float] = field(default_factory=list)
    """Latencies of successful requests."""
    refused_s: list[float] = field(default_factory=list)
    """Latencies of other requests."""
    duration_s: float = 0.0
    cpu_s: float = 0.0
    """Processor time of the server."""

    @property
    def rate(self) -> float:
        """Successful responses per second."""
        return self.statuses[200] / self.duration_s

    def latency_ms(self, percent: float) -> float:
        """Return a percentile of the latencies in milliseconds."""
        ordered = sorted(self.latencies_s)
        return 1e3 * ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


class Client:
    """Client with a connection that is kept open, and reopened if it breaks."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, text: str) -> tuple[int | str, bytes]:
        """Request the headline of a text; return the status and the body."""
        return await self.send(json.dumps({"texts": [text]}).encode())

    async def send(self, body: bytes) -> tuple[int | str, bytes]:
        """Send the body of a request; return the status and the body of the response."""
        path = "/v1/chat/completions" if body.startswith(b'{"messages"') else "/v1/summarize"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            self._writer.write(head.encode() + body)
            response_head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(response_head.split("content-length: ")[1].split("\r\n")[0])
            content = await self._reader.readexactly(length)
            if "connection: close" in response_head:
                self.close()
            return int(response_head.split(" ", 2)[1]), content
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return LOST, b""

    def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


async def load(port: int, expected: dict[str, str], *, clients: int, seconds: float) -> LoadResult:
    """Send requests from several clients for some time; a refused client waits, then goes on.

    Args:
        port: port of the server.
        expected: summary of each text.
        clients: number of clients.
        seconds: duration.
    """
    result = LoadResult()
    texts = list(expected)
    begin = time.perf_counter()

    async def send_requests(first: int) -> None:
        client = Client(port)
        for number in count(first, clients):
            if time.perf_counter() - begin > seconds:
                break
            text = texts[number % len(texts)]
            start = time.perf_counter()
            status, content = await client.ask(text)
            latency_s = time.perf_counter() - start
            result.statuses[status] += 1
            if status == 200:
                result.latencies_s.append(latency_s)
                (response,) = json.loads(content)["results"]
                result.num_mixed_up += response["summary"] != expected[text]
            else:
                result.refused_s.append(latency_s)
                await asyncio.sleep(RETRY_AFTER_S if status == 503 else 0.01)
        client.close()

    await asyncio.gather(*(send_requests(first) for first in range(clients)))
    result.duration_s = time.perf_counter() - begin
    return result


class Server:
    """Process of `readagain serve`."""

    def __init__(self, *options: object, log: Path | None = None) -> None:
        command = [sys.executable, "-m", "readagain", "serve", "--port", "0", *map(str, options)]
        with Path(log or os.devnull).open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def workers(self) -> set[int]:
        """Return the process ids of the workers."""
        children = psutil.Process(self.process.pid).children()
        return {child.pid for child in children if _is_worker(child)}

    def resident_mb(self) -> float:
        """Return the memory of all processes together."""
        parent = psutil.Process(self.process.pid)
        processes = (parent, *parent.children())
        return sum(process.memory_info().rss for process in processes) / 1e6

    def cpu_s(self) -> float:
        """Return the processor time of all processes together, so far."""
        parent = psutil.Process(self.process.pid)
        all_times = [process.cpu_times() for process in (parent, *parent.children())]
        return sum(times.user + times.system for times in all_times)

    def stop(self) -> int:
        """Stop the server with SIGTERM and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:  # the process has ended
        return False


@contextmanager
def serving(*options: object, log: Path | None = None) -> Iterator[Server]:
    """Start a server, and stop it after the block."""
    server = Server(*options, log=log)
    try:
        yield server
    finally:
        status = server.stop()
        print(f"stopped with status {status}")


def measure_load(arguments: argparse.Namespace, expected: dict[str, str]) -> None:
    """Print throughput and latency with one client and with many, measured in turns."""
    with serving(*arguments.options) as server:

        def run_load(clients: int, seconds: float) -> LoadResult:
            cpu_before_s = server.cpu_s()
            result = asyncio.run(load(server.port, expected, clients=clients, seconds=seconds))
            result.cpu_s = server.cpu_s() - cpu_before_s
            return result

        run_load(CLIENTS, 2)  # warm-up
        memory_before_mb = server.resident_mb()
        half_s = arguments.seconds / 2
        turns = [(run_load(1, half_s / 4), run_load(CLIENTS, half_s)) for _ in range(2)]
        print("\n clients  answers/s   p50 ms   p99 ms  CPU ms  not 200  mixed up")
        for clients, results in zip((1, CLIENTS), zip(*turns, strict=True), strict=True):
            for result in results:
                num_successful = result.statuses[200]
                print(
                    f"{clients:>8} {result.rate:>10.1f} {result.latency_ms(50):>8.1f} "
                    f"{result.latency_ms(99):>8.1f} {1e3 * result.cpu_s / num_successful:>7.1f} "
                    f"{result.statuses.total() - num_successful:>8} {result.num_mixed_up:>9}"
                )
        ratios = [many.rate / one.rate for one, many in turns]
        print(f"{CLIENTS} clients / one by one: {statistics.mean(ratios):.1f} times the answers")
        memory_mb = server.resident_mb()
        print(f"resident memory: {memory_before_mb:.0f} MB before, {memory_mb:.0f} MB after")


def measure_overload(arguments: argparse.Namespace, expected: dict[str, str]) -> None:
    """Send more requests than the server can process, and measure refusals and recovery."""
    with serving(*arguments.options, "--max-queue", 32, "--max-texts", 32) as server:
        before = asyncio.run(load(server.port, expected, clients=16, seconds=3))
        overload = asyncio.run(load(server.port, expected, clients=512, seconds=5))
        after = asyncio.run(load(server.port, expected, clients=16, seconds=3))
        refused_s = statistics.median(overload.refused_s or [0])
        print("\n512 clients, a queue of 32 texts for each worker:", dict(overload.statuses))
        print(
            f"answered {overload.rate:.1f}/s (before {before.rate:.1f}, after {after.rate:.1f}); "
            f"p99 of answers {overload.latency_ms(99):.0f} ms, "
            f"refused within {1e3 * refused_s:.0f} ms"
        )
        print(f"mixed up: {overload.num_mixed_up}; after: {dict(after.statuses)}")


def measure_killed(arguments: argparse.Namespace, expected: dict[str, str]) -> None:
    """Kill a worker under load, and measure lost requests and the time until it is replaced."""
    with serving(*arguments.options, "--workers", 2) as server:
        worker_pid = next(iter(server.workers()))

        async def kill_under_load() -> tuple[LoadResult, float]:
            load_task = asyncio.create_task(
                load(server.port, expected, clients=CLIENTS, seconds=arguments.seconds / 2)
            )
            await asyncio.sleep(2)
            os.kill(worker_pid, signal.SIGKILL)
            start = time.perf_counter()
            while len(server.workers() - {worker_pid}) < 2:
                await asyncio.sleep(0.05)
            replaced_s = time.perf_counter() - start
            return await load_task, replaced_s

        result, replaced_s = asyncio.run(kill_under_load())
        after = asyncio.run(load(server.port, expected, clients=CLIENTS, seconds=3))
        print("\nkill -9 of one of two workers under load:", dict(result.statuses))
        print(
            f"mixed up: {result.num_mixed_up}; another was started after {replaced_s:.1f} s; "
            f"afterwards {dict(after.statuses)}"
        )


def hostile_bodies() -> dict[str, bytes]:
    """Return bodies of a mebibyte or less that take much time or memory to process."""
    size = (1 << 20) - 100
    marks = "a" + "\u0301" * (size // 8) + "\u0316" * (size // 8)
    words = " ".join(f"{'x' * 30}{number:x}" for number in range(size // 40))
    long_texts = [words[k : k + 16_000] for k in range(64)]
    short_texts = 2 * TIMING_SENTENCES
    articles = [(" ".join(TIMING_SENTENCES) * 5)[:15_000]] * 64
    largest = {"beam": 32, "n_best": 32, "min_words": 60, "max_words": 64, "explain": True}
    return {
        "numbers": b'{"texts": [' + b",".join([b"1"] * (size // 2)) + b"]}",
        "objects": b'{"texts": [' + b",".join([b"{}"] * (size // 3)) + b"]}",
        "keys": b"{" + b",".join(b'"%x":0' % number for number in range(size // 12)) + b"}",
        "nesting": b'{"texts": ' + b"[" * (size // 2),
        "marks": json.dumps({"texts": [marks]}, ensure_ascii=False).encode(),
        "one long text": json.dumps({"texts": [words]}).encode(),
        "chat messages": b'{"messages": [' + b",".join([b"1"] * (size // 2)) + b"]}",
        "chat tags": b'{"messages": [{"role": "user", "content": "%s"}]}'
        % (b"<chat_history>" * (size // 15)),
        **{
            name: json.dumps({"texts": texts} | options).encode()
            for name, texts, options in (
                ("64 long texts", long_texts, {}),
                ("64 long, options", long_texts, {"max_words": 11}),
                ("64 short texts", short_texts, {}),
                ("64 short, options", short_texts, {"max_words": 11}),
                ("explain", articles, {"explain": True}),
                ("large beam", articles, largest),
                ("one large beam", articles[:1], largest),
            )
        },
    }


async def send_forever(port: int, body: bytes, statuses: Counter[int | str]) -> None:
    """Send a body repeatedly, without pauses."""
    client = Client(port)
    while True:
        status, _ = await client.send(body)
        statuses[status] += 1


async def probe_health(port: int, seconds: list[float]) -> None:
    """Request `/healthz` four times per second, each time over a new connection."""
    while True:
        start = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        seconds.append(time.perf_counter() - start)
        writer.close()
        await asyncio.sleep(0.25)


def attack(port: int, body: bytes, connection: Connection, is_ready: Event) -> None:
    """Send a body repeatedly over two connections, in a process of its own.

    A message over `connection` ends the attack; the statuses of the responses are sent back.
    """

    async def run() -> None:
        statuses: Counter[int | str] = Counter()
        senders = [asyncio.create_task(send_forever(port, body, statuses)) for _ in range(2)]
        is_ready.set()
        while not connection.poll():
            await asyncio.sleep(0.05)
        for sender in senders:
            sender.cancel()
        connection.send(statuses)

    asyncio.run(run())


@contextmanager
def attacked(port: int, body: bytes) -> Iterator[Counter[int | str]]:
    """Attack a server during the block; yield a counter that is filled after the block."""
    context = multiprocessing.get_context("spawn")
    connection, attack_connection = context.Pipe()
    is_ready, statuses = context.Event(), Counter()
    process = context.Process(target=attack, args=(port, body, attack_connection, is_ready))
    process.start()
    is_ready.wait()
    try:
        yield statuses
    finally:
        connection.send("stop")
        statuses.update(connection.recv())
        process.join()


def measure_attack(arguments: argparse.Namespace, expected: dict[str, str]) -> None:
    """Compare normal requests with and without two senders of a hostile body, in turns.

    `/healthz` is requested at the same time; memory is that of the largest worker.
    """
    clients, seconds = 8, arguments.seconds / 4

    async def load_with_probe(port: int, health_s: list[float]) -> LoadResult:
        probe = asyncio.create_task(probe_health(port, health_s))
        try:
            return await load(port, expected, clients=clients, seconds=seconds)
        finally:
            probe.cancel()

    print(f"\n{clients} clients, and two senders of a hostile body:")
    print("body              rate kept   healthz p50 ms   max ms   worker MB   senders got")
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with serving(*arguments.options, log=log) as server:
            asyncio.run(load(server.port, expected, clients=clients, seconds=2))  # warm-up
            for name, body in hostile_bodies().items():
                ratios, health_s, memory_mb, attack_statuses = [], [], [], Counter()
                for _ in range(2):
                    without_attack = asyncio.run(load_with_probe(server.port, []))
                    with attacked(server.port, body) as statuses:
                        with_attack = asyncio.run(load_with_probe(server.port, health_s))
                        memory_mb += [
                            psutil.Process(pid).memory_info().rss / 1e6 for pid in server.workers()
                        ] or [server.resident_mb()]
                    attack_statuses += statuses
                    ratios.append(with_attack.rate / without_attack.rate)
                    assert with_attack.num_mixed_up == 0
                print(
                    f"{name:<17} {statistics.mean(ratios):>9.0%} "
                    f"{1e3 * statistics.median(health_s):>16.0f} {1e3 * max(health_s):>8.0f} "
                    f"{max(memory_mb):>11.0f}   {dict(attack_statuses)}"
                )
        lines = log.read_text().splitlines()
    invalid = [line for line in lines if not is_json_object(line)]
    print(f"log: {len(lines):,} lines, {len(invalid)} of them no JSON {invalid[:3] or ''}")


def is_json_object(line: str) -> bool:
    """Return whether a line of the log is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


MEASUREMENTS = {
    "load": measure_load,
    "overload": measure_overload,
    "killed": measure_killed,
    "attack": measure_attack,
}


def main() -> None:
    """Run the measurements named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ", ".join(MEASUREMENTS)
    parser.add_argument("measurements", nargs="*", help=f"{names} (default: all)")
    parser.add_argument("--model", default="news")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    arguments.options = ["--model", arguments.model, "--workers", arguments.workers]
    if arguments.threads:
        arguments.options += ["--threads", arguments.threads]
    print(
        f"{describe_machine()}, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}; {arguments.model}, {arguments.workers} workers"
    )
    texts = [
        f"{TIMING_SENTENCES[number % len(TIMING_SENTENCES)]} It was case {number}."
        for number in range(NUM_TEXTS)
    ]
    summaries = map(str, Summarizer.load(arguments.model).summarize(texts))
    expected = dict(zip(texts, summaries, strict=True))
    for name in arguments.measurements or MEASUREMENTS:
        MEASUREMENTS[name](arguments, expected)


if __name__ == "__main__":
    main()
