"""Speed and accuracy of screening: coarse scores of all words, exact scores of the best.

Shim and others 2017 (SVD-softmax) rotate the output matrix so that its first dimensions separate
most words: all words are scored with these first, and the best are then scored exactly. Here the
most frequent words are always scored exactly, and the rarer ones are screened. The engine
does not do this: docs/decisions/0240-shortlists.md gives the reasons.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
from searching.measurement import Measurement, in_turns, table_head, table_row

from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.speed import SENTENCES
from readagain.engine.summarizer import Summarizer
from readagain.export.candidates import FIRST_WORD
from readagain.export.graph_builder import Array, GraphBuilder
from readagain.export.int8_graph import ACTIVATION_STEPS, WEIGHT_STEPS, ZERO_POINT, Int8GraphBuilder
from readagain.export.recover import recover_weights
from readagain.model_dir import ModelDir, graph_names
from readagain.networks.build import build_model
from readagain.storage.bundled import find_model

MODEL = "news"
BEST = 10  # words that a beam of 10 needs of each row
MOST_STATES = 1000
# Words scored whole, dimensions of the preview, words that are then scored whole as well.
AGREEMENT = [
    (whole, width, chosen)
    for whole in (0, 2000, 4000)
    for width in (64, 96, 128)
    for chosen in (32, 128)
]
# Words, of these scored whole; 512 wide, as the paper's models are.
SPEED = [(15_000, 0), (15_000, 4_000), (69_000, 0), (69_000, 8_000)]
WIDTH, PREVIEW, CHOSEN = 512, 128, 32


def screen(measurement: Measurement) -> None:
    """Print which words screening would miss, and the time it would save."""
    print(f"\n## Screening words of `{MODEL}`: the exact best {BEST} among what is scored whole\n")
    agree(*states_and_output())
    print("\n## The end of a step, scores to best words, 512 wide: ms\n")
    print(table_head(["words", "whole", "rows", "all whole", "screened", "times as fast"]))
    for num_words, num_whole in SPEED:
        for rows in (10, 160):
            times = end_of_step(measurement, num_words, num_whole, rows)
            cells = [f"{1e3 * each:.2f}" for each in times.values()]
            ratio = f"{times['all whole'] / times['screened']:.2f}"
            print(table_row([f"{num_words:,}", f"{num_whole:,}", str(rows), *cells, ratio]))


def states_and_output() -> tuple[Array, Array, Array]:
    """Return decoder states of a search over invented sentences, and the output's weights."""
    model_dir = ModelDir.open(find_model(MODEL))
    network = build_model(model_dir.run)
    shapes = {name: tuple(each.shape) for name, each in network.state_dict().items()}
    weights = recover_weights(model_dir.path, model_dir.run, shapes)
    encoder, step = ((model_dir.path / name).read_bytes() for name in graph_names("int8"))
    model = Recording(OnnxStepModel.open(encoder, step, threads=1))
    Summarizer(model_dir.run, model_dir.source_vocab, model_dir.vocab, model).summarize(SENTENCES)
    states = np.concatenate(model.states)
    picked = np.random.default_rng(0).permutation(len(states))[:MOST_STATES]
    rows, biases = (weights[f"output.project.{name}"][FIRST_WORD:] for name in ("weight", "bias"))
    return states[picked], rows, biases


class Recording:
    """Model that records its decoder states."""

    def __init__(self, model: OnnxStepModel) -> None:
        self._model = model
        self.start, self.select = model.start, model.select
        self.states: list[Array] = []

    def step(self, state: Any, previous_ids: Array, k: int) -> Any:
        """Run a step and record the new states."""
        candidates, state = self._model.step(state, previous_ids, k)
        self.states.append(state.decoder["hidden"])
        return candidates, state


def agree(states: Array, rows: Array, biases: Array) -> None:
    """Print how often screening keeps the best words, and how far it is off in log Z."""
    exact = states @ rows.T + biases  # (R, V)
    best = np.argsort(-exact, axis=1)[:, :BEST]
    log_total = log_sum_exp(exact)
    print(
        table_head(["whole", "dimensions", "chosen", "of the best", "log Z", "off at most in 99%"])
    )
    codes, scales = Int8GraphBuilder.quantize_columns(rows.T)
    steps = np.rint(states * ACTIVATION_STEPS) / ACTIVATION_STEPS
    in_bytes = steps @ (codes * scales) + biases
    off = log_sum_exp(in_bytes) - log_total
    found = np.argsort(-in_bytes, axis=1)[:, :BEST]
    kept = np.mean([len(set(a) & set(b)) / BEST for a, b in zip(found, best, strict=True)])
    # The weights come from bytes already; weights that were not would lose more.
    print(table_row(["all, states in int8", "", "", *agreement_cells(float(kept), off)]))
    for whole, width, chosen in AGREEMENT:
        screening = Screening.of(rows[whole:], width)
        preview = screening.preview(states, biases[whole:])
        at = whole + np.argpartition(-preview, chosen, axis=1)[:, :chosen]
        is_whole = np.zeros(exact.shape, dtype=np.bool_)
        is_whole[:, :whole] = True
        np.put_along_axis(is_whole, at, True, axis=1)
        scores = exact.copy()
        scores[:, whole:] = np.where(is_whole[:, whole:], exact[:, whole:], preview)
        off = log_sum_exp(scores) - log_total
        kept = np.take_along_axis(is_whole, best, axis=1).mean()
        cells = agreement_cells(float(kept), off)
        print(table_row([f"{whole:,}", str(width), str(chosen), *cells]))


def agreement_cells(kept: float, off: Array) -> list[str]:
    """Write a share of words, and the mean, deviation and 99% of differences."""
    return [
        f"{kept:.2%}",
        f"{off.mean():+.3f} ± {off.std():.3f}",
        f"{np.quantile(np.abs(off), 0.99):.3f}",
    ]


