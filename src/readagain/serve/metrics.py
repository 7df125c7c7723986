"""What is counted and measured, for Prometheus."""

import math
import os
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from readagain.engine.speed import resident_mb
from readagain.serve.settings import SHARED_METRICS

LOOK_EVERY_S = 5.0
"""How often memory is looked at, while there is work."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TEXTS = (1, 2, 4, 8, 12, 16)


class Metrics:
    """The numbers of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._looked = -math.inf
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

    def observe_waiting(self, waiting: int) -> None:
        """Note how many texts wait."""
        self._waiting.set(waiting)

    def observe_batch(self, size: int) -> None:
        """Count a batch that is begun."""
        self._batches.observe(size)
        now = time.monotonic()
        if now - self._looked >= LOOK_EVERY_S:
            self._looked = now
            self._resident.set((resident_mb() or 0.0) * 1e6)

    def write(self) -> bytes:
        """Write everything in Prometheus' text format; of all workers where there are several."""
        registry = self._registry
        if SHARED_METRICS in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
