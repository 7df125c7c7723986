"""What the parts of the decoding benchmark share: models by name, timed on the same sources."""

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
from readagain.search.batching import ParallelBatches, bucketed_batches
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch

SOURCE_V = 5_000  # a larger table of embeddings is looked up as fast
UNKNOWN_SHARE = 0.1
SIZES = (2, 5, 15, 30, 69)
TOGETHER = (1, 16, 32)  # sentences, beside peers
# Processor time leaves out what others take of a busy machine, and adds up what threads take.
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Measurement:
    """What is measured: models by name, all on the same sources."""

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
        """Return the median seconds per sentence of each model, or another pick of them."""
        sources = random_sources(batch, words or self.words)
        works = {name: partial(self.search, model, sources, beam) for name, model in models.items()}
        taken = in_turns(works, self.repeat, CLOCKS[self.clock])
        return {name: pick(times) / batch for name, times in taken.items()}

    def search(self, model: Any, sources: SourceBatch, beam: int | None = None) -> object:
        """Search for summaries of exactly the number of words that is measured.

        In batches, and where the model has lanes in these, as `Summarizer` does with a list.
        """
        limits = LengthConstraint(minimum=self.summary_words, maximum=self.summary_words)

        def search_with(model: Any, rows: list[int]) -> list[Any]:
            batch = SourceBatch(
                source_ids=sources.source_ids[rows],
                lengths=sources.lengths[rows],
                source_ext_ids=sources.source_ext_ids[rows],
            )
            return beam_search(model, batch, beam_size=beam or self.beam, length=limits)

        parallel = None
        if getattr(model, "lanes", 1) > 1:
            parallel = ParallelBatches(model.lanes, lambda rows: search_with(model.in_lane(), rows))
        return list(
            bucketed_batches(
                range(len(sources)),
                partial(search_with, model),
                length=lambda row: sources.source_ext_ids.shape[1],
                max_words=WORDS_PER_TEXT * MAX_TEXTS,
                max_items=MAX_TEXTS,
                window=len(sources),
                parallel=parallel,
            )
        )

    def timing_of(self, model: Any) -> Callable[[], dict[int, float]]:
        """Return what times a model as the scripts of peers do: the best of its repetitions."""
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
        """Name what is exported with a shortlist."""
        return f"shortlist of {self.shortlist:,}"

    def shortened(self, run: RunSpec) -> RunSpec:
        """Return a run as `readagain export --shortlist` has it."""
        return override(run, {"model.shortlist_size": self.shortlist})


def in_turns(
    works: dict[str, Callable[[], object]],
    repeat: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time several works side by side: each once to warm up, then in turns."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeat + 1):
        for name, work in works.items():
            begin = clock()
            work()
            if turn:
                taken[name].append(clock() - begin)
    return taken


def random_sources(batch: int, words: int) -> SourceBatch:
    """Make sentences of random words, a tenth of them unknown to the decoder."""
    random = np.random.default_rng(0)
    smallest_v = 1000 * min(SIZES)
    ext_ids = random.integers(4, smallest_v, (batch, words))
    # Unknown words are those that no vocabulary here has; their ids are set by `ForVocabulary`.
    ext_ids[random.random((batch, words)) < UNKNOWN_SHARE] = -1
    return SourceBatch(
        source_ids=random.integers(4, SOURCE_V, (batch, 1, words)),
        lengths=np.full((batch, 1), words),
        source_ext_ids=ext_ids,
    )


class ForVocabulary:
    """A model that is given sources whose unknown words are marked -1."""

    def __init__(self, model: Any, vocab_size: int) -> None:
        self._model = model
        self._V = vocab_size
        self.step, self.select = model.step, model.select
        self.lanes: int = getattr(model, "lanes", 1)

    def in_lane(self) -> "ForVocabulary":
        """Return the same for one of several searches at once."""
        return ForVocabulary(self._model.in_lane(), self._V)

    def start(self, sources: SourceBatch) -> Any:
        """Give unknown words the ids that stand for their places."""
        ids = sources.source_ext_ids
        places = self._V + np.arange(ids.shape[1])
        return self._model.start(
            SourceBatch(
                source_ids=sources.source_ids,
                lengths=sources.lengths,
                source_ext_ids=np.where(ids < 0, places, ids),
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