@dataclass(frozen=True)
class Screening:
    """First dimensions of words after a rotation.

    Args:
        mean: (H,) mean of all words, which is kept exactly.
        turn: (H, W) rotation of a state to these dimensions.
        words: (V, W) words in these dimensions.
    """

    mean: Array
    turn: Array
    words: Array

    @classmethod
    def of(cls, rows: Array, width: int) -> "Screening":
        """Find the `width` dimensions in which (V, H) words differ most."""
        mean = rows.mean(axis=0)
        _, _, directions = np.linalg.svd(rows - mean, full_matrices=False)
        turn = directions[:width].T
        return cls(mean, turn, (rows - mean) @ turn)

    def preview(self, states: Array, biases: Array) -> Array:
        """Score words coarsely: (R, H) -> (R, V)."""
        scores: Array = states @ self.turn @ self.words.T + (states @ self.mean)[:, None] + biases
        return scores


def log_sum_exp(scores: Array) -> Array:
    """Return the log of the sum of exp of each row: (R, V) -> (R,)."""
    largest = scores.max(axis=1)
    total: Array = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
    return total


def end_of_step(
    measurement: Measurement, num_words: int, num_whole: int, rows: int
) -> dict[str, float]:
    """Time scoring (rows, 512) states and choosing their best words, both ways, in turns."""
    random = np.random.default_rng(0)
    weight = random.normal(size=(WIDTH, num_words)).astype(np.float32)
    states = np.tanh(random.normal(size=(rows, WIDTH))).astype(np.float32)
    works = {}
    for name, graph in (
        ("all whole", whole_graph(weight)),
        ("screened", screened_graph(weight, num_whole)),
    ):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = measurement.threads
        options.enable_mem_pattern = False
        content = graph.model().SerializeToString()
        session = onnxruntime.InferenceSession(content, options)
        works[name] = lambda session=session: session.run(None, {"states": states})
    taken = in_turns(works, 4 * measurement.repeat)
    return {name: min(times) for name, times in taken.items()}


def whole_graph(weight: Array) -> GraphBuilder:
    """Score every word from all dimensions, as the engine does."""
    graph = Int8GraphBuilder("whole")
    states = graph.input("states", np.float32, ["R", WIDTH])
    best, positions, total = best_words(graph, states, weight, BEST, bound=1.0)
    return closed(graph, best, positions, total)


def screened_graph(weight: Array, num_whole: int) -> GraphBuilder:
    """Score the first words whole, preview the others, and score the best of those whole."""
    graph = Int8GraphBuilder("screened")
    states = graph.input("states", np.float32, ["R", WIDTH])
    rare = weight[:, num_whole:]
    turn = np.linalg.qr(rare[:, :WIDTH])[0][:, :PREVIEW]
    bound = float(np.abs(turn).sum(axis=0).max())  # of a state within ±1, turned
    turned = graph.linear(states, turn, bound=1.0)
    _, at, total = best_words(graph, turned, turn.T @ rare, CHOSEN, bound=bound)

    codes, scales = Int8GraphBuilder.quantize_columns(rare)
    table = graph.constant((codes.T.astype(np.int16) + ZERO_POINT).astype(np.uint8))
    rows = graph.add("Gather", table, at)  # (R, N, H)
    step = graph.constant(np.float32(1 / WEIGHT_STEPS))
    column = graph.add("QuantizeLinear", states, step, graph.constant(np.int8(0)))
    zero_point = graph.constant(np.uint8(ZERO_POINT))
    sums = graph.add("MatMulInteger", rows, graph.unsqueeze(column, 2), zero_point)
    sums = graph.cast(graph.add("Squeeze", sums, graph.ints(2)), np.float32)
    scores = graph.add("Mul", sums, graph.add("Gather", graph.constant(scales / WEIGHT_STEPS), at))
    totals = [total, scores]
    if num_whole:
        best, positions, of_whole = best_words(
            graph, states, weight[:, :num_whole], BEST, bound=1.0
        )
        totals.append(of_whole)
        scores = graph.add("Concat", best, scores, axis=1)
        at = graph.add("Concat", positions, graph.add("Add", at, graph.ints(num_whole)), axis=1)
    total = graph.add("ReduceLogSumExp", graph.add("Concat", *totals, axis=1), graph.ints(1))
    best, positions = graph.add_multi("TopK", scores, graph.ints(BEST), num_outputs=2, axis=1)
    return closed(graph, best, graph.add("GatherElements", at, positions, axis=1), total)


def best_words(
    graph: GraphBuilder, rows: str, weight: Array, count: int, *, bound: float
) -> tuple[str, str, str]:
    """Multiply, and keep the best: their scores, their positions, and the log of the sum of exp."""
    bias = np.zeros(weight.shape[1], np.float32)
    logits = graph.linear(rows, weight, bias, bound=bound)
    best, positions = graph.add_multi("TopK", logits, graph.ints(count), num_outputs=2, axis=1)
    first, of_first = (
        graph.add("Slice", each, graph.ints(0), graph.ints(1), graph.ints(1))
        for each in (positions, best)
    )
    share = graph.add("GatherElements", graph.add("Softmax", logits, axis=1), first, axis=1)
    return best, positions, graph.add("Sub", of_first, graph.add("Log", share))


def closed(graph: GraphBuilder, best: str, positions: str, total: str) -> GraphBuilder:
    """Add the outputs of the graph."""
    graph.output(best, "best", np.float32, ["R", BEST])
    graph.output(positions, "positions", np.int64, ["R", BEST])
    graph.output(total, "total", np.float32, ["R", 1])
    return graph
