"""Processor time of a step of beam search without the model, for each constraint and option.

The search uses a model that returns random candidates from a table. Its time is subtracted.

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
    LengthConstraint,
    NoRepeatedNgram,
)
from readagain.search.features import SPARE_FEATURE_CANDIDATES, FeatureWeights
from readagain.search.model import Candidates, Ints, SourceBatch
from readagain.search.scoring import Scoring
from readagain.text.vocab import SPECIAL_TOKENS

VOCAB_SIZE = 15_000
END_LOG_PROB = -2.5


class TableModel:
    """Step model that returns candidates from a table, and measures its own time.

    Args:
        table: candidates for many more hypotheses than a search has.
    """

    def __init__(self, table: Candidates) -> None:
        self.table = table
        self.seconds = 0.0
        self.num_steps = 0
        self.num_hypotheses = 0

    def start(self, sources: SourceBatch) -> None:
        """Return no state; the candidates depend only on the step."""

    def select(self, state: None, rows: Ints) -> None:
        """Return no state."""

    def step(self, state: None, previous_ids: Ints, k: int) -> tuple[Candidates, None]:
        """Return k candidates for each of R hypotheses, from other rows at every step."""
        start_s = time.process_time()
        R = len(previous_ids)
        first_row = 997 * self.num_steps % (len(self.table.ids) - R + 1)
        rows = slice(first_row, first_row + R)
        candidates = Candidates(
            ids=self.table.ids[rows, :k].copy(),
            log_probs=self.table.log_probs[rows, :k].copy(),
            copied_from=self.table.copied_from[rows, :k].copy(),
            end_log_probs=self.table.end_log_probs[rows].copy(),
            attention=self.table.attention[rows].copy(),
        )
        self.num_steps += 1
        self.num_hypotheses += R
        self.seconds += time.process_time() - start_s
        return candidates, None


def random_candidates(num_rows: int, k: int, num_source_words: int) -> Candidates:
    """Return random candidates; each rank has one of ten words, so repetitions are common."""
    rng = np.random.default_rng(1)
    ids = len(SPECIAL_TOKENS) + 10 * np.arange(k) + rng.integers(10, size=(num_rows, k))
    log_probs = np.log(rng.dirichlet(np.full(k, 0.5), size=num_rows))
    positions = rng.integers(num_source_words, size=(num_rows, k))
    return Candidates(
        ids=ids,
        log_probs=-np.sort(-log_probs, axis=1).astype(np.float32),
        copied_from=np.where(rng.random((num_rows, k)) < 0.5, positions, -1),
        end_log_probs=np.full(num_rows, END_LOG_PROB, dtype=np.float32),
        attention=rng.dirichlet(np.ones(num_source_words), size=num_rows).astype(np.float32),
    )


def random_sources(num_documents: int, num_words: int) -> SourceBatch:
    """Invent documents of equal length."""
    size = (num_documents, 1, num_words)
    ids = np.random.default_rng(2).integers(len(SPECIAL_TOKENS), VOCAB_SIZE, size=size)
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
    max_k = arguments.beam + SPARE_FEATURE_CANDIDATES  # with features; other options need fewer
    table = random_candidates(
        2 * arguments.documents * arguments.beam, max_k, arguments.source_words
    )
    # Every word has 6 bytes.
    max_bytes = ByteLengthConstraint(
        vocab_bytes=np.full(VOCAB_SIZE, 6),
        source_bytes=np.full(sources.source_ext_ids.shape, 6),
        maximum=75,
    )
    variants: dict[str, dict[str, object]] = {
        "plain": {},
        "length normalised": {"scoring": Scoring(length_penalty=1.0)},
        "no word twice": {"constraints": [NoRepeatedNgram(1)]},
        "no bigram twice": {"constraints": [NoRepeatedNgram(2)]},
        "75 bytes": {"constraints": [max_bytes]},
        "diversity": {"scoring": Scoring(diversity=0.1)},
        "features": {"scoring": Scoring(features=FeatureWeights(unigram=0.5, bigram=0.5))},
        "no word twice, 75 bytes": {"constraints": [NoRepeatedNgram(1), max_bytes]},
    }
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, numpy "
        f"{np.__version__}; {arguments.documents} documents, beam {arguments.beam}"
    )
    print(f"{'':38}{'steps':>6}{'rows/step':>10}{'ms/step':>9}{'us/row':>8}{'ratio':>7}")
    step_seconds = dict.fromkeys(variants, np.inf)
    models: dict[str, TableModel] = {}
    # In turns, so other processes of the machine affect all variants equally.
    for _ in range(arguments.repeats):
        for name, options in variants.items():
            models[name] = model = TableModel(table)
            start_s = time.process_time()
            beam_search(
                model,
                sources,
                beam_size=arguments.beam,
                length=LengthConstraint(minimum=arguments.words, maximum=arguments.words),
                **options,  # type: ignore[arg-type]
            )
            search_s = time.process_time() - start_s - model.seconds
            step_seconds[name] = min(step_seconds[name], search_s / model.num_steps)
    for name, model in models.items():
        seconds = step_seconds[name]
        hypotheses_per_step = model.num_hypotheses / model.num_steps
        print(
            f"{name:38}{model.num_steps:6}{hypotheses_per_step:10.0f}{1e3 * seconds:9.2f}"
            f"{1e6 * seconds / hypotheses_per_step:8.2f}{seconds / step_seconds['plain']:7.2f}"
        )


if __name__ == "__main__":
    main()
