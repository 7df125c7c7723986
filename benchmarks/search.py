"""Processor time of a step of beam search without the model, for each constraint and option.

The model returns random candidates that were drawn before; its own time is subtracted.

    python benchmarks/search.py --documents 1024 --beam 10
"""

import argparse
import os
import platform
import time

import numpy as np

from readagain.search.beam import beam_search
from readagain.search.constraints import (
    ByteLengthConstraint,
    CopyLimit,
    LengthConstraint,
    NoRepeatedNgram,
)
from readagain.search.features import SPARE_CANDIDATES, FeatureWeights
from readagain.search.model import Candidates, Ints, SourceBatch
from readagain.search.scoring import Scoring

V = 15_000
RESERVED = 4
END_LOG_PROB = -2.5


class ReplayModel:
    """Step model that returns candidates drawn before, and measures its own time."""

    def __init__(self, offer: Candidates) -> None:
        self.offer = offer
        self.seconds = 0.0
        self.steps = 0
        self.rows = 0

    def start(self, sources: SourceBatch) -> None:
        """Return no state; the candidates only depend on the row."""

    def select(self, state: None, rows: Ints) -> None:
        """Return no state."""

    def step(self, state: None, previous_ids: Ints, k: int) -> tuple[Candidates, None]:
        """Return candidates for each row."""
        begin = time.process_time()
        R = len(previous_ids)
        first = 997 * self.steps % (len(self.offer.ids) - R + 1)  # other rows at every step
        rows = slice(first, first + R)
        offer = Candidates(
            ids=self.offer.ids[rows, :k].copy(),
            log_probs=self.offer.log_probs[rows, :k].copy(),
            copied_from=self.offer.copied_from[rows, :k].copy(),
            end_log_probs=self.offer.end_log_probs[rows].copy(),
            attention=self.offer.attention[rows].copy(),
        )
        self.steps += 1
        self.rows += R
        self.seconds += time.process_time() - begin
        return offer, None


def random_candidates(num_rows: int, k: int, num_source_words: int) -> Candidates:
    """Return random candidates; each rank has one of ten words, so that repetitions are common."""
    rng = np.random.default_rng(1)
    ids = RESERVED + 10 * np.arange(k) + rng.integers(10, size=(num_rows, k))
    log_probs = np.log(rng.dirichlet(np.full(k, 0.5), size=num_rows))
    places = rng.integers(num_source_words, size=(num_rows, k))
    return Candidates(
        ids=ids,
        log_probs=-np.sort(-log_probs, axis=1).astype(np.float32),
        copied_from=np.where(rng.random((num_rows, k)) < 0.5, places, -1),
        end_log_probs=np.full(num_rows, END_LOG_PROB, dtype=np.float32),
        attention=rng.dirichlet(np.ones(num_source_words), size=num_rows).astype(np.float32),
    )


def random_sources(num_documents: int, num_words: int) -> SourceBatch:
    """Invent documents of equal length."""
    ids = np.random.default_rng(2).integers(RESERVED, V, size=(num_documents, 1, num_words))
    return SourceBatch(
        source_ids=ids,
        lengths=np.full((num_documents, 1), num_words),
        source_ext_ids=ids.reshape(num_documents, num_words),
    )


def main() -> None:
    """Print milliseconds per step, and the ratio of each variant to the plain search."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=1024)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--words", type=int, default=15)
    parser.add_argument("--source-words", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()

    sources = random_sources(arguments.documents, arguments.source_words)
    max_k = arguments.beam + SPARE_CANDIDATES  # with features; other options need fewer candidates
    offer = random_candidates(
        2 * arguments.documents * arguments.beam, max_k, arguments.source_words
    )
    max_bytes = ByteLengthConstraint(
        vocab_bytes=np.full(V, 6), source_bytes=np.full(sources.source_ext_ids.shape, 6), maximum=75
    )
    variants: dict[str, dict[str, object]] = {
        "plain": {},
        "length normalised": {"scoring": Scoring(length_penalty=1.0)},
        "no word twice": {"constraints": [NoRepeatedNgram(1)]},
        "no bigram twice": {"constraints": [NoRepeatedNgram(2)]},
        "copy limit": {"constraints": [CopyLimit(sources)]},
        "75 bytes": {"constraints": [max_bytes]},
        "coverage": {"scoring": Scoring(coverage_penalty=0.1)},
        "diversity": {"scoring": Scoring(diversity=0.1)},
        "features": {"scoring": Scoring(features=FeatureWeights(unigram=0.5, bigram=0.5))},
        "no word twice, copy limit, 75 bytes": {
            "constraints": [
                NoRepeatedNgram(1),
                CopyLimit(sources),
                max_bytes,
            ]
        },
    }
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, numpy "
        f"{np.__version__}; {arguments.documents} documents, beam {arguments.beam}"
    )
    print(f"{'':38}{'steps':>6}{'rows/step':>10}{'ms/step':>9}{'us/row':>8}{'ratio':>7}")
    seconds = dict.fromkeys(variants, np.inf)
    models: dict[str, ReplayModel] = {}
    for _ in range(arguments.repeats):  # in turns, so that other load affects all variants
        for name, options in variants.items():
            models[name] = model = ReplayModel(offer)
            begin = time.process_time()
            beam_search(
                model,
                sources,
                beam_size=arguments.beam,
                length=LengthConstraint(minimum=arguments.words, maximum=arguments.words),
                **options,  # type: ignore[arg-type]
            )
            spent = time.process_time() - begin - model.seconds
            seconds[name] = min(seconds[name], spent / model.steps)
    for name, model in models.items():
        rows = model.rows / model.steps
        print(
            f"{name:38}{model.steps:6}{rows:10.0f}{1e3 * seconds[name]:9.2f}"
            f"{1e6 * seconds[name] / rows:8.2f}{seconds[name] / seconds['plain']:7.2f}"
        )


if __name__ == "__main__":
    main()
