"""Prometheus metrics."""

import math
import os
import time
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from readagain.engine.speed import resident_mb
from readagain.serve.settings import METRICS_DIR

MEMORY_INTERVAL_S = 5.0
"""Time between two measurements of memory, while there is work."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TEXTS = (1, 2, 4, 8, 12, 16)


class Metrics:
    """Metrics of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._memory_measured = -math.inf
        self._requests = Counter(
            "readagain_requests", "Requests, by route and status.", ["route", "status"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "readagain_request_seconds", "Seconds from a request's first byte to its reply.",
            ["route"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._texts = Counter(
            "readagain_texts", "Texts that were summarized, by model.", ["model"],
            registry=registry,
        )  # fmt: skip
        self._batches = Histogram(
            "readagain_batch_texts", "Texts that were summarized together.", buckets=_TEXTS,
            registry=registry,
        )  # fmt: skip
        self._queue_length = Gauge(
            "readagain_queue_texts", "Texts that wait.", registry=registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self._resident = Gauge(
            "readagain_resident_bytes", "Memory that a worker holds.", registry=registry,
            multiprocess_mode="liveall",
        )  # fmt: skip

    def observe_request(self, *, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_texts(self, model: str, number: int) -> None:
        """Count texts that were summarized."""
        self._texts.labels(model).inc(number)

    def observe_queue(self, length: int) -> None:
        """Record how many texts wait."""
        self._queue_length.set(length)

    def observe_batch(self, size: int) -> None:
        """Count a batch when it starts."""
        self._batches.observe(size)
        now = time.monotonic()
        if now - self._memory_measured >= MEMORY_INTERVAL_S:
            self._memory_measured = now
            self._resident.set((resident_mb() or 0.0) * 1e6)

    def render(self) -> bytes:
        """Return all metrics in Prometheus' text format, summed over the workers."""
        registry = self._registry
        if METRICS_DIR in os.environ:
            _remove_gauges_of_dead_workers(Path(os.environ[METRICS_DIR]))
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def _remove_gauges_of_dead_workers(directory: Path) -> None:
    """Remove the gauges of workers that were replaced; their counts stay."""
    for path in directory.glob("gauge_live*.db"):
        try:
            os.kill(int(path.stem.rpartition("_")[2]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
