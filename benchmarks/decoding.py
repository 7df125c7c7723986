"""Seconds per sentence of beam search with exported graphs, and what they depend on.

Weights are random, since they do not affect the speed. Summaries have a fixed number of words,
so that every model runs the same number of steps. Models that are compared are timed in turns,
so that other processes of the machine affect all of them equally. Several sentences are searched
in batches of 16, in parallel with several threads, as `Summarizer` does
(`search.batching.bucketed_batches`).

    python benchmarks/decoding.py                      # all parts but peers, two threads
    python benchmarks/decoding.py table4 --threads 1   # the paper's Table 4
    python benchmarks/decoding.py torch                # against the same network in torch
    python benchmarks/decoding.py torch --threads 1 --clock processor   # on a busy machine
    python benchmarks/decoding.py shortlist            # presets with a shortlist
    python benchmarks/decoding.py baselines            # every baseline, as its preset decodes
    python benchmarks/decoding.py growth               # source length, beam, batch, shortlist
    python benchmarks/decoding.py peak                 # fraction of the peak of int8 products
    python benchmarks/decoding.py shares               # time of encoder, decoder steps and search
    python benchmarks/decoding.py peers --repeat 2     # against four other summarizers

Networks that score all words are compared with the same networks exported by
`readagain export --shortlist` (default here: 4000).

`peers` runs only if it is named, since it installs the other summarizers under build/. Each runs
in its own process, and the result is the best time.
"""

import argparse
import json
import math
import os
import platform
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from peers.environments import PEERS
from searching.baselines import time_baselines
from searching.measurement import (
    CLOCKS,
    SIZES,
    TOGETHER,
    ForVocabulary,
    Measurement,
    in_turns,
    network_of,
    random_sources,
    table_head,
    table_row,
)
from searching.shares import show_shares

from readagain.config.override import override
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.sessions import open_session, read_graph
from readagain.export.graph_builder import OPSET
from readagain.export.recover import recover_weights
from readagain.export.write import build_graphs
from readagain.model_dir import PRECISIONS, ModelDir, graph_names
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.storage.bundled import find_model

# (rows, inputs, outputs) of matrix products that measure the peak; the second is an output layer.
PEAK_SHAPES = ((2048, 2048, 2048), (320, 512, 15_000))
SHORTLISTS = (8000, 4000, 2000, 1000)
TURNS = 2  # number of times that all peers are timed


def table4(measurement: Measurement) -> None:
    """Print decoding time by size of the decoder vocabulary, with and without copying.

    The last rows are the same networks exported with a shortlist, if the vocabulary is larger than
    the shortlist.
    """
    for title, preset in (("generating", "read_again_lstm"), ("copying", "read_again_lstm_copy")):
        print(f"\n## Table 4, {title}: ms per sentence, beam {measurement.beam}\n")
        models: dict[str, dict[str, ForVocabulary]] = {}  # by row, then by vocabulary
        for size in SIZES:
            run, network = network_of(f"{preset}_{size}k")
            graphs = measurement.exported(run, network)
            if run.vocab_size > measurement.shortlist:
                short = measurement.exported(measurement.shortened(run), network, ["int8"])
            else:
                short = graphs
            for name, model in {**graphs, f"int8, {measurement.listed}": short["int8"]}.items():
                models.setdefault(name, {})[f"{size}K"] = ForVocabulary(model, run.vocab_size)
        print(table_head(["", *(f"{size}K" for size in SIZES), "69K / 2K"]))
        for name, by_size in models.items():
            for batch in (1, 16):
                times = list(measurement.seconds(by_size, batch=batch).values())
                cells = [f"{1e3 * seconds:.1f}" for seconds in times]
                together = "alone" if batch == 1 else f"{batch} together"
                print(table_row([f"{name}, {together}", *cells, f"{times[-1] / times[0]:.2f}"]))


def against_torch(measurement: Measurement) -> None:
    """Print the time of a network in torch and as graphs, with all words and with a shortlist."""
    run, network = network_of("read_again_lstm_copy_15k")
    short = measurement.shortened(run)
    torch.set_num_threads(measurement.threads)
    listing = build_model(short)
    listing.load_state_dict(network.state_dict())
    ours, listed = "int8", f"int8, {measurement.listed}"
    theirs, theirs_listed = "torch", f"torch, {measurement.listed}"
    models = {
        theirs: TorchStepModel(network),
        **measurement.exported(run, network),
        theirs_listed: TorchStepModel(listing.eval()),
        listed: measurement.exported(short, network, ["int8"])["int8"],
    }
    models = {name: ForVocabulary(model, run.vocab_size) for name, model in models.items()}
    compared = [(theirs, ours), (theirs, listed), (theirs_listed, listed)]
    print(f"\n## The same network in torch, {run.title}: ms per sentence\n")
    print(table_head(["together", *models, *(f"{one} / {other}" for one, other in compared)]))
    for batch in (1, 8, 16, 32, 64):
        times = measurement.seconds(models, batch=batch)
        ratios = [f"{times[one] / times[other]:.1f}" for one, other in compared]
        print(table_row([str(batch), *(f"{1e3 * s:.1f}" for s in times.values()), *ratios]))


