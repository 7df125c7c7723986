"""What is counted and measured, for Prometheus."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from readagain.engine.speed import resident_mb

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Where several workers keep their numbers, so that each can show the sums; set before import."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TEXTS = (1, 2, 4, 8, 12, 16)


class Metrics:
    """The numbers of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
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
        self._waiting = Gauge(
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

    def observe_batch(self, size: int) -> None:
        """Count a batch."""
        self._batches.observe(size)

    def write(self, *, waiting: int) -> bytes:
        """Write everything in Prometheus' text format; of all workers where there are several."""
        self._waiting.set(waiting)
        self._resident.set((resident_mb() or 0) * 1e6)
        registry = self._registry
        if SHARED_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
