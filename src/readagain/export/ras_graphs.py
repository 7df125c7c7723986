"""RAS as graphs: the convolutional attentive encoder, and a step of its decoder."""

import numpy as np
from onnx import ModelProto

from readagain.config.schema import RasSpec, RunSpec
from readagain.export.graph import Graph
from readagain.export.inputs import Part
from readagain.export.places import Places, multiply_windows, numbers
from readagain.export.products import Products
from readagain.export.rival_step import RivalStep
from readagain.export.weights import Weights

ELMAN_BOUND = 1.0  # a state is a sigmoid; that of the LSTM is o m_t, which nothing bounds


def build_ras_encoder_graph(model: RasSpec, weights: Weights, products: Products) -> ModelProto:
    """Build the graph that reads sources.

    Inputs: `source_ids` (D, 1, S) and `lengths` (D, 1). Outputs: `states` (D, S, E) the words,
    `keys` (D, H, S) what attention compares, `hidden` (D, H) and, for the LSTM, `cell` (D, H).
    """
    graph, E, H = Graph("encoder"), model.embedding_size, model.hidden_size
    places = Places.of(graph)
    words = places.words(graph, products, weights)  # (D, S, E)
    table = graph.constant(weights.tensor("encoder.positions"), np.float32)
    last = graph.ints(model.num_positions - 1)
    place = graph.add("Min", numbers(graph, places.length), last)
    placed = graph.add("Add", words, graph.add("Gather", table, place))
    placed = graph.add("Mul", placed, places.valid)
    before = model.window // 2
    keys = multiply_windows(
        graph,
        products,
        placed,
        places.length,
        weights.of("encoder.filters"),
        before=before,
        after=model.window - 1 - before,
    )
    keys = graph.add("Transpose", places.by_document(graph, keys, H), perm=[0, 2, 1])
    graph.output(words, "states", np.float32, ["D", "S", E])
    graph.output(keys, "keys", np.float32, ["D", H, "S"])
    first = np.tanh(weights.tensor("decoder.first"))  # (1 or 2, H)
    shape = graph.joined(places.documents, H)
    for name, value in zip(_carried(model), first, strict=True):
        begun = graph.add("Expand", graph.constant(value[None]), shape)
        graph.output(begun, name, np.float32, ["D", H])
    return graph.model()


def build_ras_step_graph(
    run: RunSpec, model: RasSpec, weights: Weights, products: Products
) -> ModelProto:
    """Build the graph that takes one step; `RivalStep` says what goes in and out."""
    step = RivalStep(weights, products, vocab_size=run.vocab_size)
    graph, decoder = step.graph, weights.of("decoder")
    E, H = model.embedding_size, model.hidden_size
    carried = [graph.input(name, np.float32, ["R", H]) for name in _carried(model)]
    states = graph.input("states", np.float32, ["D", "S", E])
    keys = graph.input("keys", np.float32, ["D", H, "S"])

    bound = ELMAN_BOUND if model.cell == "elman" else None
    context, attention = step.attend(carried[0], keys, states, E)
    word = step.embed(step.previous_ids, "previous_words.embedding.weight")
    of_input = decoder.of("input")
    sums = products.multiply(
        graph, word, of_input.matrix("weight"), of_input.tensor("bias"), bound=None
    )
    for rows, name, rows_bound in (
        (context, "weight_context", None),
        (carried[0], "weight_hidden", bound),
    ):
        product = products.multiply(graph, rows, decoder.matrix(name), None, bound=rows_bound)
        sums = graph.add("Add", sums, product)
    if model.cell == "elman":
        following = [graph.add("Sigmoid", sums)]
    else:
        following = _lstm(graph, sums, carried[1], H)
    for name, value in zip(_carried(model), following, strict=True):
        graph.output(value, f"next_{name}", np.float32, ["R", H])
    return step.finish([Part(following[0], H, bound), Part(context, E, bound=None)], attention)


def _lstm(graph: Graph, sums: str, cell: str, hidden_size: int) -> list[str]:
    """Take one step of the paper's LSTM, whose state is o m_t: the (R, H) state and cell."""
    H = hidden_size
    admit, keep, candidate, show = graph.split(sums, H, H, H, H)
    kept = graph.add("Mul", graph.add("Sigmoid", keep), cell)
    admitted = graph.add("Mul", graph.add("Sigmoid", admit), graph.add("Tanh", candidate))
    cell = graph.add("Add", kept, admitted)
    return [graph.add("Mul", graph.add("Sigmoid", show), cell), cell]


def _carried(model: RasSpec) -> tuple[str, ...]:
    return ("hidden", "cell") if model.cell == "lstm" else ("hidden",)
