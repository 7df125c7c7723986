"""Prometheus metrics."""

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from readagain.serve.settings import METRICS_DIR

_LATENCY_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BATCH_SIZE_BUCKETS = (1, 2, 4, 8, 12, 16)


class Metrics:
    """Metrics of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        self._requests = Counter(
            "readagain_requests", "Requests, by route and status.", ["route", "status"],
            registry=registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "readagain_request_seconds", "Seconds from a request's first byte to its response.",
            ["route"], buckets=_LATENCY_BUCKETS_S, registry=registry,
        )  # fmt: skip
        self.texts = Counter(
            "readagain_texts", "Texts that were summarized, by model.", ["model"],
            registry=registry,
        )  # fmt: skip
        self._batches = Histogram(
            "readagain_batch_texts", "Texts that were summarized together.",
            buckets=_BATCH_SIZE_BUCKETS, registry=registry,
        )  # fmt: skip
        self.queue_length = Gauge(
            "readagain_queue_texts", "Texts waiting in the queue.", registry=registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self._resident = Gauge(
            "readagain_resident_bytes", "Resident memory of a worker.", registry=registry,
            multiprocess_mode="liveall",
        )  # fmt: skip

    def observe_request(self, *, route: str, status: int, seconds: float) -> None:
        """Count a request and record its duration."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def observe_batch(self, size: int) -> None:
        """Record the size of a batch when it starts; also measure memory, which takes 0.1 ms."""
        self._batches.observe(size)
        self._resident.set(resident_bytes())

    def render(self) -> bytes:
        """Return the metrics of all workers in Prometheus' text format.

        Memory is given per worker; all other metrics are summed.
        """
        registry = self._registry
        if METRICS_DIR in os.environ:
            _remove_gauges_of_dead_workers(Path(os.environ[METRICS_DIR]))
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 if it is unknown, as outside of Linux."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:")), 0)


def _remove_gauges_of_dead_workers(directory: Path) -> None:
    """Remove the gauge files of workers that were replaced; keep their counters."""
    for path in directory.glob("gauge_live*.db"):
        try:
            os.kill(int(path.stem.rpartition("_")[2]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
