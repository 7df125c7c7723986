"""Timing of models on the same sources, for all parts of the decoding benchmark."""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.summarizer import MAX_TEXTS, WORDS_PER_TEXT
from readagain.export.write import build_graphs
from readagain.model_dir import PRECISIONS, Precision
from readagain.networks.build import build_model
from readagain.networks.network import AnyNetwork
from readagain.presets import PRESETS
from readagain.search.batching import bucketed_batches
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch

SOURCE_V = 5_000  # a larger embedding table is not slower
UNKNOWN_SHARE = 0.1
SIZES = (2, 5, 15, 30, 69)
TOGETHER = (1, 16, 32)  # batch sizes for the comparison with peers
# Processor time excludes other processes of a busy machine, and sums over threads.
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Measurement:
    """Settings of a measurement, and the timing of models by name."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.words: int = arguments.words
        self.summary_words: int = arguments.summary_words
        self.beam: int = arguments.beam
        self.repeat: int = arguments.repeat
        self.threads: int = arguments.threads
        self.pieces_per_word: float = arguments.pieces_per_word
        self.shortlist: int = arguments.shortlist
        self.clock: str = arguments.clock

    def seconds(
        self,
        models: dict[str, Any],
        *,
        batch: int,
        words: int | None = None,
        beam: int | None = None,
        pick: Callable[[Sequence[float]], float] = statistics.median,
    ) -> dict[str, float]:
        """Return the median seconds per sentence of each model, or those that `pick` selects."""
        sources = random_sources(batch, words or self.words)
        works = {name: partial(self.search, model, sources, beam) for name, model in models.items()}
        taken = in_turns(works, self.repeat, CLOCKS[self.clock])
        return {name: pick(times) / batch for name, times in taken.items()}

    def search(self, model: Any, sources: SourceBatch, beam: int | None = None) -> object:
        """Search for summaries of exactly `summary_words` words.

        Batches and parallel searches are those of `Summarizer` for a list of texts.
        """
        limits = LengthConstraint(minimum=self.summary_words, maximum=self.summary_words)

        def search_with(model: Any, rows: list[int]) -> list[Any]:
            batch = SourceBatch(
                source_ids=sources.source_ids[rows],
                lengths=sources.lengths[rows],
                source_ext_ids=sources.source_ext_ids[rows],
            )
            return beam_search(model, batch, beam_size=beam or self.beam, length=limits)

        return list(
            bucketed_batches(
                range(len(sources)),
                partial(search_with, model),
                length=lambda row: sources.source_ext_ids.shape[1],
                max_words=WORDS_PER_TEXT * MAX_TEXTS,
                max_items=MAX_TEXTS,
                window=len(sources),
                num_threads=getattr(model, "parallel_batches", 1),
                process_in_thread=lambda rows: search_with(model.for_parallel_batch(), rows),
            )
        )

    def timing_of(self, model: Any) -> Callable[[], dict[int, float]]:
        """Return a function that times a model as the scripts of peers do: best of repetitions."""
        return lambda: {
            number: self.seconds({"": model}, batch=number, pick=min)[""] for number in TOGETHER
        }

    def exported(
        self, run: RunSpec, network: AnyNetwork, precisions: Sequence[Precision] = PRECISIONS
    ) -> dict[str, OnnxStepModel]:
        """Return the graphs of a network, opened, by precision."""
        tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        graphs = build_graphs(run, tensors, precisions)
        return {
            precision: OnnxStepModel.open(*contents, threads=self.threads)
            for precision, contents in graphs.items()
        }

    @property
    def listed(self) -> str:
        """Return the label of graphs with a shortlist."""
        return f"shortlist of {self.shortlist:,}"

    def shortened(self, run: RunSpec) -> RunSpec:
        """Return a run with the shortlist of `readagain export --shortlist`."""
        return override(run, {"model.shortlist_size": self.shortlist})


def in_turns(
    works: dict[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time several functions in turns, after one call of each to warm up."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeat + 1):
        for name, work in works.items():
            begin = clock()
            work()
            if turn:
                taken[name].append(clock() - begin)
    return taken


def random_sources(batch: int, words: int) -> SourceBatch:
    """Return sentences of random words, of which a tenth is outside the decoder vocabulary."""
    random = np.random.default_rng(0)
    smallest_v = 1000 * min(SIZES)
    ext_ids = random.integers(4, smallest_v, (batch, words))
    # -1 marks words outside all vocabularies; `ForVocabulary` sets their ids.
    ext_ids[random.random((batch, words)) < UNKNOWN_SHARE] = -1
    return SourceBatch(
        source_ids=random.integers(4, SOURCE_V, (batch, 1, words)),
        lengths=np.full((batch, 1), words),
        source_ext_ids=ext_ids,
    )


class ForVocabulary:
    """Model whose sources mark words outside the vocabulary by -1."""

    def __init__(self, model: Any, vocab_size: int) -> None:
        self._model = model
        self._V = vocab_size
        self.step, self.select = model.step, model.select
        self.parallel_batches: int = getattr(model, "parallel_batches", 1)

    def for_parallel_batch(self) -> "ForVocabulary":
        """Return the model of one of several parallel searches."""
        return ForVocabulary(self._model.for_parallel_batch(), self._V)

    def start(self, sources: SourceBatch) -> Any:
        """Replace -1 by the extended id of the position, and encode the sources."""
        ids = sources.source_ext_ids
        positions = self._V + np.arange(ids.shape[1])
        return self._model.start(
            SourceBatch(
                source_ids=sources.source_ids,
                lengths=sources.lengths,
                source_ext_ids=np.where(ids < 0, positions, ids),
            )
        )


def network_of(preset: str, **changes: object) -> tuple[RunSpec, AnyNetwork]:
    """Build a preset's network with random weights."""
    run = override(PRESETS[preset], {"source_vocab_size": SOURCE_V, **changes})
    torch.manual_seed(0)
    return run, build_model(run).eval()


def table_head(cells: Sequence[str]) -> str:
    """Write the first two lines of a Markdown table."""
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def table_row(cells: Sequence[str]) -> str:
    """Write a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"
