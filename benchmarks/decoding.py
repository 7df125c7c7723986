"""Decoding time per sentence of exported graphs, by model, machine and settings.

Weights are random, since they do not affect the speed. Summaries have a fixed number of words, so
every model runs the same number of steps. Models that are compared are timed in turns, so other
processes of the machine affect all of them equally. As in `Summarizer`, sentences are searched in
batches of 16, several batches in parallel (`search.batching.bucketed_batches`).

    python benchmarks/decoding.py                      # all comparisons but peers, two threads
    python benchmarks/decoding.py table4 --threads 1   # the paper's Table 4
    python benchmarks/decoding.py torch                # the same network in torch
    python benchmarks/decoding.py torch --threads 1 --clock processor   # on a busy machine
    python benchmarks/decoding.py shortlist            # presets with a shortlist
    python benchmarks/decoding.py baselines            # every baseline with its own beam size
    python benchmarks/decoding.py growth               # by source length, beam, batch, shortlist
    python benchmarks/decoding.py peak                 # share of the peak speed of int8 products
    python benchmarks/decoding.py shares               # time of encoder, decoder steps and search
    python benchmarks/decoding.py peers --repeat 2     # four other summarizers

"Shortlist of 4,000" marks graphs that were exported with `readagain export --shortlist 4000`: the
decoder scores only 4,000 words in each step instead of the whole vocabulary.

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
    PEER_BATCH_SIZES,
    VOCAB_SIZES_K,
    Measurement,
    OovModel,
    describe_batch,
    make_network,
    random_sources,
    table_head,
    table_row,
    time_in_turns,
)
from searching.shares import measure_shares

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

# Shapes (rows, inputs, outputs) of the matrix products that measure the peak speed of the machine:
# a large square product, and the output layer of a network.
PEAK_SHAPES = ((2048, 2048, 2048), (320, 512, 15_000))
SHORTLIST_SIZES = (8000, 4000, 2000, 1000)
PEER_TURNS = 2  # number of times that all peers are timed


def measure_table4(measurement: Measurement) -> None:
    """Print decoding time by size of the decoder vocabulary, with and without copying.

    The last rows are the same networks exported with a shortlist, if the vocabulary is larger than
    the shortlist.
    """
    for title, preset in (("generating", "read_again_lstm"), ("copying", "read_again_lstm_copy")):
        print(f"\n## Table 4, {title}: ms per sentence, beam {measurement.beam_size}\n")
        models: dict[str, dict[str, OovModel]] = {}  # by row, then by vocabulary size
        for size in VOCAB_SIZES_K:
            run, network = make_network(f"{preset}_{size}k")
            graphs = measurement.export(run, network)
            shortlist_graph = graphs["int8"]
            if run.vocab_size > measurement.shortlist_size:
                shortlist_graph = measurement.export_with_shortlist(run, network)
            graphs = {**graphs, f"int8, {measurement.shortlist_title}": shortlist_graph}
            for name, model in graphs.items():
                models.setdefault(name, {})[f"{size}K"] = OovModel(model, run.vocab_size)
        print(table_head(["", *(f"{size}K" for size in VOCAB_SIZES_K), "69K / 2K"]))
        for name, models_by_size in models.items():
            for batch_size in (1, 16):
                times = list(measurement.seconds(models_by_size, batch_size=batch_size).values())
                cells = [f"{1e3 * seconds:.1f}" for seconds in times]
                title = f"{name}, {describe_batch(batch_size)}"
                print(table_row([title, *cells, f"{times[-1] / times[0]:.2f}"]))


def compare_with_torch(measurement: Measurement) -> None:
    """Print the time of a network in torch and as graphs, with all words and with a shortlist."""
    run, network = make_network("read_again_lstm_copy_15k")
    torch.set_num_threads(measurement.threads)
    shortlist_network = build_model(measurement.with_shortlist(run))
    shortlist_network.load_state_dict(network.state_dict())
    graph, shortlist_graph = "int8", f"int8, {measurement.shortlist_title}"
    in_torch, shortlist_in_torch = "torch", f"torch, {measurement.shortlist_title}"
    models = {
        in_torch: TorchStepModel(network),
        **measurement.export(run, network),
        shortlist_in_torch: TorchStepModel(shortlist_network.eval()),
        shortlist_graph: measurement.export_with_shortlist(run, network),
    }
    models = {name: OovModel(model, run.vocab_size) for name, model in models.items()}
    ratios = [
        (in_torch, graph),
        (in_torch, shortlist_graph),
        (shortlist_in_torch, shortlist_graph),
    ]
    print(f"\n## The same network in torch, {run.title}: ms per sentence\n")
    print(table_head(["together", *models, *(f"{slow} / {fast}" for slow, fast in ratios)]))
    for batch_size in (1, 8, 16, 32, 64):
        times = measurement.seconds(models, batch_size=batch_size)
        time_cells = [f"{1e3 * seconds:.1f}" for seconds in times.values()]
        ratio_cells = [f"{times[slow] / times[fast]:.1f}" for slow, fast in ratios]
        print(table_row([str(batch_size), *time_cells, *ratio_cells]))


def measure_shortlists(measurement: Measurement) -> None:
    """Print the time of presets with a large vocabulary, with all words and with a shortlist."""
    all_words, shortlist = "all words", "a shortlist"
    for preset in ("lvt2k_1sent", "lvt5k_1sent"):
        models = {}
        for name, changes in ((all_words, {"model.shortlist_size": 0}), (shortlist, {})):
            run, network = make_network(preset, **changes)
            for precision, model in measurement.export(run, network).items():
                models[f"{precision}, {name}"] = OovModel(model, run.vocab_size)
        print(f"\n## {run.title}, {run.vocab_size:,} words: ms per sentence\n")
        print(table_head(["", all_words, shortlist, "times as fast"]))
        for batch_size in (1, 16):
            times = measurement.seconds(models, batch_size=batch_size)
            for precision in PRECISIONS:
                slow, fast = times[f"{precision}, {all_words}"], times[f"{precision}, {shortlist}"]
                cells = [f"{1e3 * slow:.1f}", f"{1e3 * fast:.1f}", f"{slow / fast:.1f}"]
                print(table_row([f"{precision}, {describe_batch(batch_size)}", *cells]))


def measure_growth(measurement: Measurement) -> None:
    """Print the time of int8 graphs by source length, beam size, batch size and shortlist size."""
    run, network = make_network("read_again_lstm_copy_15k")
    model = OovModel(measurement.export(run, network, ["int8"])["int8"], run.vocab_size)
    for title, option, values in (
        ("words of the source", "source_words", (8, 15, 31, 60, 120)),
        ("beam", "beam_size", (1, 2, 5, 10, 20)),
        ("sentences together", "batch_size", (1, 2, 4, 8, 16, 32, 64)),
    ):
        print(f"\n## Growth with {title}, int8: ms per sentence\n")
        print(table_head([title, *map(str, values)]))
        cells = []
        for value in values:
            options = {"batch_size": 16, option: value}
            [seconds] = measurement.seconds({"int8": model}, **options).values()
            cells.append(f"{1e3 * seconds:.1f}")
        print(table_row(["ms", *cells]))
    models = {"all": model}
    for size in SHORTLIST_SIZES:
        shortlist_run = override(run, {"model.shortlist_size": size})
        graphs = measurement.export(shortlist_run, network, ["int8"])
        models[f"{size:,}"] = OovModel(graphs["int8"], run.vocab_size)
    print("\n## Growth with the shortlist size, int8: best ms per sentence\n")
    print(table_head(["words scored", *models]))
    for batch_size in (1, 16):
        times = measurement.seconds(models, batch_size=batch_size, aggregate=min)
        cells = [f"{1e3 * seconds:.1f}" for seconds in times.values()]
        print(table_row([describe_batch(batch_size), *cells]))


def compare_with_peak(measurement: Measurement) -> None:
    """Print the speed of a search as a share of the machine's peak speed of int8 products.

    The speed is the number of operations of the int8 products with weights, divided by the time of
    the whole search.
    """
    run, network = make_network("read_again_lstm_copy_15k")
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, weights, ["int8"])["int8"]
    model = OovModel(OnnxStepModel.open(*graphs, threads=measurement.threads), run.vocab_size)
    peak = max(measure_product_speed(*shape, measurement) for shape in PEAK_SHAPES)
    print(f"\n## Fraction of the peak, {peak / 1e9:.0f} GOP/s of int8 products\n")
    print(table_head(["together", "ms per sentence", "GOP per sentence", "GOP/s", "of the peak"]))
    for batch_size in (1, 16, 32):
        total = count_operations(graphs, run.vocab_size, batch_size, measurement)
        operations = total / batch_size
        seconds = measurement.seconds({"": model}, batch_size=batch_size, aggregate=min)[""]
        speed = operations / seconds
        cells = [f"{1e3 * seconds:.1f}", f"{operations / 1e9:.2f}", f"{speed / 1e9:.0f}"]
        print(table_row([str(batch_size), *cells, f"{speed / peak:.0%}"]))


def measure_product_speed(rows: int, inputs: int, outputs: int, measurement: Measurement) -> float:
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
    [times] = time_in_turns(
        {"": lambda: session.run(None, {"values": values})}, 10 * measurement.repeat
    ).values()
    return 2 * rows * inputs * outputs / min(times)


def count_operations(
    graphs: Sequence[bytes], vocab_size: int, batch_size: int, measurement: Measurement
) -> int:
    """Count the operations of all int8 products of a search with ONNX Runtime's profiler."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = f"{folder}/profile"
        sessions = [onnxruntime.InferenceSession(graph, options) for graph in graphs]
        model = OovModel(OnnxStepModel(*sessions), vocab_size)
        measurement.search(model, random_sources(batch_size, measurement.source_words))
        events = [
            event["args"]
            for session in sessions
            for event in json.loads(Path(session.end_profiling()).read_text())
            if event["name"].endswith("_kernel_time")
        ]
    products = [event for event in events if event["op_name"] == "MatMulIntegerToFloat"]
    total = 0
    for product in products:
        (input_shape,) = product["input_type_shape"][0].values()  # (…, inputs)
        (output_shape,) = product["output_type_shape"][0].values()  # (…, outputs)
        total += 2 * math.prod(input_shape) * output_shape[-1]
    return total


