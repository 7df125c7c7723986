"""Host time of search alone: what one step costs beside the model, rule by rule.

The model replays random candidates that were drawn beforehand, and its own time is taken off.

    python benchmarks/search.py --documents 1024 --beam 10
"""

import argparse
import os
import platform
import time

import numpy as np

from readagain.search.beam import beam_search
from readagain.search.limits import ByteLimits, PrintedBytes
from readagain.search.model import Candidates, Ints, SourceBatch
from readagain.search.rules import CopyLimit, NoRepeatedNgram, WordLimits
from readagain.search.scoring import Scoring

V = 15_000
RESERVED = 4
END_LOG_PROB = -2.5  # late enough that most documents use most of the steps


class ReplayModel:
    """Offers candidates that were drawn beforehand, and counts its own time."""

    def __init__(self, num_rows: int, k: int, sources: SourceBatch, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        S = sources.source_ext_ids.shape[1]
        log_probs = np.log(rng.dirichlet(np.full(k, 0.5), size=num_rows)).astype(np.float32)
        attention = rng.dirichlet(np.ones(S), size=num_rows).astype(np.float32)
        steps = np.arange(k) * (V // k)  # every id once in a row
        ids = RESERVED + (rng.integers(V // k - RESERVED, size=(num_rows, k)) + steps)
        copied = rng.integers(S, size=(num_rows, k))
        self.offer = Candidates(
            ids=ids,
            log_probs=-np.sort(-log_probs, axis=1),
            copied_from=np.where(rng.random((num_rows, k)) < 0.5, copied, -1),
            end_log_probs=np.full(num_rows, END_LOG_PROB, dtype=np.float32),
            attention=attention,
        )
        self.seconds = 0.0
        self.steps = 0
        self.rows = 0

    def start(self, sources: SourceBatch) -> None:
        """Have no state: what is offered depends on the row alone."""

    def select(self, state: None, rows: Ints) -> None:
        """Have nothing to select from."""

    def step(self, state: None, previous_ids: Ints, k: int) -> tuple[Candidates, None]:
        """Hand out as many rows as were asked for."""
        begin = time.perf_counter()
        R = len(previous_ids)
        offer = Candidates(
            ids=self.offer.ids[:R, :k].copy(),
            log_probs=self.offer.log_probs[:R, :k].copy(),
            copied_from=self.offer.copied_from[:R, :k].copy(),
            end_log_probs=self.offer.end_log_probs[:R].copy(),
            attention=self.offer.attention[:R].copy(),
        )
        self.steps += 1
        self.rows += R
        self.seconds += time.perf_counter() - begin
        return offer, None


def made_up_sources(num_documents: int, num_words: int) -> SourceBatch:
    """Invent documents of equal length."""
    ids = np.random.default_rng(2).integers(RESERVED, V, size=(num_documents, 1, num_words))
    return SourceBatch(
        source_ids=ids,
        lengths=np.full((num_documents, 1), num_words),
        source_ext_ids=ids.reshape(num_documents, num_words),
    )


def main() -> None:
    """Print milliseconds per step, and each rule's ratio to the plain search."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=1024)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--words", type=int, default=15)
    parser.add_argument("--source-words", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    sources = made_up_sources(arguments.documents, arguments.source_words)
    bytes_of = PrintedBytes(
        generated=np.full(V, 6), copied=np.full(sources.source_ext_ids.shape, 6)
    )
    variants: dict[str, dict[str, object]] = {
        "plain": {},
        "length normalised": {"scoring": Scoring(length_exponent=1.0)},
        "no word twice": {"rules": [NoRepeatedNgram(1)]},
        "no bigram twice": {"rules": [NoRepeatedNgram(2)]},
        "copy limit": {"rules": [CopyLimit(sources)]},
        "75 bytes": {"rules": [ByteLimits(bytes_of, maximum=75)]},
        "coverage": {"scoring": Scoring(coverage=0.1)},
        "diversity": {"scoring": Scoring(diversity=0.1)},
        "attention kept": {"keep_attention": True},
        "no word twice, copy limit, 75 bytes": {
            "rules": [NoRepeatedNgram(1), CopyLimit(sources), ByteLimits(bytes_of, maximum=75)]
        },
    }
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, numpy "
        f"{np.__version__}; {arguments.documents} documents, beam {arguments.beam}"
    )
    print(f"{'':38}{'steps':>6}{'rows/step':>10}{'ms/step':>9}{'us/row':>8}{'ratio':>7}")
    plain = 0.0
    for name, options in variants.items():
        best = np.inf
        for _ in range(arguments.repeats):
            model = ReplayModel(arguments.documents * arguments.beam, 80, sources)
            begin = time.perf_counter()
            beam_search(
                model,
                sources,
                beam_size=arguments.beam,
                words=WordLimits(minimum=arguments.words, maximum=arguments.words),
                **options,  # type: ignore[arg-type]
            )
            best = min(best, time.perf_counter() - begin - model.seconds)
        plain = plain or best
        print(
            f"{name:38}{model.steps:6}{model.rows / model.steps:10.0f}"
            f"{1e3 * best / model.steps:9.2f}{1e6 * best / model.rows:8.2f}{best / plain:7.2f}"
        )


if __name__ == "__main__":
    main()
