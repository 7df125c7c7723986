"""Seconds per sentence of beam search with exported graphs, and what they depend on.

Random weights: speed does not ask what was learned. Summaries are held to a fixed number of words,
so that every model takes the same steps. What is compared is timed in turns, each repetition of
each in sequence, so that another process on the machine disturbs all of them alike.

    python benchmarks/decoding.py                      # all parts, two threads
    python benchmarks/decoding.py table4 --threads 1   # the paper's Table 4
    python benchmarks/decoding.py torch                # against the same network in torch
    python benchmarks/decoding.py growth               # source length, beam, batch
"""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.engine.graphs import PRECISIONS
from readagain.engine.onnx_model import OnnxStepModel
from readagain.export.write import build_graphs
from readagain.networks.build import build_model
from readagain.networks.model import EncoderDecoder
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.search.beam import beam_search
from readagain.search.model import SourceBatch
from readagain.search.rules import WordLimits

SOURCE_V = 5_000  # a larger table of embeddings is looked up as fast
UNKNOWN_SHARE = 0.1
SIZES = (2, 5, 15, 30, 69)


class Measurement:
    """What is measured: models by name, all on the same sources."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.words: int = arguments.words
        self.summary_words: int = arguments.summary_words
        self.beam: int = arguments.beam
        self.repeat: int = arguments.repeat
        self.threads: int = arguments.threads

    def seconds(
        self,
        models: dict[str, Any],
        *,
        batch: int,
        words: int | None = None,
        beam: int | None = None,
    ) -> dict[str, float]:
        """Return the median seconds per sentence of each model."""
        sources = random_sources(batch, words or self.words)
        limits = WordLimits(minimum=self.summary_words, maximum=self.summary_words)

        def search(model: Any) -> Callable[[], object]:
            return lambda: beam_search(model, sources, beam_size=beam or self.beam, words=limits)

        taken = in_turns({name: search(model) for name, model in models.items()}, self.repeat)
        return {name: median / batch for name, median in taken.items()}

    def exported(self, run: RunSpec, network: EncoderDecoder) -> dict[str, OnnxStepModel]:
        """Return the graphs of a network, opened, by precision."""
        tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        graphs = build_graphs(run, tensors, PRECISIONS)
        return {
            precision: OnnxStepModel.open(*contents, threads=self.threads)
            for precision, contents in graphs.items()
        }


def in_turns(works: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Time several works side by side: each once to warm up, then in turns; medians."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeat + 1):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            if turn:
                taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times) for name, times in taken.items()}


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


def network_of(preset: str) -> tuple[RunSpec, EncoderDecoder]:
    """Build a preset's network with random weights."""
    run = override(PRESETS[preset], {"source_vocab_size": SOURCE_V})
    torch.manual_seed(0)
    return run, build_model(run).eval()


def table4(measurement: Measurement) -> None:
    """Time decoding against the decoder's vocabulary, with and without copying."""
    for title, preset in (("generating", "read_again_lstm"), ("copying", "read_again_lstm_copy")):
        print(f"\n## Table 4, {title}: ms per sentence, beam {measurement.beam}\n")
        models = {}
        for size in SIZES:
            run, network = network_of(f"{preset}_{size}k")
            for precision, model in measurement.exported(run, network).items():
                models[f"{precision} {size}K"] = ForVocabulary(model, run.vocab_size)
        rows = {
            f"{precision}, {'alone' if batch == 1 else f'{batch} together'}": (precision, batch)
            for precision in PRECISIONS
            for batch in (1, 16)
        }
        print(table_head(["", *(f"{size}K" for size in SIZES), "69K / 2K"]))
        for name, (precision, batch) in rows.items():
            chosen = {key: model for key, model in models.items() if key.startswith(precision)}
            times = list(measurement.seconds(chosen, batch=batch).values())
            cells = [f"{1e3 * seconds:.1f}" for seconds in times]
            print(table_row([name, *cells, f"{times[-1] / times[0]:.2f}"]))


def against_torch(measurement: Measurement) -> None:
    """Time the same network in torch and as graphs, side by side."""
    run, network = network_of("read_again_lstm_copy_15k")
    torch.set_num_threads(measurement.threads)
    models = {
        name: ForVocabulary(model, run.vocab_size)
        for name, model in (
            ("torch", TorchStepModel(network)),
            *measurement.exported(run, network).items(),
        )
    }
    print(f"\n## The same network in torch, {run.title}: ms per sentence\n")
    print(table_head(["together", *models, "torch / float32", "torch / int8"]))
    for batch in (1, 8, 16, 32, 64):
        times = measurement.seconds(models, batch=batch)
        ratios = [f"{times['torch'] / times[name]:.1f}" for name in ("float32", "int8")]
        print(table_row([str(batch), *(f"{1e3 * s:.1f}" for s in times.values()), *ratios]))


def growth(measurement: Measurement) -> None:
    """Time int8 against source length, beam and batch."""
    run, network = network_of("read_again_lstm_copy_15k")
    model = {"int8": ForVocabulary(measurement.exported(run, network)["int8"], run.vocab_size)}
    for title, option, values in (
        ("words of the source", "words", (8, 15, 31, 60, 120)),
        ("beam", "beam", (1, 2, 5, 10, 20)),
        ("sentences together", "batch", (1, 2, 4, 8, 16, 32, 64)),
    ):
        print(f"\n## Growth with {title}, int8: ms per sentence\n")
        print(table_head([title, *map(str, values)]))
        cells = []
        for value in values:
            changed = {"batch": 16, option: value}
            cells.append(f"{1e3 * measurement.seconds(model, **changed)['int8']:.1f}")
        print(table_row(["ms", *cells]))


def table_head(cells: Sequence[str]) -> str:
    """Write the first two lines of a Markdown table."""
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def table_row(cells: Sequence[str]) -> str:
    """Write a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def machine() -> str:
    """Name what was measured on."""
    processor = platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, ONNX Runtime {onnxruntime.__version__}, "
        f"torch {torch.__version__}"
    )


PARTS = {"table4": table4, "torch": against_torch, "growth": growth}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--words", type=int, default=31, help="words of a source")
    parser.add_argument("--summary-words", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{machine()}; {arguments.threads} threads")
    for name in arguments.parts or PARTS:
        PARTS[name](Measurement(arguments))


if __name__ == "__main__":
    main()