def shortlists(measurement: Measurement) -> None:
    """Print the time of presets with a large vocabulary, with all words and with a shortlist."""
    for preset in ("lvt2k_1sent", "lvt5k_1sent"):
        models = {}
        for name, changes in (("all words", {"model.shortlist_size": 0}), ("a shortlist", {})):
            run, network = network_of(preset, **changes)
            for precision, model in measurement.exported(run, network).items():
                models[f"{precision}, {name}"] = ForVocabulary(model, run.vocab_size)
        print(f"\n## {run.title}, {run.vocab_size:,} words: ms per sentence\n")
        print(table_head(["", "all words", "a shortlist", "times as fast"]))
        for batch in (1, 16):
            times = measurement.seconds(models, batch=batch)
            for precision in PRECISIONS:
                slow, fast = (times[f"{precision}, {n}"] for n in ("all words", "a shortlist"))
                name = f"{precision}, {'alone' if batch == 1 else f'{batch} together'}"
                cells = [f"{1e3 * slow:.1f}", f"{1e3 * fast:.1f}", f"{slow / fast:.1f}"]
                print(table_row([name, *cells]))


def growth(measurement: Measurement) -> None:
    """Print the time of int8 graphs by source length, beam size, batch size and shortlist size."""
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
    models = {"all": model["int8"]}
    for size in SHORTLISTS:
        short = override(run, {"model.shortlist_size": size})
        graphs = measurement.exported(short, network, ["int8"])
        models[f"{size:,}"] = ForVocabulary(graphs["int8"], run.vocab_size)
    print("\n## Growth with the shortlist size, int8: best ms per sentence\n")
    print(table_head(["words scored", *models]))
    for batch in (1, 16):
        times = measurement.seconds(models, batch=batch, pick=min)
        name = "alone" if batch == 1 else f"{batch} together"
        print(table_row([name, *(f"{1e3 * seconds:.1f}" for seconds in times.values())]))


def against_peak(measurement: Measurement) -> None:
    """Print which share of the machine's peak of int8 products the search reaches.

    Operations are those of int8 products with weights; the time is that of the whole search.
    """
    run, network = network_of("read_again_lstm_copy_15k")
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["int8"])["int8"]
    model = ForVocabulary(OnnxStepModel.open(*graphs, threads=measurement.threads), run.vocab_size)
    peak = max(product_speed(*shape, measurement) for shape in PEAK_SHAPES)
    print(f"\n## Fraction of the peak, {peak / 1e9:.0f} GOP/s of int8 products\n")
    print(table_head(["together", "ms per sentence", "GOP per sentence", "GOP/s", "of the peak"]))
    for batch in (1, 16, 32):
        operations = count_operations(graphs, run.vocab_size, batch, measurement) / batch
        seconds = measurement.seconds({"": model}, batch=batch, pick=min)[""]
        speed = operations / seconds
        cells = [f"{1e3 * seconds:.1f}", f"{operations / 1e9:.2f}", f"{speed / 1e9:.0f}"]
        print(table_row([str(batch), *cells, f"{speed / peak:.0%}"]))


def product_speed(rows: int, inputs: int, outputs: int, measurement: Measurement) -> float:
    """Return the operations per second of a large int8 matrix product, the best of several runs."""
    random = np.random.default_rng(0)
    weight = random.integers(-127, 128, (inputs, outputs), dtype=np.int8)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["values", "weight"], ["product"])],
        "product",
        [helper.make_tensor_value_info("values", TensorProto.UINT8, [rows, inputs])],
        [helper.make_tensor_value_info("product", TensorProto.INT32, [rows, outputs])],
        [numpy_helper.from_array(weight, "weight")],
    )
    opset = helper.make_opsetid("", OPSET)
    content = helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    session = open_session(
        content, threads=measurement.threads, inputs=["values"], outputs=["product"]
    )
    values = random.integers(0, 256, (rows, inputs), dtype=np.uint8)
    taken = in_turns({"": lambda: session.run(None, {"values": values})}, 10 * measurement.repeat)
    return 2 * rows * inputs * outputs / min(taken[""])


