"""Benchmark of a model on this machine."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from readagain.engine.summarizer import Summarizer
from readagain.text.document import sentence_norms

BATCH_SIZES = (1, 8, 16, 32)
"""Numbers of texts per call."""
REPEAT = 3
"""Number of repetitions; the median is reported."""

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
"""Invented sentences of about 31 words, the default texts."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Results of a benchmark.

    Args:
        beam: beam size.
        load_s: seconds to load the model.
        first_s: seconds of the first call.
        ms_per_text: milliseconds per text, by number of texts per call.
        words_per_text: mean number of words of a text.
        words_per_summary: mean number of words of a summary.
        resident_mb: resident memory of the process; None if unknown.
    """

    beam: int
    load_s: float
    first_s: float
    ms_per_text: dict[int, float]
    words_per_text: float
    words_per_summary: float
    resident_mb: float | None

    @property
    def texts_per_s(self) -> dict[int, float]:
        """Texts per second, by number of texts per call."""
        return {size: 1e3 / milliseconds for size, milliseconds in self.ms_per_text.items()}


def measure_speed(
    load: Callable[[], Summarizer],
    texts: Sequence[str],
    *,
    beam: int | None = None,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    repeat: int = REPEAT,
) -> Speed:
    """Measure how long a model takes to load and to summarize texts in batches.

    Args:
        load: function that loads the model; the first load of a process is the slowest.
        texts: texts to summarize, at least one; repeated if fewer than the largest batch size.
        beam: beam size; by default that of the model.
        batch_sizes: numbers of texts per call.
        repeat: number of measurements per batch size.
    """
    start = time.perf_counter()
    summarizer = load()
    load_s = time.perf_counter() - start
    start = time.perf_counter()
    summarizer.summarize(texts[0], beam=beam)
    first_s = time.perf_counter() - start

    num_copies = -(-max(batch_sizes) // len(texts))
    texts = list(texts) * num_copies
    summaries = summarizer.summarize(texts, beam=beam)  # warm-up, not measured
    seconds: dict[int, list[float]] = {size: [] for size in batch_sizes}
    for _ in range(repeat):
        for size in batch_sizes:
            start = time.perf_counter()
            for first in range(0, len(texts), size):
                summarizer.summarize(texts[first : first + size], beam=beam)
            seconds[size].append(time.perf_counter() - start)
    return Speed(
        beam=summarizer.run.decode.beam_size if beam is None else beam,
        load_s=load_s,
        first_s=first_s,
        ms_per_text={
            size: 1e3 * statistics.median(times) / len(texts) for size, times in seconds.items()
        },
        words_per_text=statistics.mean(_count_words(text) for text in texts),
        words_per_summary=statistics.mean(len(summary.words) for summary in summaries),
        resident_mb=resident_mb(),
    )


def _count_words(text: str) -> int:
    return sum(map(len, sentence_norms(text)))


def resident_mb() -> float | None:
    """Return the resident memory of this process in megabytes, or None except on Linux."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kib = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), None)
    return None if kib is None else int(kib) * 1024 / 1e6
