"""Timing of models on the same sources, for all comparisons of the decoding benchmark."""

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
from readagain.text.vocab import SPECIAL_TOKENS

SOURCE_VOCAB_SIZE = 5_000  # the size does not change the speed
OOV_SHARE = 0.1
VOCAB_SIZES_K = (2, 5, 15, 30, 69)
"""Sizes of the decoder vocabulary in Table 4, in thousands."""
PEER_BATCH_SIZES = (1, 16, 32)
"""Batch sizes for the comparison with peers."""
# Processor time excludes other processes of a busy machine, and adds up the threads.
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Measurement:
    """Settings from the command line, and functions that export and time models with them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.source_words: int = arguments.words
        self.summary_words: int = arguments.summary_words
        self.beam_size: int = arguments.beam
        self.repeat: int = arguments.repeat
        self.threads: int = arguments.threads
        self.subwords_per_word: float = arguments.pieces_per_word
        self.shortlist_size: int = arguments.shortlist
        self.clock: str = arguments.clock

    def seconds(
        self,
        models: dict[str, Any],
        *,
        batch_size: int,
        source_words: int | None = None,
        beam_size: int | None = None,
        aggregate: Callable[[Sequence[float]], float] = statistics.median,
    ) -> dict[str, float]:
        """Return the seconds per sentence of each model, by default the median of all turns."""
        sources = random_sources(batch_size, source_words or self.source_words)
        searches = {
            name: partial(self.search, model, sources, beam_size) for name, model in models.items()
        }
        times_by_name = time_in_turns(searches, self.repeat, CLOCKS[self.clock])
        return {name: aggregate(times) / batch_size for name, times in times_by_name.items()}

    def search(self, model: Any, sources: SourceBatch, beam_size: int | None = None) -> object:
        """Search for summaries of exactly `summary_words` words.

        The sources are divided into parallel batches as `Summarizer` does for a list of texts.
        """
        length = LengthConstraint(minimum=self.summary_words, maximum=self.summary_words)

        def search_batch(model: Any, rows: list[int]) -> list[Any]:
            batch = SourceBatch(
                source_ids=sources.source_ids[rows],
                lengths=sources.lengths[rows],
                source_ext_ids=sources.source_ext_ids[rows],
            )
            return beam_search(model, batch, beam_size=beam_size or self.beam_size, length=length)

        return list(
            bucketed_batches(
                range(len(sources)),
                partial(search_batch, model),
                length=lambda row: sources.source_ext_ids.shape[1],
                max_words=WORDS_PER_TEXT * MAX_TEXTS,
                max_items=MAX_TEXTS,
                window=len(sources),
                num_threads=getattr(model, "parallel_batches", 1),
                process_in_thread=lambda rows: search_batch(model.for_parallel_batch(), rows),
            )
        )

    def best_seconds_by_batch_size(self, model: Any) -> dict[int, float]:
        """Time a model as the scripts of peers do: return the best time for each batch size."""
        return {
            batch_size: self.seconds({"": model}, batch_size=batch_size, aggregate=min)[""]
            for batch_size in PEER_BATCH_SIZES
        }

    def export(
        self, run: RunSpec, network: AnyNetwork, precisions: Sequence[Precision] = PRECISIONS
    ) -> dict[str, OnnxStepModel]:
        """Export a network and open its graphs, by precision."""
        weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        return {
            precision: OnnxStepModel.open(*graphs, threads=self.threads)
            for precision, graphs in build_graphs(run, weights, precisions).items()
        }

    def export_with_shortlist(self, run: RunSpec, network: AnyNetwork) -> OnnxStepModel:
        """Export a network with a shortlist and open its int8 graphs."""
        return self.export(self.with_shortlist(run), network, ["int8"])["int8"]

    @property
    def shortlist_title(self) -> str:
        """Title of graphs with a shortlist."""
        return f"shortlist of {self.shortlist_size:,}"

    def with_shortlist(self, run: RunSpec) -> RunSpec:
        """Return a run with the shortlist of `readagain export --shortlist`."""
        return override(run, {"model.shortlist_size": self.shortlist_size})


def time_in_turns(
    functions: dict[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time several functions in turns, after one call of each to warm up; return all times."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(repeat + 1):
        for name, function in functions.items():
            start = clock()
            function()
            if turn:
                times[name].append(clock() - start)
    return times


def random_sources(batch_size: int, num_words: int) -> SourceBatch:
    """Return sentences of random words; a tenth of them are outside the decoder vocabulary."""
    random = np.random.default_rng(0)
    size = (batch_size, num_words)
    min_vocab_size = 1000 * min(VOCAB_SIZES_K)
    ext_ids = random.integers(len(SPECIAL_TOKENS), min_vocab_size, size)
    # The extended id of an out-of-vocabulary word depends on the model, so `OovModel` replaces -1.
    ext_ids[random.random(size) < OOV_SHARE] = -1
    return SourceBatch(
        source_ids=random.integers(
            len(SPECIAL_TOKENS), SOURCE_VOCAB_SIZE, (batch_size, 1, num_words)
        ),
        lengths=np.full((batch_size, 1), num_words),
        source_ext_ids=ext_ids,
    )


class OovModel:
    """Wrapper of a model for the sources of `random_sources`, where -1 marks unknown words."""

    def __init__(self, model: Any, vocab_size: int) -> None:
        self._model = model
        self._vocab_size = vocab_size
        self.step, self.select = model.step, model.select
        self.parallel_batches: int = getattr(model, "parallel_batches", 1)

    def for_parallel_batch(self) -> "OovModel":
        """Return the model for one of several parallel searches."""
        return OovModel(self._model.for_parallel_batch(), self._vocab_size)

    def start(self, sources: SourceBatch) -> Any:
        """Replace -1 by the extended id of its position, and encode the sources."""
        ids = sources.source_ext_ids  # (B, S)
        ids_of_positions = self._vocab_size + np.arange(ids.shape[1])  # (S,)
        return self._model.start(
            SourceBatch(
                source_ids=sources.source_ids,
                lengths=sources.lengths,
                source_ext_ids=np.where(ids < 0, ids_of_positions, ids),
            )
        )


def make_network(preset: str, **changes: object) -> tuple[RunSpec, AnyNetwork]:
    """Build the network of a preset with random weights."""
    run = override(PRESETS[preset], {"source_vocab_size": SOURCE_VOCAB_SIZE, **changes})
    torch.manual_seed(0)
    return run, build_model(run).eval()


def describe_batch(batch_size: int) -> str:
    """Return the title of a batch size in the tables."""
    return "alone" if batch_size == 1 else f"{batch_size} together"


def table_head(cells: Sequence[str]) -> str:
    """Return the first two lines of a Markdown table."""
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def table_row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"