def compare_with_peers(measurement: Measurement) -> None:
    """Print the best time of our int8 graphs and of other summarizers, timed in turns."""
    run, network = make_network("read_again_lstm_copy_15k")
    source_words, summary_words = measurement.source_words, measurement.summary_words
    shortlist_title = measurement.shortlist_title
    graphs = {
        "512 wide, 15K": measurement.export(run, network, ["int8"])["int8"],
        f"512 wide, 15K, {shortlist_title}": measurement.export_with_shortlist(run, network),
    }
    our_models = {name: OovModel(model, run.vocab_size) for name, model in graphs.items()}
    our_models["`news`"] = open_bundled("news", measurement.threads)
    our_models[f"`news`, {shortlist_title}"] = export_bundled_with_shortlist("news", measurement)
    # Functions that return the seconds per sentence by batch size.
    timers = {
        f"ours, {name}": partial(measurement.best_seconds_by_batch_size, model)
        for name, model in our_models.items()
    }
    our_names, peer_names = list(timers), list(PEERS)
    settings = {
        "beam": measurement.beam_size,
        "threads": measurement.threads,
        "repeat": measurement.repeat,
        "clock": measurement.clock,
    }
    lengths_in_words = {"source-tokens": source_words, "summary-tokens": summary_words}
    lengths_in_subwords = {
        name: round(measurement.subwords_per_word * length)
        for name, length in lengths_in_words.items()
    }
    for name, peer in PEERS.items():
        lengths = lengths_in_words if peer.reads_words else lengths_in_subwords
        timers[name] = partial(peer.time, settings | lengths, PEER_BATCH_SIZES)
    best: dict[str, dict[int, float]] = {name: {} for name in timers}
    for _ in range(PEER_TURNS):
        for name, time_once in timers.items():
            for batch_size, seconds in time_once().items():
                best[name][batch_size] = min(seconds, best[name].get(batch_size, seconds))
    source_tokens, summary_tokens = lengths_in_subwords.values()
    print(
        f"\n## Other summarizers: ms per sentence; ours {source_words} to {summary_words} words, "
        f"theirs {source_tokens} to {summary_tokens} tokens, or as many words\n"
    )
    header = table_head(["", *(f"{batch_size} together" for batch_size in PEER_BATCH_SIZES)])
    print(header)
    for name, times in best.items():
        cells = [f"{1e3 * times[batch_size]:.1f}" for batch_size in PEER_BATCH_SIZES]
        print(table_row([name, *cells]))
    for our_name in our_names:
        print(f"\nTimes as fast as the others, {our_name}:\n")
        print(header)
        for name in peer_names:
            ratios = [
                best[name][batch_size] / best[our_name][batch_size]
                for batch_size in PEER_BATCH_SIZES
            ]
            print(table_row([name, *(f"{ratio:.1f}" for ratio in ratios)]))


