"""Measurements of speed and memory on this machine."""

import statistics
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from readagain.engine.summarizer import Summarizer

_BEGINNINGS = (
    "The harbour authority of a small northern port said on Tuesday that it would",
    "Officials in the coastal town of Ostham announced late on Monday that they will",
    "A committee of the regional parliament recommended after a heated debate to",
    "The country's second largest railway company told its 4,200 employees that it must",
    "Engineers at the Velden power station confirmed on Friday that they expect to",
    "The owners of a glass factory that employs 310 people said they intend to",
    "Farmers from nine villages along the river Ambel asked the government on Sunday to",
    "The national museum, closed since a fire in March, said its trustees agreed to",
)
_ENDINGS = (
    "postpone the opening of a new bridge by 6 months because the steel was delivered late.",
    "spend another 75 million crowns on repairs after heavy rain damaged roofs, walls and cables.",
    "close two of its five sites next year, as fewer visitors came than had been hoped.",
    "accept an offer from a foreign investor, ending a dispute that has lasted for 12 years.",
)
SENTENCES = [" ".join(halves) for halves in product(_BEGINNINGS, _ENDINGS)]
"""32 invented sentences of about 31 words, to measure the speed of models."""


def measure_ms_per_text(
    summarizer: Summarizer, texts: Sequence[str], *, batch_sizes: Sequence[int], repeat: int
) -> dict[int, float]:
    """Measure how long a model takes to summarize texts.

    Args:
        summarizer: model to measure.
        texts: texts to summarize, at least one; repeated if fewer than the largest batch size.
        batch_sizes: numbers of texts per call.
        repeat: number of measurements per batch size.

    Returns:
        The median of the milliseconds per text, by batch size.
    """
    num_copies = -(-max(batch_sizes) // len(texts))  # rounded up
    texts = list(texts) * num_copies
    summarizer.summarize(texts)  # warm-up, not measured
    seconds: dict[int, list[float]] = {size: [] for size in batch_sizes}
    for _ in range(repeat):
        for size in batch_sizes:
            start = time.perf_counter()
            for first in range(0, len(texts), size):
                summarizer.summarize(texts[first : first + size])
            seconds[size].append(time.perf_counter() - start)
    return {size: 1e3 * statistics.median(times) / len(texts) for size, times in seconds.items()}


def resident_mb() -> float | None:
    """Return the resident memory of this process in megabytes; None if it is unknown.

    It is known only on Linux.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kib = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), None)
    return None if kib is None else int(kib) * 1024 / 1e6