def count_operations(
    graphs: Sequence[bytes], vocab_size: int, batch: int, measurement: Measurement
) -> int:
    """Return the number of operations of all int8 products of a search, from a profile."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = f"{folder}/profile"
        sessions = [onnxruntime.InferenceSession(graph, options) for graph in graphs]
        model = ForVocabulary(OnnxStepModel(*sessions), vocab_size)
        measurement.search(model, random_sources(batch, measurement.words))
        events = [
            event["args"]
            for session in sessions
            for event in json.loads(Path(session.end_profiling()).read_text())
            if event["name"].endswith("_kernel_time")
        ]
    products = [event for event in events if event["op_name"] == "MatMulIntegerToFloat"]
    total = 0
    for product in products:
        (values,) = product["input_type_shape"][0].values()  # (…, inputs)
        (outputs,) = product["output_type_shape"][0].values()  # (…, outputs)
        total += 2 * math.prod(values) * outputs[-1]
    return total


def against_peers(measurement: Measurement) -> None:
    """Print the best time of our int8 graphs and of other summarizers, timed in turns."""
    run, network = network_of("read_again_lstm_copy_15k")
    words, summary_words = measurement.words, measurement.summary_words
    short, int8 = measurement.shortened(run), ["int8"]
    ours = {
        "512 wide, 15K": measurement.exported(run, network, int8)["int8"],
        f"512 wide, 15K, {measurement.listed}": measurement.exported(short, network, int8)["int8"],
    }
    ours = {name: ForVocabulary(model, run.vocab_size) for name, model in ours.items()}
    ours["`news`"] = bundled("news", measurement.threads)
    ours[f"`news`, {measurement.listed}"] = bundled_with_shortlist("news", measurement)
    works = {f"ours, {name}": measurement.timing_of(model) for name, model in ours.items()}
    settings = {
        "beam": measurement.beam,
        "threads": measurement.threads,
        "repeat": measurement.repeat,
        "clock": measurement.clock,
    }
    pieces = {
        "source-tokens": round(measurement.pieces_per_word * words),
        "summary-tokens": round(measurement.pieces_per_word * summary_words),
    }
    whole = {"source-tokens": words, "summary-tokens": summary_words}
    for name, peer in PEERS.items():
        tokens = whole if peer.reads_words else pieces
        works[name] = partial(peer.time, settings | tokens, TOGETHER)
    best: dict[str, dict[int, float]] = {name: {} for name in works}
    for _ in range(TURNS):
        for name, time_once in works.items():
            for number, seconds in time_once().items():
                best[name][number] = min(seconds, best[name].get(number, seconds))
    print(
        f"\n## Other summarizers: ms per sentence; ours {words} to {summary_words} words, "
        f"theirs {pieces['source-tokens']} to {pieces['summary-tokens']} tokens, or as many words\n"
    )
    print(table_head(["", *(f"{number} together" for number in TOGETHER)]))
    for name, seconds in best.items():
        print(table_row([name, *(f"{1e3 * seconds[number]:.1f}" for number in TOGETHER)]))
    for mine in list(best)[: len(ours)]:
        print(f"\nTimes as fast as the others, {mine}:\n")
        print(table_head(["", *(f"{number} together" for number in TOGETHER)]))
        for name in list(best)[len(ours) :]:
            ratios = (best[name][number] / best[mine][number] for number in TOGETHER)
            print(table_row([name, *(f"{ratio:.1f}" for ratio in ratios)]))


def bundled(name: str, threads: int) -> ForVocabulary:
    """Open a bundled model for sources of random words."""
    folder = ModelDir.open(find_model(name))
    encoder, step = (
        read_graph(folder.path / graph, folder.manifest.files[graph])
        for graph in graph_names("int8")
    )
    return ForVocabulary(OnnxStepModel.open(encoder, step, threads=threads), len(folder.vocab))


def bundled_with_shortlist(name: str, measurement: Measurement) -> ForVocabulary:
    """Export a bundled model with a shortlist, from the weights of its graphs."""
    folder = ModelDir.open(find_model(name))
    network = build_model(folder.run)
    shapes = {name: tuple(each.shape) for name, each in network.state_dict().items()}
    weights = recover_weights(folder.path, folder.run, shapes)
    graphs = build_graphs(measurement.shortened(folder.run), weights, ["int8"])["int8"]
    model = OnnxStepModel.open(*graphs, threads=measurement.threads)
    return ForVocabulary(model, len(folder.vocab))


def machine() -> str:
    """Describe the machine and the library versions."""
    processor = platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, ONNX Runtime {onnxruntime.__version__}, "
        f"torch {torch.__version__}"
    )


PARTS = {
    "table4": table4,
    "torch": against_torch,
    "shortlist": shortlists,
    "baselines": time_baselines,
    "growth": growth,
    "peak": against_peak,
    "shares": show_shares,
    "peers": against_peers,
}
DEFAULT_PARTS = [name for name in PARTS if name != "peers"]


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--words", type=int, default=31, help="words of a source")
    parser.add_argument("--summary-words", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--shortlist", type=int, default=4000, help="size of the shortlist")
    parser.add_argument(
        "--pieces-per-word",
        type=float,
        default=1.3,
        help="subword tokens of peers per word: 40 for 31 words, 13 for 10",
    )
    arguments = parser.parse_args()
    print(f"{machine()}; {arguments.threads} threads, {arguments.clock} time")
    for name in arguments.parts or DEFAULT_PARTS:
        PARTS[name](Measurement(arguments))


if __name__ == "__main__":
    main()