def open_bundled(name: str, threads: int) -> OovModel:
    """Open a bundled model for sources of random words."""
    model_dir = ModelDir.open(find_model(name))
    encoder, step = (
        read_graph(model_dir.path / graph, model_dir.manifest.files[graph])
        for graph in graph_names("int8")
    )
    return OovModel(OnnxStepModel.open(encoder, step, threads=threads), len(model_dir.vocab))


def export_bundled_with_shortlist(name: str, measurement: Measurement) -> OovModel:
    """Export a bundled model again with a shortlist; the weights are read from its graphs."""
    model_dir = ModelDir.open(find_model(name))
    network = build_model(model_dir.run)
    shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    weights = recover_weights(model_dir.path, model_dir.run, shapes)
    graphs = build_graphs(measurement.with_shortlist(model_dir.run), weights, ["int8"])["int8"]
    model = OnnxStepModel.open(*graphs, threads=measurement.threads)
    return OovModel(model, len(model_dir.vocab))


def describe_machine() -> str:
    """Return the processor, its load and the library versions."""
    processor = platform.processor() or platform.machine()
    return (
        f"{processor}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, ONNX Runtime {onnxruntime.__version__}, "
        f"torch {torch.__version__}"
    )


COMPARISONS = {
    "table4": measure_table4,
    "torch": compare_with_torch,
    "shortlist": measure_shortlists,
    "baselines": time_baselines,
    "growth": measure_growth,
    "peak": compare_with_peak,
    "shares": measure_shares,
    "peers": compare_with_peers,
}
DEFAULT_COMPARISONS = [name for name in COMPARISONS if name != "peers"]


def main() -> None:
    """Run the comparisons named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "comparisons", nargs="*", choices=[*COMPARISONS, []], metavar="COMPARISON", default=[]
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=10)
    parser.add_argument("--words", type=int, default=31, help="words of a source")
    parser.add_argument("--summary-words", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--shortlist", type=int, default=4000, help="number of words")
    parser.add_argument(
        "--pieces-per-word",
        type=float,
        default=1.3,
        help="subword tokens of peers for each word: 40 for 31 words, 13 for 10 words",
    )
    arguments = parser.parse_args()
    print(f"{describe_machine()}; {arguments.threads} threads, {arguments.clock} time")
    for name in arguments.comparisons or DEFAULT_COMPARISONS:
        COMPARISONS[name](Measurement(arguments))


if __name__ == "__main__":
    main()
